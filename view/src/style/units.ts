/** Turns the lengths of a tree into CSS: spacing units, pixels, radii and sides. */

import { DEFAULTS } from "../defaults";
import { isObject } from "../tree/node";
import { type Reader, record, type Surroundings } from "../tree/read";

const UNIT_PX = 4;
const NUMERIC = /^-?\d+(?:\.\d+)?$/;
/** A word that is no length would undo the padding or the size it was written for. */
const LENGTH = /\d|^(?:auto|(?:fit|min|max)-content|var\(.*)$/;
const WORDS: Readonly<Record<string, number>> = DEFAULTS.spacingWords;

/** Reads a length in spacing units of four pixels, or as CSS. */
export const spacing: Reader<string | undefined> = (value) =>
  length(typeof value === "string" && Object.hasOwn(WORDS, value) ? WORDS[value] : value, UNIT_PX);

/** Reads a length in pixels, or as CSS. */
export const pixels: Reader<string | undefined> = (value) => length(value, 1);

function length(value: unknown, unit_px: number): string | undefined {
  const given = typeof value === "string" ? value.trim() : value;
  if (typeof given === "string" && !NUMERIC.test(given))
    return LENGTH.test(given) ? given : undefined;
  const known = typeof given === "number" || typeof given === "string";
  return known && Number.isFinite(Number(given)) ? `${Number(given) * unit_px}px` : undefined;
}

const RADII = ["2xs", "xs", "sm", "md", "lg", "xl", "2xl", "3xl", "4xl", "full"] as const;

export const radius: Reader<string | undefined> = (value) => {
  if (value === "none") return "0";
  if (value === "100%") return "100%";
  return (RADII as readonly unknown[]).includes(value) ? `var(--radius-${value})` : undefined;
};

export type Sides = Readonly<Record<"top" | "right" | "bottom" | "left", string | undefined>>;

/** Returns a reader of `{top, right, bottom, left, x, y}`. */
export const sidesOf = (side: Reader<string | undefined>) =>
  record({ top: side, right: side, bottom: side, left: side, x: side, y: side });

const spacingSides = sidesOf(spacing);

/** Reads padding or margin: one length for all sides, or an object whose sides win over its axes. */
export const insets = Object.assign(
  (value: unknown, around: Surroundings): Sides | undefined => {
    if (!isObject(value)) return allSides(spacing(value, around));
    const given = spacingSides(value, around);
    return given && axesToSides(given);
  },
  { schema: spacingSides.schema },
);

export function allSides(value: string | undefined): Sides | undefined {
  return value === undefined ? undefined : { top: value, right: value, bottom: value, left: value };
}

export function axesToSides(given: Sides & Readonly<Record<"x" | "y", string | undefined>>): Sides {
  return {
    top: given.top ?? given.y,
    right: given.right ?? given.x,
    bottom: given.bottom ?? given.y,
    left: given.left ?? given.x,
  };
}
