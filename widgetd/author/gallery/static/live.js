/**
 * Receives changes once for all tabs: a browser opens only six connections to one origin,
 * so the tab that holds the lock listens, and informs the others.
 */

import { isBuilt } from "./ui.js";

const NAMES = ["hello", "swap", "render"];
const listeners = new Set();
const onRenders = new Set();
const sign = document.querySelector("[data-live]");
/** The digest of the snapshot that this page shows. */
let { mark } = sign.dataset;

/** Calls `changed` with the changes of a swap; with `undefined` if some may have been missed. */
export function onChange(changed) {
  listeners.add(changed);
}

/** Calls `replaced` with the id of each render that has another version. */
export function onRender(replaced) {
  onRenders.add(replaced);
}

const channel = new BroadcastChannel("widgetd");

if (isBuilt) show("built");
else follow();

function follow() {
  channel.onmessage = ({ data }) => hear(data);
  if (navigator.locks) void navigator.locks.request("widgetd-live", listen);
  else void listen();
  show("wait");
  channel.postMessage({ name: "who" });
}

function listen() {
  const source = new EventSource("/gallery/live");
  const pass = (message) => {
    channel.postMessage(message);
    hear(message);
  };
  for (const name of NAMES) {
    source.addEventListener(name, ({ data }) => pass({ name, content: JSON.parse(data) }));
  }
  source.onerror = () => pass({ name: "lost" });
  channel.addEventListener("message", ({ data }) => {
    if (data.name === "who" && source.readyState === EventSource.OPEN) {
      channel.postMessage({ name: "hello", content: { mark } });
    }
  });
  addEventListener("pagehide", () => source.close());
  return new Promise(() => {});
}

function hear({ name, content }) {
  if (name === "lost") show("lost");
  if (name === "render") for (const replaced of onRenders) replaced(content.id);
  if (name !== "hello" && name !== "swap") return;
  show("live");
  const missed = name === "hello" && mark !== content.mark;
  mark = content.mark;
  if (name === "swap" || missed) for (const changed of listeners) changed(missed ? undefined : content);
}

function show(state) {
  sign.dataset.live = state;
  sign.firstElementChild.textContent = { wait: "Connecting", live: "Live", lost: "Offline", built: "Built beforehand" }[state];
}
