/** A conversation by ChatKit's own protocol: what is said goes up as JSON, what happens comes down as events. */

import { Frame } from "./host.js";

const $ = (id) => document.getElementById(id);
const list = $("items");
const words = $("words");
const systemDark = matchMedia("(prefers-color-scheme: dark)");
/** By id: an item's place on the page, what it is, and for a widget its frame and what it shows. */
const shown = new Map();
let thread = location.hash.slice(1);
let stopping;

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function fetched(path, options) {
  const response = await fetch(path, options);
  if (response.ok) return response;
  const said = await response.json().catch(() => ({}));
  const error = new Error(said.error ?? `the server answered ${response.status}`);
  throw Object.assign(error, { answered: true });
}

const ask = (type, params, signal) => fetched("/chatkit", { method: "POST", body: JSON.stringify({ type, params }), signal });
const get = async (path) => (await fetched(path)).json();

// --- a turn

/** Sends what starts a turn, and follows its events to the end. */
async function turn(type, params, heard = () => {}) {
  stopping?.abort();
  const mine = (stopping = new AbortController());
  busy(true);
  try {
    const response = await ask(type, params, mine.signal);
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
  } finally {
    if (stopping === mine) busy(false);
  }
}

function busy(is) {
  if (!is) stopping = undefined;
  $("send").hidden = is;
  $("stop").hidden = !is;
  progress(is ? "Thinking…" : "");
  list.setAttribute("aria-busy", is);
}

const progress = (text) => ($("progress").textContent = text);

const EVENTS = {
  "thread.created": ({ thread: one }) => {
    thread = one.id;
    history.replaceState(null, "", `#${thread}`);
  },
  "thread.updated": () => void listThreads(),
  "thread.item.added": put,
  "thread.item.done": put,
  "thread.item.replaced": put,
  "thread.item.removed": ({ item_id }) => drop(item_id),
  "thread.item.updated": ({ item_id, update }) => UPDATES[update.type]?.(shown.get(item_id) ?? {}, update),
  progress_update: ({ text }) => progress(text),
  client_effect: ({ name, data }) => name === "widgetd.servers" && showServers(data.servers),
  notice: ({ level, message }) => say(level, message),
  error: ({ message, allow_retry }) => fail(message ?? "Something went wrong.", allow_retry),
};

const whole = (one, { content_index, content }) => text(one, content_index, content.text);
const task = (one, { task_index, task }) => row(one, task_index, task);
const UPDATES = {
  "assistant_message.content_part.added": whole,
  "assistant_message.content_part.text_delta": (one, { content_index, delta }) =>
    text(one, content_index, (one.parts?.[content_index] ?? "") + delta),
  "assistant_message.content_part.done": whole,
  "workflow.task.added": task,
  "workflow.task.updated": task,
  "widget.root.updated": (one, { widget }) => picture(one, () => widget),
  "widget.component.updated": (one, { component_id, component }) =>
    picture(one, (tree) => within(tree, component_id, () => component)),
  "widget.streaming_text.value_delta": (one, { component_id, delta }) =>
    picture(one, (tree) => within(tree, component_id, (part) => ({ ...part, value: (part.value ?? "") + delta }))),
};

// Whatever grows, the end stays in view until the reader scrolls up.
const main = document.querySelector("main");
let following = true;
let lastTop = 0;
main.addEventListener("scroll", () => {
  const below = main.scrollHeight - main.scrollTop - main.clientHeight;
  following = below < 120 || (following && main.scrollTop >= lastTop);
  lastTop = main.scrollTop;
});
new ResizeObserver(() => following && toEnd()).observe(list);

function toEnd() {
  following = true;
  main.scrollTop = main.scrollHeight;
}

// --- items

function put({ item }) {
  $("hello").hidden = true;
  let one = shown.get(item.id);
  if (!one) {
    one = { place: make("li", { className: item.type }), parts: [] };
    one.place.dataset.id = item.id;
    shown.set(item.id, one);
    list.append(one.place);
  }
  one.item = item;
  item.content?.forEach((part, at) => text(one, at, part.text));
  item.workflow?.tasks.forEach((task, at) => row(one, at, task));
  if (item.widget) void draw(one);
}

function drop(id) {
  const one = shown.get(id);
  one?.frame?.remove();
  one?.place.remove();
  shown.delete(id);
}

function text(one, at, value) {
  if (!one.parts) return;
  one.parts[at] = value;
  one.place.textContent = one.parts.join("\n\n");
}

/** One call of a tool: its name, how long it took and what it cost; folded, what went in and came out. */
function row(one, at, task) {
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
  const last = [...shown.values()].filter(({ item }) => item?.type === "user_message").pop();
  if (!retry || !last) return say("error", message);
  const again = make("button", { type: "button", textContent: "Try again" });
  again.addEventListener("click", () => {
    again.parentElement.remove();
    const ids = [...shown.keys()];
    ids.slice(ids.indexOf(last.item.id) + 1).forEach(drop);
    void turn("threads.retry_after_item", { thread_id: thread, item_id: last.item.id });
  });
  say("error", message, again);
}

// --- widgets

const KEPT = { session: sessionStorage, persistent: localStorage };

/** What a widget shows now, from where its author lets it be kept; else from the server. */
async function fetchWidget(id) {
  const key = `widget ${id}`;
  for (const store of Object.values(KEPT)) {
    const kept = store.getItem(key);
    if (kept) return JSON.parse(kept);
  }
  const found = await get(`/chat/widgets/${thread}/${id}`);
  try {
    KEPT[found.ui?.cacheStrategy]?.setItem(key, JSON.stringify(found));
  } catch {
    // There is no room; the server has it.
  }
  return found;
}

