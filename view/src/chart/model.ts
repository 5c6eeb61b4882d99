/** The content of a chart: series of numbers from its properties, stacked where asked. */

import { DEFAULTS } from "../defaults";
import { color } from "../style/color";
import { asObject, type JsonObject } from "../tree/node";
import {
  number,
  oneOf,
  optionalText,
  type Props,
  type Reader,
  record,
  type Surroundings,
  text,
} from "../tree/read";
import { CURVE_NAMES } from "./curves";

export const series = record(
  {
    type: oneOf(["bar", "area", "line"], "bar"),
    label: optionalText,
    dataKey: text,
    stack: optionalText,
    color: color("chart"),
    curveType: oneOf(CURVE_NAMES, DEFAULTS.chart.curve),
  },
  { needed: "dataKey" },
);
export type SeriesProps = Props<typeof series.schema>;

const flagged: Reader<boolean> = (value) => value === true;
const labels: Reader<JsonObject> = asObject;

/** Reads the x axis: a field's name, or `{dataKey, hide, labels}`. */
export const axis = record({ dataKey: text, hide: flagged, labels }, { short: "dataKey" });
type AxisProps = ReturnType<typeof axis>;

/** From where to where one value is drawn; `null` where the data has none. */
export type Extent = readonly [from: number, to: number] | null;

export type ChartModel = ReturnType<typeof buildChartModel>;
export type Series = ChartModel["series"][number];

export function buildChartModel(
  rows: readonly JsonObject[],
  given: readonly SeriesProps[],
  axis: AxisProps,
  around: Surroundings,
) {
  const bases = new Map<string, number[]>();
  const all = given.map((props, index) => {
    const values = rows.map((row) => number(row[props.dataKey], around));
    const stack =
      props.type !== "line" && props.stack ? `${props.type} ${props.stack}` : `own ${index}`;
    return {
      type: props.type,
      label: props.label || props.dataKey,
      color: props.color ?? paletteColor(index),
      curve: props.curveType,
      /** Series of one stack share it; others have their own. */
      stack,
      values,
      extents: values.map((value, row) => extent(bases, stack, row, value)),
    };
  });
  const ends = all.flatMap(({ extents }) => extents.flatMap((each) => each ?? []));
  return {
    categories: rows.map((row) => category(row, axis)),
    series: all,
    low: Math.min(0, ...ends),
    high: Math.max(0, ...ends),
  };
}

/** Positive values pile up from zero, negative ones down from it. */
function extent(
  bases: Map<string, number[]>,
  stack: string,
  row: number,
  value: number | undefined,
): Extent {
  if (value === undefined) return null;
  const pile = `${stack} ${value < 0 ? "-" : "+"}`;
  const heights = bases.get(pile) ?? [];
  bases.set(pile, heights);
  const from = heights[row] ?? 0;
  heights[row] = from + value;
  return [from, from + value];
}

function category(row: JsonObject, axis: AxisProps): string {
  const value = String(row[axis?.dataKey ?? ""] ?? "");
  return String(new Map(Object.entries(axis?.labels ?? {})).get(value) ?? value);
}

function paletteColor(index: number): string {
  const { palette, shade } = DEFAULTS.chart;
  return `var(--${palette[index % palette.length]}-${shade})`;
}
