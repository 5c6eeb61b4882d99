/** The conversation, in ChatKit's protocol: messages go up as JSON, events come down as a stream. */

import { Frame } from "./host.js";
import { copy, drawMarkdown } from "./markdown.js";
import { $, ask, askJson, get, make, sign } from "./page.js";
import { startThreads, toggleMenu } from "./threads.js";

const list = $("items");
const words = $("words");
const systemDark = matchMedia("(prefers-color-scheme: dark)");
/** The shown items by id: each with its element, its text, and for a widget its frame. */
const shown = new Map();
let thread = location.hash.slice(1);
let state = { scripted: false, suggestions: [] };
let stopping;
/** Settles when the present turn ends. */
let running = Promise.resolve();

// --- a turn

/** Sends a request that starts a turn, and follows its events to the end. */
function turn(type, params, { heard = () => {}, metadata } = {}) {
  stopping?.abort();
  const mine = (stopping = new AbortController());
  setBusy(true);
  running = follow(type, params, { signal: mine.signal, metadata }, heard).finally(() => {
    if (stopping === mine) setBusy(false);
  });
  return running;
}

async function follow(type, params, options, heard) {
  try {
    const response = await ask(type, params, options);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (let rest = ""; ; ) {
      const { value, done } = await reader.read();
      if (done) break;
      const parts = (rest + value).split("\n\n");
      rest = parts.pop();
      for (const part of parts) {
        const event = JSON.parse(part.replace(/^data: /, ""));
        heard(event);
        EVENTS[event.type]?.(event);
      }
    }
  } catch (error) {
    if (error.name === "AbortError") say("notice", "Stopped.");
    else if (error.answered) fail(error.message, true);
    else fail(`The chat's server cannot be reached (${error.message}); try again.`, true);
  }
}

function setBusy(isBusy) {
  if (!isBusy) stopping = undefined;
  $("send").hidden = isBusy;
  $("stop").hidden = !isBusy;
  progress(isBusy ? "Thinking…" : "");
  list.setAttribute("aria-busy", isBusy);
  suggest();
}

const progress = (text) => ($("progress").textContent = text);

const EVENTS = {
  "thread.created": ({ thread: one }) => {
    thread = one.id;
    history.replaceState(null, "", `#${thread}`);
  },
  "thread.updated": () => void listThreads(thread),
  "thread.item.added": ({ item }) => put(item, true),
  "thread.item.done": ({ item }) => put(item),
  "thread.item.replaced": ({ item }) => put(item),
  "thread.item.removed": ({ item_id }) => drop(item_id),
  "thread.item.updated": ({ item_id, update }) => UPDATES[update.type]?.(shown.get(item_id) ?? {}, update),
  progress_update: ({ text }) => progress(text),
  client_effect: ({ name, data }) => name === "widgetd.servers" && showServers(data.servers),
  notice: ({ level, message }) => say(level, message),
  error: ({ message, allow_retry }) => fail(message ?? "Something went wrong.", allow_retry),
};

const setPart = (one, { content_index, content }) => write(one, content_index, content.text);
const setTask = (one, { task_index, task }) => showCall(one, task_index, task);
const UPDATES = {
  "assistant_message.content_part.added": setPart,
  "assistant_message.content_part.text_delta": (one, { content_index, delta }) =>
    write(one, content_index, (one.parts?.[content_index] ?? "") + delta),
  "assistant_message.content_part.done": setPart,
  "workflow.task.added": setTask,
  "workflow.task.updated": setTask,
  "widget.root.updated": (one, { widget }) => redrawTree(one, () => widget),
  "widget.component.updated": (one, { component_id, component }) =>
    redrawTree(one, (tree) => replaceIn(tree, component_id, () => component)),
  "widget.streaming_text.value_delta": (one, { component_id, delta }) =>
    redrawTree(one, (tree) => replaceIn(tree, component_id, (part) => ({ ...part, value: (part.value ?? "") + delta }))),
};

// The end of a growing list stays in view until the reader scrolls up.
const main = document.querySelector("main");
let following = true;
let lastTop = 0;
main.addEventListener("scroll", () => {
  const below = main.scrollHeight - main.scrollTop - main.clientHeight;
  following = below < 120 || (following && main.scrollTop >= lastTop);
  lastTop = main.scrollTop;
});
const growth = new ResizeObserver(() => following && toEnd());
for (const part of [list, $("chips")]) growth.observe(part);

