/** The content of a chart: series of numbers from its properties, stacked where asked. */

import { DEFAULTS } from "../defaults";
import { color } from "../style/color";
import { isObject, type JsonObject } from "../tree/node";
import { number, oneOf, optionalText, type Props, type Reader, record, text } from "../tree/read";
import { CURVE_NAMES } from "./curves";

const seriesRecord = record({
  type: oneOf(["bar", "area", "line"], "bar"),
  label: optionalText,
  dataKey: text,
  stack: optionalText,
  color: color("chart"),
  curveType: oneOf(CURVE_NAMES, DEFAULTS.chart.curve),
});
export type SeriesProps = Props<typeof seriesRecord.schema>;

/** Reads one series; without a `dataKey` it shows nothing. */
export const series = Object.assign(
  ((value, around) => {
    const given = seriesRecord(value, around);
    return given?.dataKey ? given : undefined;
  }) satisfies Reader<SeriesProps | undefined>,
  { schema: seriesRecord.schema },
);

const flagged: Reader<boolean> = (value) => value === true;
const labels: Reader<JsonObject> = (value) => (isObject(value) ? value : {});
const axisRecord = record({ dataKey: text, hide: flagged, labels });
export type AxisProps = Props<typeof axisRecord.schema>;

/** Reads the x axis: a field's name, or `{dataKey, hide, labels}`. */
export const axis = Object.assign(
  ((value, around) => {
    const given = isObject(value) ? value : { dataKey: value };
    return axisRecord(given, around) as AxisProps;
  }) satisfies Reader<AxisProps>,
  { schema: axisRecord.schema },
);

/** From where to where one value is drawn; `null` where the data has none. */
export type Extent = readonly [from: number, to: number] | null;

export interface Series {
  readonly type: "bar" | "area" | "line";
  readonly label: string;
  readonly color: string;
  readonly curve: SeriesProps["curveType"];
  /** Series of one stack share it; others have their own. */
  readonly stack: string;
  readonly values: readonly (number | undefined)[];
  readonly extents: readonly Extent[];
}

export interface ChartModel {
  readonly categories: readonly string[];
  readonly series: readonly Series[];
  readonly low: number;
  readonly high: number;
}

export function buildChartModel(
  rows: readonly JsonObject[],
  given: readonly SeriesProps[],
  axis: AxisProps,
  around: { readonly theme: "light" | "dark" },
): ChartModel {
  const bases = new Map<string, number[]>();
  const all = given.map((props, index): Series => {
    const values = rows.map((row) => number(row[props.dataKey], around));
    const stack =
      props.type !== "line" && props.stack ? `${props.type} ${props.stack}` : `own ${index}`;
    return {
      type: props.type,
      label: props.label || props.dataKey,
      color: props.color ?? paletteColor(index),
      curve: props.curveType,
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
  const value = String(row[axis.dataKey] ?? "");
  return Object.hasOwn(axis.labels, value) ? String(axis.labels[value]) : value;
}

function paletteColor(index: number): string {
  const { palette, shade } = DEFAULTS.chart;
  return `var(--${palette[index % palette.length]}-${shade})`;
}
