/** The page of one widget: frames that follow the file, the state and the typed values. */

import { asTest } from "./as_test.js";
import { Controls } from "./controls.js";
import { Frame } from "./host.js";
import { onChange, onRender } from "./live.js";
import { log } from "./log.js";
import { PALETTES } from "./palettes.js";
import { startPictures } from "./pictures.js";
import { showProblems } from "./problems.js";
import { startPanelWidth, startTabs } from "./tabs.js";
import { at, carry, copy, dress, fetchPage, isBuilt, isClean, make, onChoice, onKeys, onSystemTheme, readAnswer, reasonOf, recall, remember, request, systemTheme, toast } from "./ui.js";

const ARGUMENTS = "#args=";
const PAUSE_MS = 40;
/** The time in which a new picture is drawn; other requests would slow it down. */
const DRAWN_MS = 120;
/** Padding and border of a figure beside another. */
const FIGURE_PX = 30;
const main = document.getElementById("main");
const { tool, title } = main.dataset;
const state = document.getElementById("state");
const raw = document.getElementById("raw");
const rawProblem = document.getElementById("raw-problem");
const refusal = document.getElementById("refusal");
const box = document.getElementById("frames");
const back = document.querySelector(".back");
const palette = document.getElementById("palette");
palette.append(...Object.keys(PALETTES).map((name) => make("option", { textContent: name })));
/** A wider frame than a phone would be seen in part only. */
const USUAL_WIDTH = matchMedia("(max-width: 480px)").matches ? "320" : "400";

let shown = JSON.parse(document.getElementById("shown").textContent);
let frames = [];
/** The edited arguments; undefined while the state is shown unchanged. */
let edited = readEdited();

const controls = new Controls(document.getElementById("controls"), (value) => edit(value));

function readEdited() {
  if (!location.hash.startsWith(ARGUMENTS)) return undefined;
  try {
    return JSON.parse(decodeURIComponent(location.hash.slice(ARGUMENTS.length)));
  } catch {
    return undefined;
  }
}

// --- the frames

function themes() {
  const asked = recall("theme");
  if (asked === "both") return ["light", "dark"];
  return [asked === "light" || asked === "dark" ? asked : systemTheme()];
}

const locale = () => state.selectedOptions[0]?.dataset.locale;

function openFrames() {
  for (const frame of frames) frame.remove();
  box.replaceChildren();
  frames = themes().map((theme) => {
    const size = document.createElement("figcaption");
    const frame = new Frame({
      tool,
      title,
      theme,
      locale: locale(),
      src: at(`/gallery/frame/${encodeURIComponent(tool)}${isPicking ? "?pick" : ""}`),
      sized: (height) => {
        frame.element.style.height = `${height}px`;
        size.textContent = `${theme}, ${frame.element.clientWidth} × ${height}`;
        fitFrames();
      },
      sent: log,
      act,
    });
    const panel = document.createElement("figure");
    panel.dataset.theme = theme;
    panel.append(make("div", {}, frame.element), size);
    box.append(panel);
    frame.change({ styles: { variables: PALETTES[palette.value]?.[theme] ?? {} } });
    draw(frame);
    return frame;
  });
  resize(recall("width", USUAL_WIDTH));
}

/** Has the frame's own program draw the edited arguments if there is no daemon. */
function draw(frame) {
  if (!isBuilt) {
    if (shown.result) frame.show(dressed(shown.result));
  } else if (edited !== undefined && shown.hasProgram) frame.show(undefined, edited);
  else if (shown.result) frame.show(dressed(shown.result), shown.arguments);
}

/** Returns a result without the folder's theme where the view's own palette is chosen. */
function dressed(result) {
  return palette.value === "own" ? { ...result, _meta: { ...result._meta, "widgetd/palette": {} } } : result;
}

/** Takes an action as hosts do; requests that wait for one in this render get it. */
async function act(taken) {
  if (isBuilt) {
    const problem = "It reaches no one: no daemon serves this page.";
    log({ kind: "action", ...taken, problem });
    return { isError: true, content: [{ type: "text", text: problem }] };
  }
  const response = await request(`/w/${tool}/action`, { method: "POST", body: JSON.stringify(taken) });
  const result = await response.json();
  if (!response.ok) throw new Error(result.error);
  if (shown.result._meta["widgetd/render"].local?.actions.includes(taken.action)) return result;
  const test = asTest(tool, shown, taken);
  log({ kind: "action", ...taken, test, problem: result.isError ? result.content[0].text : "" });
  return result;
}

/** Shrinks the frames until all fit side by side; below half their size, they scroll instead. */
function fitFrames() {
  const width = Number(box.dataset.width);
  const { paddingLeft, columnGap } = getComputedStyle(box);
  const gaps = (frames.length - 1) * parseFloat(columnGap);
  const around = frames.length > 1 ? FIGURE_PX : 0;
  const room = (box.clientWidth - 2 * parseFloat(paddingLeft) - gaps) / frames.length - around;
  const scale = room < width && room > width / 2 ? room / width : 1;
  for (const { element } of frames) {
    const isScaled = scale < 1;
    element.parentElement.classList.toggle("scaled", isScaled);
    element.style.scale = isScaled ? scale : "";
    element.parentElement.style.width = isScaled ? `${width * scale}px` : "";
    element.parentElement.style.height = isScaled ? `${element.offsetHeight * scale}px` : "";
  }
}
addEventListener("resize", fitFrames);