function toEnd() {
  following = true;
  main.scrollTop = main.scrollHeight;
}

// --- items

function put(item, streaming = false) {
  $("hello").hidden = true;
  let one = shown.get(item.id);
  if (!one) {
    one = { place: make("li", { className: item.type }), parts: [] };
    one.place.dataset.id = item.id;
    shown.set(item.id, one);
    list.append(one.place);
  }
  one.item = item;
  one.streaming = streaming;
  item.content?.forEach((part, at) => write(one, at, part.text));
  item.workflow?.tasks.forEach((task, at) => showCall(one, at, task));
  if (item.widget) void draw(one);
}

function drop(id) {
  const one = shown.get(id);
  one?.frame?.remove();
  one?.place.remove();
  shown.delete(id);
}

function write(one, at, value) {
  if (!one.parts) return;
  one.parts[at] = value;
  if (!one.text) addText(one);
  if (one.item.type === "user_message") one.text.textContent = textOf(one);
  // Once a frame, however many words come in between: each drawing reads the whole text again.
  else one.drawing ??= requestAnimationFrame(() => {
    one.drawing = undefined;
    drawMarkdown(one.text, textOf(one), one.streaming);
  });
}

const textOf = (one) => one.parts.join("\n\n");

/** Adds the text of a message, and what can be done with it. */
function addText(one) {
  one.text = make("div", { dir: "auto" });
  const isMine = one.item.type === "user_message";
  const acts = make(
    "div",
    { className: "acts" },
    sign("copy", "Copy", async (button) => {
      await copy(textOf(one), make("i"));
      button.classList.add("done");
      setTimeout(() => button.classList.remove("done"), 1200);
    }),
    isMine ? sign("edit", "Edit", () => edit(one)) : sign("retry", "Answer again", () => answerAgain(one)),
  );
  one.place.replaceChildren(one.text, acts);
}

/** A user's message becomes a field; sent, it takes the place of the message and all after it. */
function edit(one) {
  if (stopping) return;
  const field = make("textarea", { value: textOf(one), ariaLabel: "Your message" });
  const cancel = make("button", { type: "button", textContent: "Cancel" });
  const form = make("form", {}, field, make("p", { className: "row" }, cancel, make("button", { className: "primary", textContent: "Send" })));
  const close = () => form.replaceWith(one.text);
  cancel.addEventListener("click", close);
  field.addEventListener("keydown", (event) => sendsOnEnter(event, form) || (event.key === "Escape" && close()));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    close();
    if (!text) return;
    write(one, 0, text);
    restart(one, { text });
  });
  one.text.replaceWith(form);
  field.focus();
}

const isMessage = ({ item }) => item?.type === "user_message";

function answerAgain(one) {
  if (stopping) return;
  const all = [...shown.values()];
  const asked = all.slice(0, all.indexOf(one)).filter(isMessage).pop();
  if (asked) restart(asked);
}

/** Answers a message again; items after it are removed, here and in the thread. */
function restart(asked, metadata) {
  const ids = [...shown.keys()];
  ids.slice(ids.indexOf(asked.item.id) + 1).forEach(drop);
  for (const place of list.querySelectorAll(":scope > :is(.notice, .error, .warning, .danger)")) place.remove();
  void turn("threads.retry_after_item", { thread_id: thread, item_id: asked.item.id }, { metadata });
}

/** Shows a call of a tool: its name, duration and cost; folded, its arguments and its answer. */
function showCall(one, at, task) {
  if (!one.place) return;
  const open = one.place.children[at]?.open ?? false;
  const content = make("pre", { textContent: task.content, tabIndex: 0 });
  const made = make("details", { open }, make("summary", { textContent: task.title }), content);
  if (one.place.children[at]) one.place.children[at].replaceWith(made);
  else one.place.append(made);
}

function say(kind, message, ...more) {
  $("hello").hidden = true;
  list.append(make("li", { className: kind }, message, ...more));
}

function fail(message, retry) {
  const last = [...shown.values()].filter(isMessage).pop();
  if (!retry || !last) return say("error", message);
  const again = make("button", { type: "button", textContent: "Try again" });
  again.addEventListener("click", () => restart(last));
  say("error", message, again);
}

