/** The action that a component declares: ChatKit's `ActionConfig`. */

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
