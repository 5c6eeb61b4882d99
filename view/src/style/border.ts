/** Turns the borders of a tree into CSS. */

import { isObject } from "../tree/node";
import { oneOf, type Reader, record, type Surroundings } from "../tree/read";
import { color } from "./color";
import { allSides, axesToSides, pixels, type Sides } from "./units";

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

const edgeRecord = record({ size: pixels, color: color("border"), style: oneOf(STYLES, "solid") });

/** Reads one edge: a width in pixels, or `{size, color, style}`. */
const edge: Reader<string | undefined> = (value, around) => {
  const given = isObject(value) ? value : { size: value };
  const { size, color, style } = edgeRecord(given, around) ?? {};
  return size && `${size} ${style} ${color ?? "var(--color-border)"}`;
};

const edgesRecord = record({ top: edge, right: edge, bottom: edge, left: edge, x: edge, y: edge });

/** Reads a border: one for all edges, or one for each. */
export const border = Object.assign(
  (value: unknown, around: Surroundings): Sides<string> | undefined => {
    if (!isObject(value) || "size" in value) return allSides(edge(value, around));
    const given = edgesRecord(value, around);
    return given && axesToSides(given);
  },
  { schema: edgesRecord.schema, edge: edgeRecord.schema },
);
