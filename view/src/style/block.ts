/** The size of a block: what Box, Image and Chart have in common. */

import type { CSSProperties } from "preact";
import type { Props } from "../tree/read";
import { flex, pixels, ratio } from "./units";

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
  aspectRatio: ratio,
  flex,
};

/** Returns the CSS of a block's size; `size` is shorthand for both directions. */
export function blockStyle(props: Props<typeof BLOCK>): CSSProperties {
  const fixed = props.width ?? props.size;
  return {
    width: fixed,
    height: props.height ?? props.size,
    minWidth: least(props.minWidth ?? props.minSize, props.flex),
    minHeight: props.minHeight ?? props.minSize,
    maxWidth: props.maxWidth ?? props.maxSize,
    maxHeight: props.maxHeight ?? props.maxSize,
    aspectRatio: props.aspectRatio,
    flex: props.flex ?? (isPixels(fixed) ? "none" : undefined),
  };
}

/** No minimum is wider than the room; what shares the room may shrink below its content. */
function least(minimum: string | undefined, flex: string | undefined): string | undefined {
  if (isPixels(minimum)) return `min(${minimum}, 100%)`;
  return minimum ?? (flex ? "0" : undefined);
}

/** A column of stated pixels keeps them beside a long text. */
const isPixels = (length: string | undefined) => length?.endsWith("px") === true;