function resize(width) {
  box.dataset.width = width;
  fitFrames();
  document.querySelector(`[name=width][value="${width}"]`).checked = true;
}

// --- what is shown

async function load() {
  const sent = edited;
  if (editor?.isDraft()) {
    await editor.draw();
    return;
  }
  if (isBuilt && sent !== undefined) {
    if (shown.hasProgram) shown = { ...shown, note: "Drawn by this page alone, which does not check arguments." };
    else showRefusal({ message: "Run `widgetd dev` on the folder to try them." }, "Arguments of your own need a daemon");
    for (const frame of frames) draw(frame);
    tellFields();
    return;
  }
  const key = state.value === "edited" ? "sample" : state.value;
  const asking = sent === undefined ? {} : { method: "POST", body: JSON.stringify(sent) };
  const address = sent === undefined ? `/w/${tool}/states/${encodeURIComponent(key)}.json` : `/w/${tool}.json`;
  const response = await request(at(address), asking);
  const now = await response.json();
  // Newer arguments are on their way, or a draft was begun.
  if (!response.ok || sent !== edited || editor?.isDraft()) return;
  take(now);
}

function take(now) {
  const reshaped = JSON.stringify(now.schema) !== JSON.stringify(shown.schema);
  const readmitted = String(now.images) !== String(shown.images);
  shown = now;
  // A frame's image origins are fixed when it is opened.
  if (readmitted) openFrames();
  else for (const frame of frames) draw(frame);
  showRefusal(now.error);
  tellFields();
  if (edited === undefined || reshaped) controls.show(now.schema, now.arguments);
  if (document.activeElement !== raw) raw.value = JSON.stringify(now.arguments, null, 2);
}

function showRefusal(error, title = "These arguments cannot be rendered; the last good render is shown") {
  refusal.hidden = !error;
  if (!error) return;
  const heading = document.createElement("h3");
  heading.textContent = title;
  const sentence = document.createElement("p");
  sentence.textContent = error.message;
  refusal.replaceChildren(heading, sentence);
}

function tellFields() {
  const { tokens, result, calls } = shown;
  if (isClean) {
    document.querySelector("[data-field=note]").textContent = shown.note;
    return;
  }
  const fields = {
    note: shown.note,
    summary: shown.summary || "None: the call fails.",
    timing: shown.result ? `Rendered in ${shown.ms.toFixed(1)} ms.` : "",
    "tokens-split": tokens?.split ?? "none",
    "tokens-chatkit": tokens?.chatkit ?? "none",
    tree: result ? JSON.stringify(result._meta["widgetd/widget"], null, 2) : "",
  };
  for (const [title, code] of Object.entries(calls)) fields[`call ${title}`] = code;
  for (const [name, value] of Object.entries(fields)) {
    const field = document.querySelector(`[data-field="${name}"]`);
    if (field) field.textContent = value;
  }
  document.getElementById("render-id").textContent = shown.renderId;
  document.getElementById("render").hidden = !shown.renderId;
  document.getElementById("no-actions").hidden = Boolean(shown.renderId);
}

// --- what is edited

/** The editor of the widget's files; undefined until its tab is opened. */
let editor;
let opening;
/** A click in a frame picks a component. */
let isPicking = false;

async function followTab() {
  const isEditing = document.getElementById("tab-edit")?.ariaSelected === "true";
  if (isEditing !== isPicking) {
    isPicking = isEditing;
    openFrames();
  }
  if (!isEditing || opening) return;
  opening = import("../editor/edit.js");
  const { startEditing } = await opening;
  const asked = () => ({ state: state.value === "edited" ? "sample" : state.value, edited });
  editor = await startEditing({ tool, asked, take: takeDraft, end: () => void load() });
}

/** Shows a draft as far as it can be drawn. */
function takeDraft({ result, error, findings, schema, arguments: given }) {
  const fault = findings.find(({ level }) => level === "fault");
  showRefusal(error ?? (fault && { message: `${fault.problem}; ${fault.advice}.` }), "This draft cannot be drawn; the last good one is shown");
  if (!result) return;
  const reshaped = JSON.stringify(schema) !== JSON.stringify(shown.schema);
  const { text } = result.content[0];
  shown = { ...shown, result, schema, summary: text, arguments: given ?? shown.arguments };
  for (const frame of frames) frame.show(dressed(result));
  tellFields();
  if (edited === undefined || reshaped) controls.show(schema, shown.arguments);
}

// --- what is typed

let pause = 0;
function edit(value) {
  edited = value;
  state.querySelector("[value=edited]").hidden = false;
  state.value = "edited";
  history.replaceState(null, "", location.pathname + location.search + ARGUMENTS + encodeURIComponent(JSON.stringify(value)));
  if (document.activeElement !== raw) raw.value = JSON.stringify(value, null, 2);
  clearTimeout(pause);
  pause = setTimeout(load, PAUSE_MS);
}

