/** The index: tiles that draw themselves when they come into sight, and again when they change. */

import { acceptFiles } from "./drop.js";
import { offerNew } from "./new.js";
import { Frame } from "./host.js";
import { onChange } from "./live.js";
import { at, carry, dress, fetchPage, isBuilt, isClean, nearing, onChoice, onKeys, onSystemTheme, remember, recall, request, systemTheme } from "./ui.js";

const SCALE = 0.68;
const EDGE = 36;
const PAUSE_MS = 120;
/** Marks the address of a visitor who came to search. */
const SEARCHING = "#q";
const frames = new Map();
const main = document.getElementById("main");
const search = document.getElementById("q");

const theme = () => recall("theme") || systemTheme();
const tiles = () => [...document.querySelectorAll(".tile")];

const sight = nearing(open);

function open(tile) {
  const { tool, title } = tile.dataset;
  const stage = tile.querySelector(".tile-stage");
  const src = at(`/gallery/frame/${encodeURIComponent(tool)}`);
  const frame = new Frame({ tool, title, theme: theme(), src, sized: (height) => fit(stage, frame, height) });
  frame.element.tabIndex = -1;
  frames.set(tool, frame);
  stage.append(frame.element);
  void draw(tool).then(() => warn(tool));
}

/** Centres small widgets; large ones begin at the top and fade out at the bottom. */
function fit(stage, { element }, height) {
  element.style.height = `${height}px`;
  stage.classList.toggle("tall", height * SCALE > stage.clientHeight - EDGE);
  stage.classList.add("drawn");
}

async function draw(tool) {
  const response = await request(at(`/gallery/tile/${tool}`));
  if (!response.ok) return;
  const { result, error } = await response.json();
  const frame = frames.get(tool);
  if (!frame) return;
  // A small card would be at the left of a wider frame.
  frame.element.parentElement.dataset.size = result?._meta["widgetd/widget"]?.size ?? "";
  frame.show(result ?? { isError: true, content: [{ type: "text", text: error.message }] });
}

/** Applies a change; `change` is undefined if others may have been missed. */
async function refresh(change) {
  if (!change) {
    location.reload();
    return;
  }
  const changed = change.changed.filter((tool) => frames.has(tool));
  await Promise.all(changed.map(draw));
  const now = isBuilt ? filterTiles(await fetchPage()) : await fetchPage();
  if (!document.getElementById("tiles") || !now.getElementById("tiles")) {
    main.replaceChildren(...now.getElementById("main").childNodes);
    watch();
    return;
  }
  for (const id of ["count", "filters", "refused", "nothing"]) {
    document.getElementById(id)?.replaceWith(now.getElementById(id) ?? "");
  }
  merge(document.getElementById("tiles"), now.getElementById("tiles"), change?.removed ?? []);
  watch();
  for (const tool of frames.keys()) void warn(tool);
}

/** Shows the matching tiles; others are hidden, because moving a tile would reload its frame. */
function merge(list, now, removed) {
  const wanted = new Map([...now.children].map((tile) => [tile.dataset.tool, tile]));
  for (const tile of tiles()) {
    const { tool } = tile.dataset;
    const fresh = wanted.get(tool);
    tile.hidden = !fresh;
    if (fresh) tile.querySelector(".tile-text").replaceWith(fresh.querySelector(".tile-text"));
    else if (removed.includes(tool)) forget(tile);
    wanted.delete(tool);
  }
  for (const [tool, tile] of wanted) {
    list.insertBefore(tile, tiles().find((other) => other.dataset.tool > tool) ?? null);
  }
}

/** Keeps in `page` the widgets that the address asks for, as a daemon does. */
function filterTiles(page) {
  const tag = recall("tag");
  const words = recall("q").toLowerCase().split(/\s+/).filter(Boolean);
  const all = [...page.querySelectorAll(".tile")];
  const left = all.filter((tile) => {
    const tags = JSON.parse(tile.dataset.tags);
    const shown = `${tile.textContent} ${tags.join(" ")}`.toLowerCase();
    if ((!tag || tags.includes(tag)) && words.every((word) => shown.includes(word))) return true;
    tile.remove();
    return false;
  });
  if (tag || words.length) page.getElementById("refused").hidden = true;
  if (tag || words.length) page.getElementById("count").textContent = `${left.length} of ${all.length} widgets`;
  page.getElementById("nothing").hidden = left.length > 0;
  for (const link of page.querySelectorAll("#filters a")) {
    const chosen = (new URL(link.href, location.href).searchParams.get("tag") ?? "") === tag;
    if (chosen) link.setAttribute("aria-current", "true");
    else link.removeAttribute("aria-current");
  }
  return page;
}

function forget(tile) {
  frames.get(tile.dataset.tool)?.remove();
  frames.delete(tile.dataset.tool);
  tile.remove();
}

function watch() {
  carry("theme", recall("theme"));
  for (const tile of tiles()) if (!frames.has(tile.dataset.tool)) sight.observe(tile);
}

/** Shows the number of a widget's warnings; they take longer to find than its picture. */
async function warn(tool) {
  if (isClean) return;
  const response = await request(at(`/w/${tool}/problems.json`));
  const badge = document.querySelector(`[data-warnings="${tool}"]`);
  if (!response.ok || !badge) return;
  const { length } = await response.json();
  badge.hidden = length === 0;
  badge.textContent = length === 1 ? "1 warning" : `${length} warnings`;
}

let pause = 0;
search.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(() => {
    remember("q", search.value.trim());
    void refresh({ changed: [], removed: [] });
  }, PAUSE_MS);
});
search.form.addEventListener("submit", (event) => {
  event.preventDefault();
  shownLinks()[0]?.click();
});

function redress() {
  dress(recall("theme"));
  for (const frame of frames.values()) frame.change({ theme: theme() });
}
onChoice("theme", (chosen) => {
  remember("theme", chosen);
  redress();
});
onSystemTheme(redress);
onKeys({
  "/": ["Search", () => search.focus()],
  Escape: ["Leave the search", () => search.blur()],
  j: ["The next widget", () => step(1)],
  k: ["The widget before", () => step(-1)],
  Enter: ["Open the widget", () => document.activeElement.click()],
});
if (location.hash === SEARCHING) search.focus();

const shownLinks = () => tiles().filter((tile) => !tile.hidden).map((tile) => tile.querySelector("h2 a"));

function step(by) {
  const links = shownLinks();
  const at = links.indexOf(document.activeElement);
  links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}

onChange((change) => void refresh(change));
if (main.hasAttribute("data-upload")) {
  acceptFiles();
  offerNew(main);
}
watch();
if (isBuilt) {
  search.value = recall("q");
  void refresh({ changed: [], removed: [] });
}
