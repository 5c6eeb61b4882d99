/** Asks the daemon's own browser: for a widget's picture, and for the violations that axe finds. */

import { make, request, toast } from "./ui.js";

/**
 * Wires the buttons.
 *
 * @param {() => {tool: string, state: string, themes: string[], width: string, edited: unknown}} seen the shown state
 */
export function startPictures(seen) {
  for (const button of document.querySelectorAll("[data-picture]")) {
    button.addEventListener("click", async () => {
      await busy(button, () => download(seen(), button.dataset.picture));
      button.closest("details")?.removeAttribute("open");
    });
  }
  const look = document.getElementById("look");
  look?.addEventListener("click", () => busy(look, () => showViolations(seen())));
}

/** Disables a button until its request is answered. */
async function busy(button, act) {
  if (button.ariaBusy === "true") return;
  button.ariaBusy = "true";
  try {
    await act();
  } catch (error) {
    toast(error.message, "trouble");
  } finally {
    button.ariaBusy = null;
  }
}

/** Fetches `file` of a widget as it is shown; throws a sentence if there is none. */
export async function askBrowser(file, { tool, state, width, edited }, theme, scale = "1") {
  const query = new URLSearchParams({ state, width, theme, scale });
  const asking = edited === undefined ? {} : { method: "POST", body: JSON.stringify(edited) };
  const response = await request(`/w/${tool}/${file}?${query}`, asking);
  if (response.ok) return response;
  const { error } = await response.json().catch(() => ({ error: "this takes a daemon, and none answers here" }));
  throw new Error(`${error.charAt(0).toUpperCase()}${error.slice(1)}.`);
}

async function download(shown, scale) {
  if (scale === "all") return save(await askBrowser("sheet.png", shown), `${shown.tool}-all.png`);
  for (const theme of shown.themes) {
    const name = `${shown.tool}-${shown.state}-${theme}${scale === "1" ? "" : `@${scale}x`}.png`;
    await save(await askBrowser("picture.png", shown, theme, scale), name);
  }
}

async function save(response, download) {
  const href = URL.createObjectURL(await response.blob());
  make("a", { href, download }).click();
  setTimeout(() => URL.revokeObjectURL(href), 10_000);
}

async function showViolations(shown) {
  const box = document.getElementById("violations");
  box.replaceChildren(make("p", { className: "quiet", textContent: "Looking." }));
  try {
    const found = [];
    for (const theme of shown.themes) {
      const response = await askBrowser("accessibility.json", shown, theme);
      found.push(...(await response.json()).map((one) => violation(one, theme)));
    }
    const nothing = `axe finds nothing against it, ${shown.themes.join(" or ")}.`;
    box.replaceChildren(...(found.length ? found : [make("p", { textContent: nothing })]));
  } catch (error) {
    box.replaceChildren(make("p", { className: "problem", textContent: error.message }));
  }
}

function violation({ rule, impact, problem, advice, element, at, more }, theme) {
  const place = [make("code", { textContent: at }), make("span", { className: "code", textContent: rule }), `${impact}, ${theme}`];
  const about = make("a", { href: more, rel: "noreferrer", target: "_blank", textContent: "What this rule is" });
  return make(
    "article",
    { className: "fault caution" },
    make("h3", { textContent: problem }),
    make("p", { className: "place" }, ...place),
    make("pre", { tabIndex: 0 }, make("code", { textContent: element })),
    make("p", { className: "advice" }, `${advice}. `, about),
  );
}
