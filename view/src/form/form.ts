/** The form around a control. */

import { createContext, type RefObject } from "preact";
import type { Action } from "../actions/action";

interface FormScope {
  /** Keeps the ids of equally named fields apart from another form's. */
  readonly id: string;
  readonly element: RefObject<HTMLElement>;
  /** Sent by a submit button without an action of its own. */
  readonly submitAction: Action | undefined;
}

export const FormContext = createContext<FormScope | undefined>(undefined);

/**
 * Returns a key handler that submits from a single-line field.
 * A sandbox without `allow-forms` never sends the browser's own submit event.
 */
export function onEnter(submit: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || event.isComposing || event.defaultPrevented) return;
    if (!(event.target instanceof Element) || !event.target.matches(SINGLE_LINE)) return;
    event.preventDefault();
    submit();
  };
}

const SINGLE_LINE =
  "input:not([type=checkbox]):not([type=radio]):not([role=combobox]), textarea[data-lines='1']";
