/** Keeps the screen in step with the host: what it says is shown, what the user does is sent. */

import { actionsIn } from "../actions/action";
import { Dispatcher } from "../actions/dispatch";
import { Host } from "../host/host";
import type { Rendered } from "../host/result";
import { Rpc } from "../host/rpc";
import { announceReady } from "./ready";
import { Screen } from "./screen";
import { watchSize } from "./size";
import type { Notice, View } from "./view";

/** Serves the host that embeds this page; `initial` is shown until the host says otherwise. */
export async function serveHost(
  element: HTMLElement,
  initial: Partial<View> | undefined,
): Promise<void> {
  const host = new Host(new Rpc(window.parent));
  const show = (result: Rendered): void => {
    screen.update({
      tree: result.tree,
      icons: result.icons,
      renderId: result.renderId ?? screen.view.renderId,
      loading: false,
      notice: result.tree ? undefined : emptiness(result),
    });
    explainInertness();
    void announceReady();
  };
  const dispatcher = new Dispatcher(host, {
    renderId: () => screen.view.renderId,
    show,
    complain: (text) => screen.update({ notice: { kind: "problem", text } }),
  });
  const screen = new Screen(element, {
    can: (action) => dispatcher.can(action),
    act: (request) => dispatcher.send(request),
    openLink: (url) => void openLink(host, url),
  });
  const explainInertness = (): void => {
    const { tree, notice } = screen.view;
    const inert = [...actionsIn(tree)].some((action) => !dispatcher.can(action));
    if (inert && !notice) screen.update({ notice: INERT });
  };
  if (initial) screen.update(initial);
  const stopWatching = watchSize((width, height) => host.resized(width, height));
  await host.connect({
    inputArrived: () => screen.update({ loading: true, notice: undefined }),
    resultArrived: show,
    cancelled: (reason) => screen.update({ loading: false, notice: cancelled(reason) }),
    contextChanged: (context) => screen.update({ context }),
    tornDown: () => {
      stopWatching();
      screen.clear();
    },
  });
  explainInertness();
}

const INERT: Notice = {
  kind: "info",
  text: "This host cannot take the actions of this widget, so those controls are off.",
};

function emptiness({ isError, text }: Rendered): Notice {
  if (isError) return { kind: "problem", text: text || "The tool failed." };
  return { kind: "info", text: text || "This result holds no widget." };
}

function cancelled(reason: string): Notice {
  return { kind: "info", text: reason ? `Cancelled: ${reason}` : "Cancelled." };
}

/** A host that opens no links leaves it to the browser, which the sandbox may forbid. */
async function openLink(host: Host, url: string): Promise<void> {
  if (host.can("openLinks")) await host.openLink(url).catch(() => undefined);
  else window.open(url, "_blank", "noopener,noreferrer");
}
