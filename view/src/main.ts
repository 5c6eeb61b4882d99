/** Starts the view in the way its surroundings ask for: in a host, from the page itself, or alone. */

import "virtual:tokens.css";
import "./styles/index.css";
import { Embedded } from "./app/embedded";
import { readInline } from "./app/inline";
import { openWindow } from "./app/link";
import { announceReady } from "./app/ready";
import { Screen } from "./app/screen";
import { NO_PROBLEMS } from "./app/stage";
import type { View } from "./app/view";
import { Host } from "./host/host";
import { Rpc } from "./host/rpc";

const ALONE: Partial<View> = {
  notice: { kind: "info", text: "A widget appears here once an MCP host opens this page." },
};

const stage = document.getElementById("stage");
if (stage) start(stage);

function start(element: HTMLElement): void {
  const inline = readInline();
  if (window.parent === window) preview(element, inline ?? ALONE);
  else void new Embedded(element, new Host(new Rpc(window.parent))).start(inline ?? {});
  if (inline) void announceReady();
}

/** Shows the widget with working controls and nobody behind them. */
function preview(element: HTMLElement, view: Partial<View>): void {
  new Screen(element, {
    can: () => true,
    act: async () => NO_PROBLEMS,
    openLink: (url) => void openWindow(url),
  }).update(view);
}
