/** Starts the view in the way its surroundings ask for: in a host, from the page itself, or alone. */

import "virtual:tokens.css";
import "./styles/index.css";
import { readProgram } from "./app/arguments";
import { Embedded } from "./app/embedded";
import { readInline } from "./app/inline";
import { openWindow } from "./app/link";
import { announceReady } from "./app/ready";
import { Screen } from "./app/screen";
import { IDLE } from "./app/stage";
import type { View } from "./app/view";
import { Host } from "./host/host";
import { Rpc } from "./host/rpc";

const ALONE = "A widget appears here once an MCP host opens this page.";

const stage = document.getElementById("stage");
if (stage) start(stage);

function start(element: HTMLElement): void {
  const inline = readInline();
  if (window.parent === window)
    preview(element, inline ?? { notice: { kind: "info", text: ALONE } });
  else {
    const host = new Host(new Rpc(window.parent));
    void new Embedded(element, host, readProgram()).start(inline ?? {});
  }
  if (inline) void announceReady();
}

/** Shows the widget with working controls whose actions go nowhere. */
function preview(element: HTMLElement, view: Partial<View>): void {
  const screen = new Screen(element, { ...IDLE, openLink: (url) => void openWindow(url) });
  screen.update(view);
  // A camera puts one widget after the other into the page; each is drawn as if it were the first.
  document.addEventListener("widgetd:redraw", () => {
    delete document.documentElement.dataset.ready;
    screen.clear();
    screen.update(readInline() ?? {});
    void announceReady();
  });
}
