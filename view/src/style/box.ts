/** The flex container: what Box, Row, Col and Form have in common. */

import type { CSSProperties } from "preact";
import { nodes, oneOf, type Props } from "../tree/read";
import { BLOCK, blockStyle } from "./block";
import { border } from "./border";
import { background } from "./color";
import { insets, radius, type Sides, spacing } from "./units";

export const ALIGNMENTS = ["start", "center", "end", "baseline", "stretch"] as const;
const FLEX_JUSTIFY = {
  start: "flex-start",
  center: "center",
  end: "flex-end",
  between: "space-between",
  around: "space-around",
  evenly: "space-evenly",
  stretch: "stretch",
} as const;
export const justification = oneOf(
  Object.keys(FLEX_JUSTIFY) as (keyof typeof FLEX_JUSTIFY)[],
  undefined,
);

export const BOX = {
  children: nodes,
  align: oneOf(ALIGNMENTS, undefined),
  justify: justification,
  wrap: oneOf(["nowrap", "wrap", "wrap-reverse"], undefined),
  gap: spacing,
  padding: insets,
  margin: insets,
  border,
  radius,
  background,
  ...BLOCK,
};

const FLEX_ALIGN: Record<string, string> = { start: "flex-start", end: "flex-end" };

const flexAlign = (align: string | undefined) => align && (FLEX_ALIGN[align] ?? align);

/** Buttons and badges keep their own width where a column stretches what is in it: see `--cross`. */
export function alignment(align: string | undefined): CSSProperties {
  const cross = align === "stretch" ? "flex-start" : flexAlign(align);
  return { alignItems: flexAlign(align), "--cross": cross ?? "flex-start" } as CSSProperties;
}

export const flexJustify = (justify: keyof typeof FLEX_JUSTIFY | undefined) =>
  justify && FLEX_JUSTIFY[justify];

export function boxStyle(props: Props<typeof BOX>): CSSProperties {
  return {
    ...blockStyle(props),
    ...alignment(props.align),
    justifyContent: flexJustify(props.justify),
    flexWrap: props.wrap,
    gap: props.gap,
    ...sides("padding", props.padding),
    ...sides("margin", props.margin),
    ...sides("border", props.border),
    borderRadius: props.radius,
    background: props.background,
  };
}

/**
 * Returns `{paddingTop, paddingInlineEnd, …}` of the sides that are given.
 *
 * `left` is where lines begin: what was drawn from the left is mirrored where people read from the
 * right.
 */
export function sides(property: string, given: Sides | undefined): CSSProperties {
  return {
    [`${property}Top`]: given?.top,
    [`${property}InlineEnd`]: given?.right,
    [`${property}Bottom`]: given?.bottom,
    [`${property}InlineStart`]: given?.left,
  };
}
