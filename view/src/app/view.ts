/** The state of the page as one value. */

import type { HostContext } from "../host/context";
import type { IconSet } from "../style/icons";
import type { WidgetNode } from "../tree/node";
import type { Theme } from "../tree/read";

/** A line beneath the widget; an action is `busy`, then `sent` or a `problem`. */
export interface Notice {
  readonly kind: "info" | "busy" | "sent" | "problem";
  readonly text: string;
  /** Receives the answer to a question. */
  readonly decide?: (agrees: boolean) => void;
}

export interface View {
  /** The widget; `undefined` until a result has come. */
  readonly tree: WidgetNode | undefined;
  readonly icons: IconSet;
  readonly renderId: string | undefined;
  /** The render's version; a lower one never replaces a higher. */
  readonly version: number;
  /** The arguments are coming, the result is not there yet. */
  readonly loading: boolean;
  readonly notice: Notice | undefined;
  readonly theme: Theme;
  readonly context: HostContext;
  /** Style variables of the widgets folder, by theme; they win over the host's. */
  readonly palette: unknown;
}
