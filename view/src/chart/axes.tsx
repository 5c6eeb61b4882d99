/** The grid, the values beside it and the categories beneath it. */

import type { Bands, Scale } from "./scale";

/** About the width of a digit or letter at the axis' size of 12 pixels. */
const LETTER_PX = 6.5;

export function Grid({ y, width }: { y: Scale; width: number }) {
  return (
    <g class="grid">
      {y.ticks.map((tick) => (
        <line
          key={tick}
          class={tick === 0 ? "zero" : ""}
          x1={0}
          x2={width}
          y1={y(tick)}
          y2={y(tick)}
        />
      ))}
    </g>
  );
}

export function ValueAxis({ y, format }: { y: Scale; format: (value: number) => string }) {
  return (
    <g class="axis" text-anchor="end">
      {y.ticks.map((tick) => (
        <text key={tick} x={-8} y={y(tick)} dy="0.32em">
          {format(tick)}
        </text>
      ))}
    </g>
  );
}

export function CategoryAxis(props: { bands: Bands; labels: readonly string[]; top: number }) {
  const every = stride(props.labels, props.bands.step);
  return (
    <g class="axis" text-anchor="middle">
      {props.labels.map((label, index) =>
        index % every === 0 ? (
          <text x={props.bands.centers[index]} y={props.top}>
            {cut(label, props.bands.step * every)}
          </text>
        ) : null,
      )}
    </g>
  );
}

/** Returns how wide the longest of the labels is, in pixels. */
export function widest(labels: readonly string[]): number {
  return Math.max(0, ...labels.map((label) => [...label].length)) * LETTER_PX;
}

/** Returns n where only every n-th label has room. */
export function stride(labels: readonly string[], step: number): number {
  const comfortable = Math.min(widest(labels), 72) + 8;
  return Math.max(1, Math.ceil(comfortable / Math.max(1, step)));
}

function cut(label: string, room: number): string {
  const letters = [...label];
  const fit = Math.max(3, Math.floor(room / LETTER_PX));
  return letters.length > fit ? `${letters.slice(0, fit - 1).join("")}…` : label;
}
