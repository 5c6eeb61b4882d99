/** Words too long for a narrow column. */

import type { ComponentChildren } from "preact";

/** Columns make room for words of up to 20 characters. */
const LONG_WORD = /(\S{21,})/;

/** Returns `value` with each address, hash and the like in an element that may be broken anywhere. */
export function markLongWords(value: string): ComponentChildren {
  const parts = value.split(LONG_WORD);
  if (parts.length === 1) return value;
  return parts.map((part, at) => (at % 2 ? <span class="long">{part}</span> : part));
}
