/** Behaviour of every page: copying, state in the address, the theme, keys. */

/** The root of pages that were built beforehand; undefined if a daemon serves them. */
const { built: base, clean } = document.documentElement.dataset;
export const isBuilt = base !== undefined;
/** Tells whether pages are for handing over: they show widgets without their sources. */
export const isClean = clean !== undefined;

/** Returns the address of `path` in the gallery. */
export const at = (path) => (isBuilt ? base + path.slice(1) : path);

const systemDark = matchMedia("(prefers-color-scheme: dark)");

/** Returns `element` made of `tag`, with these properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child != null));
  return element;
}

/** Writes `name` into the address, unless its value is the default. */
export function remember(name, value, usual = "") {
  const url = new URL(location.href);
  if (value === usual) url.searchParams.delete(name);
  else url.searchParams.set(name, value);
  history.replaceState(null, "", url);
}

export function recall(name, usual = "") {
  return new URLSearchParams(location.search).get(name) ?? usual;
}

/** Returns the theme if the address names none. */
export function systemTheme() {
  return systemDark.matches ? "dark" : "light";
}

export function onSystemTheme(changed) {
  systemDark.addEventListener("change", changed);
}

/** Calls `chosen` whenever another of the radio buttons called `name` is pressed. */
export function onChoice(name, chosen) {
  const group = document.querySelector(`[data-choice="${name}"]`);
  group?.addEventListener("change", ({ target }) => chosen(target.value));
}

/** Dresses the page in `theme`, and takes it along in every link. */
export function dress(theme) {
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  carry("theme", theme);
}

/** Takes `name` along in every link to a page of ours, or in those with the attribute `which`. */
export function carry(name, value, which = "") {
  for (const link of document.querySelectorAll(`a${which}[href^='/']`)) {
    const url = new URL(link.href);
    if (value) url.searchParams.set(name, value);
    else url.searchParams.delete(name);
    link.href = url.pathname + url.search;
  }
}

/** The longest wait for the rate limit before its answer is shown instead. */
const MAX_WAIT_S = 10;

/** Fetches like `fetch`; above the rate limit, waits as long as the answer says and tries again. */
export async function request(address, options) {
  for (;;) {
    const response = await fetch(address, options);
    const wait_s = Number(response.headers.get("retry-after"));
    if (response.status !== 429 || !wait_s || wait_s > MAX_WAIT_S) return response;
    await new Promise((resolve) => setTimeout(resolve, wait_s * 1000));
  }
}

/** Returns the JSON of a response; of one without JSON, its status as the error. */
export function readAnswer(response) {
  return response.json().catch(() => ({ error: `the answer was ${response.status}` }));
}

/** Returns why a request was refused. */
export function reasonOf({ problem, advice, error }) {
  return problem ? `${problem}; ${advice}` : error;
}

/** Returns the page at the present address as the server would send it now. */
export async function fetchPage() {
  const response = await request(location.pathname + location.search);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

/** Returns an observer that opens each place once, as it comes near the visible part of the page. */
export function nearing(open) {
  const sight = new IntersectionObserver(
    (entries) => {
      for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        sight.unobserve(target);
        open(target);
      }
    },
    { rootMargin: "600px" },
  );
  return sight;
}

export function toast(text, kind = "") {
  const note = make("p", { className: `toast ${kind}`, textContent: text });
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), 5000);
}

export async function copy(text, button) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    toast("The browser does not let this page copy; select the text instead.", "trouble");
    return;
  }
  const label = button.textContent;
  button.textContent = "Copied";
  setTimeout(() => (button.textContent = label), 1200);
}

/**
 * Handles single keys, except in fields and dialogs; `?` lists them.
 *
 * @param {Record<string, [does: string, act: () => void]>} keys
 */
export function onKeys(keys) {
  const all = { ...keys, "?": ["List these keys", () => showKeys(all)] };
  addEventListener("keydown", (event) => {
    // The editor is in a shadow root, and `target` of its events is only the root's host.
    const [field] = event.composedPath();
    const typing = field.closest("input:not([type=radio]), textarea, select, [contenteditable]");
    if (event.metaKey || event.ctrlKey || event.altKey || (typing && event.key !== "Escape")) return;
    if (!all[event.key] || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    const [, act] = all[event.key];
    act();
  });
}

function showKeys(keys) {
  const rows = Object.entries(keys).flatMap(([key, [does]]) => [
    make("dt", {}, make("kbd", { textContent: key })),
    make("dd", { textContent: does }),
  ]);
  const close = make("button", { textContent: "Close", autofocus: true, onclick: () => dialog.close() });
  const dialog = make(
    "dialog",
    { className: "question", "aria-labelledby": "keys", onclose: () => dialog.remove() },
    make("h2", { id: "keys", textContent: "Keys" }),
    make("dl", { className: "keys" }, ...rows),
    make("p", { className: "row" }, close),
  );
  document.body.append(dialog);
  dialog.showModal();
}

// What a daemon writes into the page is read from the address here.
if (isBuilt) {
  const theme = recall("theme");
  const choice = document.querySelector(`[data-choice=theme] [value="${CSS.escape(theme)}"]`);
  if (choice) choice.checked = true;
  dress(theme);
}

document.addEventListener("click", ({ target }) => {
  const button = target.closest?.(".copy");
  if (!button) return;
  const { copy: text, copyFrom } = button.dataset;
  const block = copyFrom
    ? document.getElementById(copyFrom)
    : button.closest(".block")?.querySelector("code");
  void copy(text || block?.value || block?.textContent || "", button);
});
