/** The size of a block: what Box, Image and Chart have in common. */

import type { CSSProperties } from "preact";
import { optionalText, type Props } from "../tree/read";
import { pixels } from "./units";

export const BLOCK = {
  width: pixels,
  height: pixels,
  size: pixels,
  minWidth: pixels,
  minHeight: pixels,
  minSize: pixels,
  maxWidth: pixels,
  maxHeight: pixels,
  maxSize: pixels,
  /** Such as `1.5` or `"16/9"`. */
  aspectRatio: optionalText,
  /** A number of shares, or any CSS `flex`. */
  flex: optionalText,
};

/** Returns the CSS of a block's size; `size` is shorthand for both directions. */
export function blockStyle(props: Props<typeof BLOCK>): CSSProperties {
  const fixed = props.width ?? props.size;
  return {
    width: fixed,
    height: props.height ?? props.size,
    minWidth: capMinimum(props.minWidth ?? props.minSize),
    minHeight: props.minHeight ?? props.minSize,
    maxWidth: props.maxWidth ?? props.maxSize,
    maxHeight: props.maxHeight ?? props.maxSize,
    aspectRatio: props.aspectRatio,
    flex: props.flex ?? (isPixels(fixed) ? "none" : undefined),
  };
}

/** No minimum is wider than the room. */
const capMinimum = (minimum: string | undefined) =>
  isPixels(minimum) ? `min(${minimum}, 100%)` : minimum;

/** A column of stated pixels keeps them beside a long text. */
const isPixels = (length: string | undefined) => length?.endsWith("px") === true;
