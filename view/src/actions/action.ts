/** The action that a component declares: ChatKit's `ActionConfig`. */

import { isObject } from "../tree/node";
import { flag, oneOf, type Props, type Reader, record, text } from "../tree/read";

const asGiven: Reader<unknown> = (value) => value;

export const action = record(
  {
    type: text,
    payload: asGiven,
    handler: oneOf(["client", "server"], "server"),
    loadingBehavior: oneOf(["auto", "none", "self", "container"], "auto"),
    streaming: flag(true),
  },
  { needed: "type" },
);

export type Action = Props<typeof action.schema>;

/** Returns the label of the control that takes an action of this type, other than by a change. */
export function findLabel(tree: unknown, type: string): string | undefined {
  if (Array.isArray(tree)) return tree.map((one) => findLabel(one, type)).find(isFound);
  if (!isObject(tree)) return undefined;
  const taken = Object.entries(tree).some(
    ([name, value]) =>
      /(?:^a|A)ction$/.test(name) &&
      name !== "onChangeAction" &&
      isObject(value) &&
      value.type === type,
  );
  if (taken && tree.type === "Form") return findSubmitLabel(tree) ?? "";
  if (taken) return typeof tree.label === "string" ? tree.label : "";
  return Object.values(tree)
    .map((one) => findLabel(one, type))
    .find(isFound);
}

const isFound = (label: string | undefined) => label !== undefined;

function findSubmitLabel(form: unknown): string | undefined {
  if (Array.isArray(form)) return form.map(findSubmitLabel).find(isFound);
  if (!isObject(form)) return undefined;
  if (form.submit === true && typeof form.label === "string") return form.label;
  return findSubmitLabel(form.children);
}

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
