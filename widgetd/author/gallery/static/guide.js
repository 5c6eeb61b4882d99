/** A page of the guide: its blocks can be copied, and it keeps the theme. */

import "./live.js";
import { carry, onKeys, recall } from "./ui.js";

const search = document.getElementById("q");
carry("theme", recall("theme") === "both" ? "" : recall("theme"));
onKeys({
  "/": ["Search all widgets", () => search.focus()],
  Escape: ["Leave the search", () => search.blur()],
});
