/** Starts the view in the way its surroundings ask for: in a host, from the page itself, or alone. */

import "virtual:tokens.css";
import "./styles/index.css";
import { serveHost } from "./app/embedded";
import { readInline } from "./app/inline";
import { announceReady } from "./app/ready";
import { Screen } from "./app/screen";
import { NO_PROBLEMS } from "./app/stage";
import type { View } from "./app/view";

const stage = document.getElementById("stage");
if (stage) start(stage);

function start(element: HTMLElement): void {
  const inline = readInline();
  if (window.parent !== window) void serveHost(element, inline);
  else
    preview(
      element,
      inline ?? {
        notice: { kind: "info", text: "A widget appears here once an MCP host opens this page." },
      },
    );
  if (inline) void announceReady();
}

/** Shows the widget with working controls and nobody behind them. */
function preview(element: HTMLElement, view: Partial<View>): void {
  new Screen(element, {
    can: () => true,
    act: async () => NO_PROBLEMS,
    openLink: (url) => void window.open(url, "_blank", "noopener,noreferrer"),
  }).update(view);
}
