/** The sizes and variants that buttons and fields share. */

import type { CSSProperties } from "preact";

export const CONTROL_SIZES = ["3xs", "2xs", "xs", "sm", "md", "lg", "xl", "2xl", "3xl"] as const;
export const CONTROL_VARIANTS = ["solid", "soft", "outline", "ghost"] as const;
export const FIELD_VARIANTS = ["soft", "outline"] as const;
export const GUTTER_SIZES = ["2xs", "xs", "sm", "md", "lg", "xl"] as const;

interface Look {
  readonly size: string;
  readonly variant: string;
  readonly pill?: boolean;
  readonly block?: boolean;
  readonly gutterSize?: string | undefined;
}

/** Returns the class and style of a field that looks so. */
export function look(props: Look): { class: string; style: CSSProperties } {
  const classes = ["control", `control-${props.size}`, props.variant];
  if (props.pill) classes.push("pill");
  if (props.block) classes.push("block");
  const style = props.gutterSize ? { "--gutter": `var(--control-gutter-${props.gutterSize})` } : {};
  return { class: classes.join(" "), style: style as CSSProperties };
}
