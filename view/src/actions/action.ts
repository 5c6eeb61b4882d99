/** The action that a component declares: ChatKit's `ActionConfig`. */

import { isObject } from "../tree/node";
import { flag, oneOf, type Props, type Reader, record, text } from "../tree/read";

const asGiven: Reader<unknown> = (value) => value;

const actionRecord = record({
  type: text,
  payload: asGiven,
  handler: oneOf(["client", "server"], "server"),
  loadingBehavior: oneOf(["auto", "none", "self", "container"], "auto"),
  streaming: flag(true),
});

export type Action = Props<typeof actionRecord.schema>;

/** Reads an action; one without a type is none. */
export const action = Object.assign(
  ((value, around) => {
    const given = actionRecord(value, around);
    return given?.type ? given : undefined;
  }) satisfies Reader<Action | undefined>,
  { schema: actionRecord.schema },
);

/** Visits every action in a tree, wherever a component keeps it. */
export function* actionsIn(value: unknown): Generator<Action> {
  if (Array.isArray(value)) for (const item of value) yield* actionsIn(item);
  if (!isObject(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    const found = /(?:^a|A)ction$/.test(name) ? action(inner, { theme: "light" }) : undefined;
    if (found) yield found;
    else yield* actionsIn(inner);
  }
}
