/** The grid, the values beside it and the categories beneath it. */

import type { Bands, Scale } from "./scale";

/** As in the stylesheet. */
const SIZE_PX = 12;
/** About the width of a digit or letter at that size, where there is no page to measure it on. */
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
          <CategoryLabel
            words={cut(label, props.bands.step * every)}
            x={props.bands.centers[index] ?? 0}
            top={props.top}
            room={props.bands.step * props.labels.length}
          />
        ) : null,
      )}
    </g>
  );
}

/** Stands under its category, and at an edge as near to it as the whole of it can be seen. */
function CategoryLabel(props: { words: string; x: number; top: number; room: number }) {
  const half = widest([props.words]) / 2;
  const x = Math.max(Math.min(props.x, props.room - half), Math.min(half, props.room / 2));
  return (
    <text x={x} y={props.top}>
      {props.words}
    </text>
  );
}

/** Returns how wide the longest of the labels is, in pixels. */
export function widest(labels: readonly string[]): number {
  const ink = pen();
  const width = (label: string) =>
    ink ? ink.measureText(label).width : [...label].length * LETTER_PX;
  return Math.max(0, ...labels.map(width));
}

let canvas: CanvasRenderingContext2D | null | undefined;

function pen(): CanvasRenderingContext2D | null {
  if (typeof document === "undefined") return null;
  canvas ??= document.createElement("canvas").getContext("2d");
  const { fontFamily } = getComputedStyle(document.documentElement);
  if (canvas) canvas.font = `${SIZE_PX}px ${fontFamily}`;
  return canvas ?? null;
}

/** Returns n where only every n-th label has room. */
export function stride(labels: readonly string[], step: number): number {
  const comfortable = Math.min(widest(labels), 72) + 8;
  return Math.max(1, Math.ceil(comfortable / Math.max(1, step)));
}

function cut(label: string, room: number): string {
  const letters = [...label];
  const fit = Math.max(3, Math.floor((room / widest([label])) * letters.length));
  return letters.length > fit ? `${letters.slice(0, fit - 1).join("")}…` : label;
}
