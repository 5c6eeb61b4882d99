/** Bars, areas and lines. */

import { area, line } from "d3-shape";
import { CURVES } from "./curves";
import type { Extent, Series } from "./model";
import type { Bands, Scale } from "./scale";

interface Plane {
  readonly bands: Bands;
  readonly y: Scale;
}

interface BarsProps extends Plane {
  readonly series: readonly Series[];
  /** The gap between bars of one category, in pixels. */
  readonly gap: number;
  /** The gap between categories, in pixels. */
  readonly categoryGap: number;
}

const CORNER_PX = 4;
const WIDEST_PX = 64;

/** Draws all bars: one column for each stack in each category. */
export function Bars({ series, bands, y, gap, categoryGap }: BarsProps) {
  const stacks = [...new Set(series.map(({ stack }) => stack))];
  const room = Math.max(stacks.length, bands.step - categoryGap - gap * (stacks.length - 1));
  const width = Math.min(WIDEST_PX, room / stacks.length);
  const whole = width * stacks.length + gap * (stacks.length - 1);
  return (
    <g>
      {series.map((each) =>
        each.extents.map((extent, index) => {
          const center = bands.centers[index] ?? 0;
          const x = center - whole / 2 + stacks.indexOf(each.stack) * (width + gap);
          const outer = isOuter(series, each, index);
          return (
            extent && (
              <path fill={each.color} d={bar(x, width, y(extent[0]), y(extent[1]), outer)} />
            )
          );
        }),
      )}
    </g>
  );
}

/** The last bar of a stack has the round corners. */
function isOuter(all: readonly Series[], one: Series, index: number): boolean {
  const down = (one.values[index] ?? 0) < 0;
  const later = all.slice(all.indexOf(one) + 1);
  return !later.some(
    ({ stack, values }) =>
      stack === one.stack && values[index] && (values[index] ?? 0) < 0 === down,
  );
}

/** Returns the path of a bar from `from` to `to`, in pixels, with the corners at `to` rounded. */
export function bar(x: number, width: number, from: number, to: number, rounded: boolean): string {
  const r = rounded ? Math.min(CORNER_PX, width / 2, Math.abs(to - from)) : 0;
  const inward = to < from ? r : -r;
  return `M${x},${from}V${to + inward}Q${x},${to} ${x + r},${to}H${x + width - r}Q${x + width},${to} ${x + width},${to + inward}V${from}Z`;
}

/** Draws one line, and under an area the filled shape. */
export function Curve({ series, bands, y }: Plane & { series: Series }) {
  const x = (_extent: Extent, index: number) => bands.centers[index] ?? 0;
  const top = (extent: Extent) => y(extent?.[1] ?? 0);
  const known = (extent: Extent) => extent !== null;
  const curve = CURVES[series.curve];
  const extents = [...series.extents];
  const outline = line<Extent>().defined(known).curve(curve).x(x).y(top)(extents);
  const filled =
    series.type === "area" &&
    area<Extent>()
      .defined(known)
      .curve(curve)
      .x(x)
      .y0((extent) => y(extent?.[0] ?? 0))
      .y1(top)(extents);
  return (
    <g>
      {filled && <path class="area" fill={series.color} d={filled} />}
      <path class="line" stroke={series.color} d={outline ?? ""} />
      {isLonely(series) &&
        series.extents.map(
          (extent, index) =>
            extent && (
              <circle r="3" fill={series.color} cx={bands.centers[index]} cy={top(extent)} />
            ),
        )}
    </g>
  );
}

/** A single point makes no line. */
const isLonely = ({ extents }: Series) => extents.filter((extent) => extent !== null).length === 1;
