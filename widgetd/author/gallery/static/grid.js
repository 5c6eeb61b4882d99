/** All states of a widget, at each width in both themes: cells that come near are drawn and checked. */

import { Frame } from "./host.js";
import { onChange } from "./live.js";
import { askBrowser, startPictures } from "./pictures.js";
import { at, isBuilt, make, nearing, request } from "./ui.js";

/** Three widths side by side fit a laptop. */
const SCALE = 0.6;
const { tool, title } = document.getElementById("main").dataset;
const checked = document.getElementById("checked");
const cells = document.querySelectorAll(".cell");
const count = { cells: 0, problems: 0 };
/** Results by state, each of which is fetched once. */
const results = new Map();
/** One check at a time: the daemon has one browser. */
let queue = Promise.resolve();
let stopped = isBuilt;

async function fetchResult(state) {
  const response = await request(at(`/w/${tool}/states/${encodeURIComponent(state)}.json`));
  if (!response.ok) return undefined;
  const { result, error } = await response.json();
  return result ?? { isError: true, content: [{ type: "text", text: error.message }] };
}

async function open(cell) {
  const { state, locale } = cell.closest("section").dataset;
  const { theme, width } = cell.dataset;
  const box = cell.firstElementChild;
  const frame = new Frame({
    tool,
    title: `${title}, ${state}, ${width}`,
    theme,
    locale,
    src: at(`/gallery/frame/${encodeURIComponent(tool)}`),
    sized: (height) => {
      frame.element.style.height = `${height}px`;
      box.style.height = `${height * SCALE}px`;
    },
  });
  frame.element.tabIndex = -1;
  Object.assign(frame.element.style, { width: `${width}px`, scale: SCALE });
  box.style.width = `${width * SCALE}px`;
  box.append(frame.element);
  if (!results.has(state)) results.set(state, fetchResult(state));
  const result = await results.get(state);
  if (!result) return;
  frame.show(result);
  if (!result.isError) queue = queue.then(() => check(cell, frame, { tool, state, width, theme }));
}

/** Lists what axe finds in a cell, and outlines the elements; stops where there is no browser. */
async function check(cell, frame, { theme, ...shown }) {
  if (stopped) return;
  try {
    const found = await (await askBrowser("accessibility.json", shown, theme)).json();
    cell.append(...found.map(violation));
    frame.element.contentWindow.postMessage({ point: found.map(({ at }) => at) }, "*");
    count.cells += 1;
    count.problems += found.length;
    const problems = `${count.problems || "no"} problem${count.problems === 1 ? "" : "s"}`;
    checked.textContent = `axe checked ${count.cells} of ${cells.length} pictures, and found ${problems}.`;
  } catch (error) {
    stopped = true;
    checked.textContent = error.message;
  }
}

const violation = ({ rule, impact, problem }) =>
  make("p", { className: "problem", textContent: `${problem} (${rule}, ${impact})` });

const sight = nearing((cell) => void open(cell));
for (const cell of cells) sight.observe(cell);
startPictures(() => ({ tool, state: "all", themes: [""] }));
onChange((change) => {
  if (!change || change.changed.includes(tool) || change.removed.includes(tool)) location.reload();
});
