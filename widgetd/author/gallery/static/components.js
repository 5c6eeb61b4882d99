/** The page of components: each sheet draws itself in both themes when it comes into sight. */

import "./guide.js";
import { Frame } from "./host.js";
import { at, nearing, request } from "./ui.js";

const sight = nearing(async (sheet) => {
  const { component } = sheet.dataset;
  const response = await request(at(`/gallery/sheet/${encodeURIComponent(component)}.json`));
  if (!response.ok) return;
  const { result } = await response.json();
  for (const theme of ["light", "dark"]) {
    const sized = (height) => (frame.element.style.height = `${height}px`);
    const frame = new Frame({ tool: component, title: component, theme, src: at("/gallery/frame"), sized });
    sheet.append(frame.element);
    frame.show(result);
  }
});
for (const sheet of document.querySelectorAll(".sheet")) sight.observe(sheet);