/** Suggests questions: at the beginning, and where the script had nothing to show. */
function suggest() {
  const after = [...shown.values()].map(({ item }) => item.type);
  const isUnmet = state.scripted && !after.slice(after.lastIndexOf("user_message")).includes("widget");
  $("chips").hidden = !state.suggestions.length || Boolean(stopping) || (after.length > 0 && !isUnmet);
}

// --- widgets

const CACHES = { session: sessionStorage, persistent: localStorage };

/** Returns a widget's current tree from the browser's storage if its author allows that, else from the server. */
async function fetchWidget(id) {
  const key = `widget ${id}`;
  for (const store of Object.values(CACHES)) {
    const cached = store.getItem(key);
    if (cached) return JSON.parse(cached);
  }
  const found = await get(`/chat/widgets/${thread}/${id}`);
  try {
    CACHES[found.ui?.cacheStrategy]?.setItem(key, JSON.stringify(found));
  } catch {
    // There is no room; the server has it.
  }
  return found;
}

const forget = (id) => Object.values(CACHES).forEach((store) => store.removeItem(`widget ${id}`));

async function draw(one) {
  const { id } = one.item;
  let now;
  try {
    now = await fetchWidget(id);
  } catch (error) {
    return void (one.place.textContent = `This widget cannot be drawn (${error.message}).`);
  }
  if (shown.get(id) !== one) return;
  one.now = now;
  if (one.frame && one.tool === now.tool) return one.frame.show(now.result);
  one.frame?.remove();
  one.frame = undefined;
  const mode = now.ui?.renderMode;
  if (mode !== "lazy" && mode !== "progressive") return open(one);
  const waiting = make("p", { className: "waiting", textContent: one.item.copy_text?.split("\nRender:")[0] ?? now.title });
  one.place.replaceChildren(waiting);
  // Progressive: the words first, the picture once the page has time. Lazy: once it is looked at.
  if (mode === "progressive") return void requestIdleCallback(() => open(one));
  new IntersectionObserver(([seen], watch) => {
    if (!seen.isIntersecting) return;
    watch.disconnect();
    open(one);
  }).observe(waiting);
}

function open(one) {
  const { tool, title, result } = one.now;
  one.tool = tool;
  one.frame = new Frame({
    tool,
    title,
    theme: theme(),
    src: tool ? `/chat/frame/${encodeURIComponent(tool)}` : "/chat/frame",
    sized: (height) => {
      one.frame.element.style.height = `${height}px`;
      one.place.classList.add("drawn");
    },
    sent: ({ kind, url }) => kind === "link" && window.open(url, "_blank", "noopener"),
    act: (taken) => act(one, taken),
  });
  one.frame.show(result);
  one.place.replaceChildren(one.frame.element);
}

/** Takes an action after the present turn; the widget is locked until the agent has answered. */
async function act(one, { action, payload, idempotency_key, token, state }) {
  const { element } = one.frame;
  lock(element, true);
  await running;
  return new Promise((done, failed) => {
    // Beside the payload, because ChatKit's actions have no other place.
    const sent = { ...payload, "widgetd/press": { idempotency_key, token, state } };
    const params = { thread_id: thread, item_id: one.item.id, action: { type: action, payload: sent } };
    const heard = ({ type, name, data }) => {
      if (type === "client_effect" && name === "widgetd.action") done(data.result);
    };
    void turn("threads.custom_action", params, { heard }).then(() => {
      lock(element, false);
      failed(new Error("it was not taken"));
    });
  });
}

function lock(element, isLocked) {
  element.inert = isLocked;
  element.classList.toggle("sending", isLocked);
}

/** Shows a tree that the stream changes. */
function redrawTree(one, change) {
  if (!one.item) return;
  one.item = { ...one.item, widget: change(one.item.widget) };
  one.frame?.show({ structuredContent: one.item.widget });
}

function replaceIn(tree, id, change) {
  if (tree?.id === id) return change(tree);
  if (!Array.isArray(tree?.children)) return tree;
  return { ...tree, children: tree.children.map((each) => replaceIn(each, id, change)) };
}

// --- threads

const listThreads = startThreads({
  open: (id) => void openThread(id),
  removed: (id) => void openThread(id === thread ? "" : thread),
});

