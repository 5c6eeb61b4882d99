/** Tabs as the ARIA practices have them: arrows move, and the address names the open one. */

import { isBuilt, remember, recall } from "./ui.js";

const FIRST = "arguments";

export function startTabs(changed) {
  const tabs = [...document.querySelectorAll("[role=tab]")];
  const open = (tab) => {
    for (const other of tabs) {
      const chosen = other === tab;
      other.setAttribute("aria-selected", String(chosen));
      other.tabIndex = chosen ? 0 : -1;
      document.getElementById(other.getAttribute("aria-controls")).hidden = !chosen;
    }
    tab.scrollIntoView({ block: "nearest", inline: "nearest" });
    remember("tab", tab.dataset.tab, FIRST);
    changed();
  };
  const asked = tabs.find((tab) => tab.dataset.tab === recall("tab"));
  if (isBuilt && asked) open(asked);
  asked?.scrollIntoView({ block: "nearest", inline: "nearest" });
  for (const [at, tab] of tabs.entries()) {
    tab.addEventListener("click", () => open(tab));
    tab.addEventListener("keydown", ({ key }) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[key];
      if (to === undefined) return;
      const next = tabs[(to + tabs.length) % tabs.length];
      next.focus();
      open(next);
    });
  }
}

/** Shows the number of a tab's entries beside its name. */
export function count(key, number) {
  const badge = document.querySelector(`[data-count="${key}"]`);
  badge.hidden = number === 0;
  badge.textContent = number;
}

/** Lets the panel beside the drawing be made wider and narrower; all widgets have the same width. */
export function startPanelWidth() {
  const handle = document.getElementById("panel-width");
  const main = document.getElementById("main");
  const set = (percent) => {
    const width = Math.min(75, Math.max(25, percent));
    main.style.setProperty("--panel-width", `${width}%`);
    handle.ariaValueNow = Math.round(width);
    sessionStorage.setItem("panel-width", width);
    dispatchEvent(new Event("resize"));
  };
  const measure = () => (100 * handle.parentElement.offsetWidth) / main.offsetWidth;
  handle.ariaValueNow = Math.round(measure());
  const kept = sessionStorage.getItem("panel-width");
  if (kept) set(Number(kept));
  handle.addEventListener("pointerdown", ({ pointerId }) => handle.setPointerCapture(pointerId));
  handle.addEventListener("pointermove", ({ clientX, pointerId }) => {
    if (handle.hasPointerCapture(pointerId)) set(100 * (1 - clientX / main.offsetWidth));
  });
  handle.addEventListener("keydown", ({ key }) => {
    const by = { ArrowLeft: 2, ArrowRight: -2 }[key];
    if (by) set(measure() + by);
  });
}
