/** A page of the guide: its blocks can be copied, and it keeps the theme. */

import "./live.js";
import { carry, onKeys, remembered } from "./ui.js";

const search = document.getElementById("q");
carry("theme", remembered("theme") === "both" ? "" : remembered("theme"));
onKeys({
  "/": ["Search all widgets", () => search.focus()],
  Escape: ["Leave the search", () => search.blur()],
});
