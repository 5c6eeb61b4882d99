/** The page of a widget that is not there: it becomes the widget's own as soon as there is one. */

import { onChange } from "./live.js";
import "./ui.js";

const { tool } = document.getElementById("main").dataset;

onChange((told) => {
  if (!told || told.added.includes(tool)) location.reload();
});