function choose(key) {
  edited = undefined;
  state.querySelector("[value=edited]").hidden = true;
  history.replaceState(null, "", location.pathname + location.search);
  state.value = key;
  remember("state", key, "sample");
  for (const frame of frames) frame.change({ locale: locale() || navigator.language });
  void load();
}

raw.addEventListener("input", () => {
  try {
    const value = JSON.parse(raw.value);
    rawProblem.hidden = true;
    controls.show(shown.schema, value);
    edit(value);
  } catch (error) {
    rawProblem.hidden = false;
    rawProblem.textContent = `This is not JSON yet: ${error.message}`;
  }
});
state.addEventListener("change", () => choose(state.value));
state.form.addEventListener("submit", (event) => event.preventDefault());
document.getElementById("found-problems")?.addEventListener("click", async ({ target }) => {
  const allowed = target.closest("[data-allow]")?.dataset.allow.split(" ");
  if (!allowed) return;
  const body = { digest: shown.digest, image_origins: [...new Set([...shown.origins, ...allowed])] };
  const answer = await readAnswer(await request(`/w/${tool}/origins`, { method: "POST", body: JSON.stringify(body) }));
  if (!answer.digest) toast(`Not saved: ${reasonOf(answer)}.`, "trouble");
});
document.getElementById("reset").addEventListener("click", () => choose(recall("state", "sample")));
document.getElementById("copy-link").addEventListener("click", ({ target }) => copy(location.href, target));

// --- what changes in the folder

/** Replaces the parts that the server renders; parts owned by scripts stay. */
async function refreshParts() {
  const now = await fetchPage();
  for (const part of document.querySelectorAll("[data-part]")) {
    const fresh = now.querySelector(`[data-part="${part.dataset.part}"]`);
    if (!fresh) continue;
    part.replaceChildren(...fresh.childNodes);
    if (part.dataset.part === "fault") part.hidden = fresh.hidden;
  }
  refreshStates(now.getElementById("state"));
  tellFields();
  carryView();
}

function refreshStates(fresh) {
  if (!fresh) return;
  const chosen = state.value;
  state.replaceChildren(...fresh.options);
  state.querySelector("[value=edited]").hidden = edited === undefined;
  state.value = chosen;
}

onChange((change) => {
  if (!change || change.removed.includes(tool)) location.reload();
  else if (change.changed.includes(tool)) void follow();
  else if (change.faults.includes(tool)) void tellRest();
  void editor?.follow();
});

/** Shows the newer version of an agent or a backend. */
onRender(async (id) => {
  if (id !== shown.renderId) return;
  const response = await request(`/gallery/render/${id}`);
  if (!response.ok || id !== shown.renderId) return;
  const { result, summary } = await response.json();
  shown = { ...shown, result, summary };
  for (const frame of frames) frame.show(dressed(result));
  tellFields();
});

let telling = 0;
/** Draws first: other answers take the server longer. */
async function follow() {
  await load();
  clearTimeout(telling);
  telling = setTimeout(tellRest, DRAWN_MS);
}

async function tellRest() {
  await refreshParts();
  await showProblems(tool);
}

// --- how it is looked at

/** Takes the view along to the next widget and the one before. */
function carryView() {
  for (const name of ["theme", "width", "tab", "palette"]) carry(name, recall(name), "[rel]");
}

onChoice("width", (width) => {
  remember("width", width, USUAL_WIDTH);
  resize(width);
  carryView();
});
onChoice("theme", (theme) => {
  remember("theme", theme);
  dress(theme);
  carryView();
  openFrames();
});
onSystemTheme(openFrames);
palette.addEventListener("change", () => {
  remember("palette", palette.value, "yours");
  carryView();
  openFrames();
});
onKeys({
  "/": ["Search all widgets", () => location.assign(`${back.href}#q`)],
  j: ["The next widget", () => document.querySelector("a[rel=next]")?.click()],
  k: ["The widget before", () => document.querySelector("a[rel=prev]")?.click()],
  u: ["Back to all widgets", () => back.click()],
  Escape: ["Leave a field, then back to all widgets", () => leave()],
});

function leave() {
  const { activeElement } = document;
  if (activeElement === document.body) back.click();
  else activeElement.blur();
}

const chosen = recall("palette", "yours");
if ([...palette.options].some(({ value }) => value === chosen)) palette.value = chosen;
startPictures(() => ({
  tool,
  state: state.value,
  themes: themes(),
  width: recall("width", USUAL_WIDTH),
  edited,
}));
startPanelWidth();
startTabs(() => {
  carryView();
  void followTab();
});
carry("theme", recall("theme") === "both" ? "" : recall("theme"));
carryView();
openFrames();
controls.show(shown.schema, edited ?? shown.arguments);
raw.value = JSON.stringify(edited ?? shown.arguments, null, 2);
if (edited !== undefined) edit(edited);
else if (isBuilt && recall("state")) choose(recall("state"));
else showRefusal(shown.error);
void showProblems(tool);
void followTab();
