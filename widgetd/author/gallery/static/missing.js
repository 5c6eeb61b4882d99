/** The page of an absent widget: it becomes the widget's page as soon as there is one. */

import { onChange } from "./live.js";
import "./ui.js";

const { tool } = document.getElementById("main").dataset;

onChange((change) => {
  if (!change || change.added.includes(tool)) location.reload();
});