async function openThread(id) {
  stopping?.abort();
  toggleMenu(false);
  for (const key of [...shown.keys()]) drop(key);
  list.replaceChildren();
  thread = id;
  history.replaceState(null, "", id ? `#${id}` : location.pathname);
  $("hello").hidden = Boolean(id);
  suggest();
  await listThreads(id);
  if (!id) return words.focus();
  for (let after = null; ; ) {
    const page = await askJson("items.list", { thread_id: id, order: "asc", limit: 100, after });
    for (const item of page.data) put(item);
    if (!page.has_more) break;
    after = page.after;
  }
  suggest();
  toEnd();
}

// --- around it

function showServers(servers) {
  const chip = ({ name, problem }) =>
    problem ? make("li", { className: "down", title: problem }, `${name}: ${problem}`) : make("li", {}, name);
  $("servers").replaceChildren(...servers.map(chip));
}

const THEMES = ["", "light", "dark"];
const theme = () => document.documentElement.dataset.theme || (systemDark.matches ? "dark" : "light");

function setTheme(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("chat theme", chosen);
  $("theme").ariaLabel = `Theme: ${chosen || "as the system"}`;
  for (const { frame } of shown.values()) frame?.change({ theme: theme() });
}

async function send(text) {
  await ready;
  if (!text.trim() || stopping) return;
  words.value = "";
  toEnd();
  const input = { content: [{ type: "input_text", text }], attachments: [], inference_options: {} };
  void turn(...(thread ? ["threads.add_user_message", { thread_id: thread, input }] : ["threads.create", { input }]));
}

/** Sends the form of a field by Enter, which with Shift is a new line; returns whether it did. */
function sendsOnEnter(event, form) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return false;
  event.preventDefault();
  form.requestSubmit();
  return true;
}

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  void send(words.value);
});
words.addEventListener("keydown", (event) => sendsOnEnter(event, $("composer")));
$("chips").addEventListener("click", ({ target }) => target.closest("button") && send(target.textContent));
$("stop").addEventListener("click", () => stopping?.abort());
$("theme").addEventListener("click", () => {
  const at = THEMES.indexOf(document.documentElement.dataset.theme ?? "");
  setTheme(THEMES[(at + 1) % THEMES.length]);
});
$("saw").addEventListener("click", async () => {
  const seen = thread ? await get(`/chat/seen/${thread}`) : {};
  const nothing = "Nothing yet: no turn of this thread has ended.";
  $("seen").querySelector("pre").textContent = seen.input ? JSON.stringify(seen, null, 2) : nothing;
  $("seen").showModal();
});
systemDark.addEventListener("change", () => setTheme(document.documentElement.dataset.theme ?? ""));

const changes = new EventSource("/chat/live");
const redrawOn = (event, touches) =>
  changes.addEventListener(event, ({ data }) => {
    const change = JSON.parse(data);
    for (const one of shown.values()) {
      if (!one.now || !touches(change, one.now)) continue;
      forget(one.item.id);
      void draw(one);
    }
  });
redrawOn("swap", ({ added, changed, removed }, { tool }) => [...added, ...changed, ...removed].includes(tool));
redrawOn("render", ({ id }, { result }) => result._meta?.["widgetd/render"]?.id === id);

setTheme(localStorage.getItem("chat theme") ?? "");
progress("Starting…");
const ready = begin();
await ready;
document.documentElement.dataset.ready = "true";

/** The server may still be reading its libraries. */
async function begin() {
  state = await get("/chat/state");
  $("model").replaceChildren(...(state.scripted ? ["scripted", make("span", {}, ": no model is asked")] : [state.model]));
  $("chips").replaceChildren(...state.suggestions.map((textContent) => make("li", {}, make("button", { type: "button", textContent }))));
  words.placeholder = state.suggestions[0] ?? "Ask for something that can be seen";
  showServers(state.servers);
  // Their frames open at once later: the browser has the view already.
  for (const tool of state.preload) void fetch(`/chat/frame/${encodeURIComponent(tool)}`);
  const threads = await listThreads(thread);
  const known = threads.some(({ id }) => id === thread);
  await openThread(known ? thread : (threads[0]?.id ?? ""));
  progress("");
}
