/** Everything the page shows, as one value: a new picture is a new value. */

import type { HostContext } from "../host/context";
import type { IconSet } from "../style/icons";
import type { WidgetNode } from "../tree/node";
import type { Theme } from "../tree/read";

/** What is said beneath the widget; `busy`, then `sent` or `problem`, is how an action fares. */
export interface Notice {
  readonly kind: "info" | "busy" | "sent" | "problem";
  readonly text: string;
  /** Of a question: hears the user's answer. */
  readonly decide?: (agrees: boolean) => void;
}

export interface View {
  /** What is shown; `undefined` until a result has come. */
  readonly tree: WidgetNode | undefined;
  readonly icons: IconSet;
  readonly renderId: string | undefined;
  /** Of the render; a lower one never takes the place of a higher. */
  readonly version: number;
  /** The arguments are coming, the result is not there yet. */
  readonly loading: boolean;
  readonly notice: Notice | undefined;
  readonly theme: Theme;
  readonly context: HostContext;
}

export const NO_CONTEXT: HostContext = {
  theme: undefined,
  locale: undefined,
  displayMode: "inline",
  fontFamily: undefined,
  title: undefined,
  tool: undefined,
  insets: { top: 0, right: 0, bottom: 0, left: 0 },
};
