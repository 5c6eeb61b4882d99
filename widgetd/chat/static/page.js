/** Elements and requests, for every module of the page. */

export const $ = (id) => document.getElementById(id);

/** Returns an element made of `tag`, with these properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Returns a button that shows a sign; its class names the sign. */
export const sign = (className, ariaLabel, act) => {
  const button = make("button", { type: "button", className: `sign ${className}`, ariaLabel, title: ariaLabel });
  button.addEventListener("click", () => void act(button));
  return button;
};

/** Fetches like `fetch`; throws an error with the server's sentence if it refuses. */
export async function request(path, options) {
  const response = await fetch(path, options);
  if (response.ok) return response;
  const answer = await response.json().catch(() => ({}));
  const error = new Error(answer.error ?? `the server answered ${response.status}`);
  throw Object.assign(error, { answered: true });
}

/** Sends a request of ChatKit's protocol. */
export const ask = (type, params, { signal, metadata } = {}) =>
  request("/chatkit", { method: "POST", body: JSON.stringify({ type, params, metadata }), signal });

export const get = async (path) => (await request(path)).json();

export const askJson = async (type, params) => (await ask(type, params)).json();