const forget = (id) => Object.values(KEPT).forEach((store) => store.removeItem(`widget ${id}`));

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
    sized: (height) => (one.frame.element.style.height = `${height}px`),
    sent: ({ kind, url }) => kind === "link" && window.open(url, "_blank", "noopener"),
    act: (taken) => act(one, taken),
  });
  one.frame.show(result);
  one.place.replaceChildren(one.frame.element);
}

/** Takes an action; the widget hears at once whether it was, and the agent goes on. */
function act(one, { action, payload }) {
  return new Promise((done, failed) => {
    const params = { thread_id: thread, item_id: one.item.id, action: { type: action, payload } };
    const heard = ({ type, name, data }) => {
      if (type === "client_effect" && name === "widgetd.action") done(data.result);
    };
    turn("threads.custom_action", params, heard).then(() => failed(new Error("it was not taken")));
  });
}

/** Shows what the stream makes of a tree. */
function picture(one, changed) {
  if (!one.item) return;
  one.item = { ...one.item, widget: changed(one.item.widget) };
  one.frame?.show({ structuredContent: one.item.widget });
}

function within(tree, id, change) {
  if (tree?.id === id) return change(tree);
  if (!Array.isArray(tree?.children)) return tree;
  return { ...tree, children: tree.children.map((each) => within(each, id, change)) };
}

// --- threads

async function openThread(id) {
  stopping?.abort();
  for (const key of [...shown.keys()]) drop(key);
  list.replaceChildren();
  thread = id;
  history.replaceState(null, "", id ? `#${id}` : location.pathname);
  $("hello").hidden = Boolean(id);
  await listThreads();
  if (!id) return words.focus();
  for (let after = null; ; ) {
    const page = await (await ask("items.list", { thread_id: id, order: "asc", limit: 100, after })).json();
    for (const item of page.data) put({ item });
    if (!page.has_more) break;
    after = page.after;
  }
  toEnd();
}

async function listThreads() {
  const { data } = await (await ask("threads.list", { limit: 100, order: "desc" })).json();
  const options = data.map((one) => make("option", { value: one.id, textContent: one.title ?? "Untitled" }));
  $("threads").replaceChildren(make("option", { value: "", textContent: "New thread" }), ...options);
  $("threads").value = thread;
  return data;
}

// --- around it

function showServers(servers) {
  const chip = ({ name, problem }) =>
    problem ? make("li", { className: "down", title: problem }, `${name}: ${problem}`) : make("li", {}, name);
  $("servers").replaceChildren(...servers.map(chip));
}

const THEMES = ["", "light", "dark"];
const theme = () => document.documentElement.dataset.theme || (systemDark.matches ? "dark" : "light");

function dress(chosen) {
  if (chosen) document.documentElement.dataset.theme = chosen;
  else delete document.documentElement.dataset.theme;
  localStorage.setItem("chat theme", chosen);
  $("theme").ariaLabel = `Theme: ${chosen || "as the system"}`;
  for (const { frame } of shown.values()) frame?.change({ theme: theme() });
}

async function send(said) {
  await ready;
  if (!said.trim() || stopping) return;
  words.value = "";
  toEnd();
  const input = { content: [{ type: "input_text", text: said }], attachments: [], inference_options: {} };
  void turn(...(thread ? ["threads.add_user_message", { thread_id: thread, input }] : ["threads.create", { input }]));
}

$("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  void send(words.value);
});
words.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  $("composer").requestSubmit();
});
$("hello").addEventListener("click", ({ target }) => target.closest("button") && send(target.textContent));
$("stop").addEventListener("click", () => stopping?.abort());
$("new").addEventListener("click", () => void openThread(""));
$("threads").addEventListener("change", ({ target }) => void openThread(target.value));
$("theme").addEventListener("click", () => {
  const at = THEMES.indexOf(document.documentElement.dataset.theme ?? "");
  dress(THEMES[(at + 1) % THEMES.length]);
});
$("saw").addEventListener("click", async () => {
  const seen = thread ? await get(`/chat/seen/${thread}`) : {};
  const nothing = "Nothing yet: no turn of this thread has ended.";
  $("seen").querySelector("pre").textContent = seen.input ? JSON.stringify(seen, null, 2) : nothing;
  $("seen").showModal();
});
systemDark.addEventListener("change", () => dress(document.documentElement.dataset.theme ?? ""));

const news = new EventSource("/chat/live");
const redrawn = (event, touches) =>
  news.addEventListener(event, ({ data }) => {
    const told = JSON.parse(data);
    for (const one of shown.values()) {
      if (!one.now || !touches(told, one.now)) continue;
      forget(one.item.id);
      void draw(one);
    }
  });
redrawn("swap", ({ added, changed, removed }, { tool }) => [...added, ...changed, ...removed].includes(tool));
redrawn("render", ({ id }, { result }) => result._meta?.["widgetd/render"]?.id === id);

dress(localStorage.getItem("chat theme") ?? "");
progress("Starting…");
const ready = begin();
await ready;
document.documentElement.dataset.ready = "true";

/** The server may still be reading its libraries. */
async function begin() {
  const state = await get("/chat/state");
  $("model").textContent = state.scripted ? "scripted: no model is asked" : state.model;
  showServers(state.servers);
  // Their frames open at once later: the browser has the view already.
  for (const tool of state.preload) void fetch(`/chat/frame/${encodeURIComponent(tool)}`);
  const threads = await listThreads();
  const known = threads.some(({ id }) => id === thread);
  await openThread(known ? thread : (threads[0]?.id ?? ""));
  progress("");
}
