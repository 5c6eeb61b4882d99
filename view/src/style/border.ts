/** Turns the borders of a tree into CSS. */

import { isObject } from "../tree/node";
import { oneOf, type Reader, record, type Surroundings } from "../tree/read";
import { color } from "./color";
import { allSides, axesToSides, pixels, type Sides, sidesOf } from "./units";

const STYLES = [
  "solid",
  "dashed",
  "dotted",
  "double",
  "groove",
  "ridge",
  "inset",
  "outset",
] as const;

const edgeRecord = record(
  { size: pixels, color: color("border"), style: oneOf(STYLES, "solid") },
  { short: "size" },
);

/** Reads one edge: a width in pixels, or `{size, color, style}`. */
const edge: Reader<string | undefined> = (value, around) => {
  const { size, color, style } = edgeRecord(value, around) ?? {};
  return size && `${size} ${style} ${color ?? "var(--color-border)"}`;
};

const edgesRecord = sidesOf(edge);

/** Reads a border: one for all edges, or one for each. */
export const border = Object.assign(
  (value: unknown, around: Surroundings): Sides | undefined => {
    if (!isObject(value) || "size" in value) return allSides(edge(value, around));
    const given = edgesRecord(value, around);
    return given && axesToSides(given);
  },
  { schema: edgesRecord.schema, edge: edgeRecord.schema },
);
