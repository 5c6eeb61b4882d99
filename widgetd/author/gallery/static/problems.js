/** Fetches the findings of a widget, and shows them under their tab. */

import { count } from "./tabs.js";
import { at, isClean, request } from "./ui.js";

export async function showProblems(tool) {
  if (isClean) return;
  const response = await request(at(`/w/${tool}/problems`));
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  document.getElementById("found-problems").replaceChildren(...page.body.childNodes);
  // An open editor counts the findings of its draft.
  if (document.getElementById("edit-code")?.shadowRoot) return;
  count(document.getElementById("tab-edit") ? "edit" : "source", document.querySelectorAll("#found-problems .fault").length);
}
