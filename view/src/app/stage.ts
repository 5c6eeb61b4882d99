/** The services that components use of their page. */

import { createContext } from "preact";
import type { Action } from "../actions/action";
import type { IconSet } from "../style/icons";

/** A user did something: what to send, and how it came about. */
export interface ActionRequest {
  readonly action: Action;
  readonly payload: unknown;
  /** The payload as it may be shown to a model: without passwords. */
  readonly shownPayload: unknown;
  readonly label: string;
  /** A change of one field is worth knowing, but not worth a turn of the conversation. */
  readonly isChange: boolean;
}

/** Problems by field name, which the fields show. */
export type Problems = Readonly<Record<string, string>>;

export interface Stage {
  readonly locale: string;
  /** Icons that came with the tree, by name. */
  readonly icons: IconSet;
  /** Names of the fields that a Label describes. */
  readonly labelled: ReadonlySet<string>;
  can(action: Action): boolean;
  /** Tells whether actions of this type change the page alone. */
  isLocal(type: string): boolean;
  act(request: ActionRequest): Promise<Problems>;
  openLink(url: string): void;
}

export const NO_PROBLEMS: Problems = {};

/** Takes every action, and does nothing. */
export const IDLE: Pick<Stage, "can" | "isLocal" | "act" | "openLink"> = {
  can: () => true,
  isLocal: () => false,
  act: async () => NO_PROBLEMS,
  openLink: () => {},
};

export const StageContext = createContext<Stage>({
  ...IDLE,
  locale: "en",
  icons: {},
  labelled: new Set(),
});
