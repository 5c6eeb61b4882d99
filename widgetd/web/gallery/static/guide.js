/** A page of the guide: blocks that can be copied, and the components as they are drawn. */

import { Frame } from "./host.js";
import "./live.js";
import { at, carry, nearing, onKeys, recall, systemTheme } from "./ui.js";

const search = document.getElementById("q");
const sight = nearing((place) => {
  const { title, tree } = place.dataset;
  const sized = (height) => (frame.element.style.height = `${height}px`);
  const theme = recall("theme") || systemTheme();
  const frame = new Frame({ tool: title, title, theme, src: at("/gallery/frame"), sized });
  frame.show({ structuredContent: JSON.parse(tree) });
  place.append(frame.element);
});
for (const place of document.querySelectorAll(".drawn")) sight.observe(place);
carry("theme", recall("theme") === "both" ? "" : recall("theme"));
onKeys({
  "/": ["Search all widgets", () => search.focus()],
  Escape: ["Leave the search", () => search.blur()],
});
