/** Messages of the widget to its host: newest first, and no more than a person would read. */

import { count } from "./tabs.js";
import { make } from "./ui.js";

const MOST = 100;
let total = 0;

export function log(sent) {
  const list = document.getElementById("log");
  if (!list) return;
  list.prepend(make("li", {}, ...ROWS[sent.kind](sent)));
  if (list.children.length > MOST) list.lastElementChild.remove();
  count("actions", ++total);
}

const head = (kind, name) =>
  make(
    "p",
    {},
    make("span", { className: "kind", textContent: kind }),
    make("code", { textContent: name }),
    make("time", { textContent: new Date().toLocaleTimeString() }),
  );

const ROWS = {
  action: ({ action, payload, problem, test }) => [
    head(problem ? "Refused" : "Queued", action),
    make("pre", { tabIndex: 0 }, make("code", { textContent: JSON.stringify(payload, null, 2) })),
    make("p", { className: problem ? "problem" : "quiet", textContent: problem || "For await_widget_action to read." }),
    make("p", {}, make("button", { type: "button", className: "copy", "data-copy": test, textContent: "Copy as test" })),
  ],
  message: ({ text }) => [head("A turn for the model", ""), make("p", { className: "quote", textContent: text })],
  context: ({ text }) => [head("Context for the model", ""), make("p", { className: "quote", textContent: text })],
  link: ({ url }) => [
    head("Opens a link", ""),
    make("p", {}, /^https?:/.test(url) ? make("a", { href: url, target: "_blank", rel: "noopener noreferrer", textContent: url }) : url),
  ],
};
