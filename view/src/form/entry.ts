/** The behaviour of typed fields: focus, selection, autofill, pattern and growth. */

import type { RefObject } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { flag, optionalText, type Props, text } from "../tree/read";

type TextControl = HTMLInputElement | HTMLTextAreaElement;

/** What is read of every typed field. */
export const TYPED = {
  name: text,
  required: flag(false),
  pattern: optionalText,
  placeholder: optionalText,
  allowAutofillExtensions: flag(false),
  autoSelect: flag(false),
  autoFocus: flag(false),
};

interface Entry extends Props<typeof TYPED> {
  readonly autoComplete?: string | undefined;
  /** A textarea as tall as its text, up to `maxRows`. */
  readonly grows: boolean;
  readonly maxRows: number | undefined;
}

/** Attributes that keep the common password managers from filling a field. */
const NO_AUTOFILL = {
  autoComplete: "off",
  "data-1p-ignore": "true",
  "data-bwignore": "true",
  "data-lpignore": "true",
};

export function useEntry(ref: RefObject<TextControl>, entry: Entry) {
  const { autoFocus, autoSelect, pattern, grows } = entry;
  useLayoutEffect(() => {
    if (autoFocus) ref.current?.focus({ preventScroll: true });
    if (autoSelect) ref.current?.select();
  }, [ref, autoFocus, autoSelect]);
  const settle = (): void => {
    const control = ref.current;
    if (!(control instanceof HTMLTextAreaElement)) return;
    if (grows) grow(control);
    control.setCustomValidity(matches(pattern, control.value) ? "" : MISMATCH);
  };
  useLayoutEffect(settle);
  return {
    onInput: settle,
    ...(autoSelect && { onFocus: () => ref.current?.select() }),
    ...(!entry.allowAutofillExtensions && NO_AUTOFILL),
    ...(entry.autoComplete && { autoComplete: entry.autoComplete }),
    ...(entry.maxRows && {
      style: { maxHeight: `calc(${entry.maxRows}lh + 2 * var(--pad-y, 0px))` },
    }),
  };
}

function grow(control: HTMLTextAreaElement): void {
  control.style.height = "auto";
  if (control.scrollHeight) control.style.height = `${control.scrollHeight}px`;
}

/** The browser checks patterns of inputs, but not of textareas. A broken pattern matches all. */
function matches(pattern: string | undefined, value: string): boolean {
  if (!pattern || !value) return true;
  try {
    return new RegExp(`^(?:${pattern})$`, "v").test(value);
  } catch {
    return true;
  }
}

const MISMATCH = "Please match the requested format.";
