/** The page of one address: shows its widget, and says what came of a press. */

import "./element.js";

const view = document.querySelector("widgetd-view");
const title = document.getElementById("title");
const said = document.getElementById("said");
const say = (text) => (said.textContent = text);
const SENT = new Set(["accepted", "done"]);

view.addEventListener("widgetd-open", ({ detail }) => {
  document.title = title.textContent = detail.title;
  title.hidden = false;
  if (!detail.controls) say("Opened in another browser. Ask your assistant for a new address to use it here.");
});
view.addEventListener("widgetd-action", ({ detail }) => {
  if (SENT.has(detail.status)) say("Sent. You can close this page.");
});
view.addEventListener("widgetd-end", ({ detail }) => {
  if (detail.isShown) return say("This widget has expired. Ask your assistant to show it again.");
  document.getElementById("gone").hidden = detail.status !== 404;
  document.title = "Nothing to see";
  if (detail.status !== 404) say("The server cannot be reached. Reload the page to try again.");
});
view.setAttribute("address", location.href);
// Another address of the same render, in the same tab.
addEventListener("hashchange", () => location.reload());
