/** The grid, the values beside it and the categories beneath it. */

import type { Scale } from "./scale";

/** As in the stylesheet. */
const SIZE_PX = 12;
/** About the width of a digit or letter at that size, where there is no page to measure it on. */
const LETTER_PX = 6.5;
/** The gap between labels side by side. */
const GAP_PX = 8;

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

export function CategoryAxis(props: { step: number; labels: readonly string[]; top: number }) {
  return (
    <g class="axis" text-anchor="middle">
      {placeLabels(props.labels, props.step).map(({ words, x }) => (
        <text key={x} x={x} y={props.top}>
          {words}
        </text>
      ))}
    </g>
  );
}

export interface Label {
  readonly words: string;
  /** Its middle, in pixels. */
  readonly x: number;
  readonly width: number;
}

/**
 * Returns the labels that there is room for, evenly, and cut where they are too long for any.
 *
 * Each is under its category, and at an edge as near to it as the whole of it can be seen;
 * none touches the next.
 */
export function placeLabels(labels: readonly string[], step: number): Label[] {
  for (let every = stride(labels, step); ; every++) {
    const { found, crowded } = placeInRow(labels, step, every);
    if (!crowded || every >= labels.length) return found;
  }
}

/** Places every n-th label, and says whether an edge cuts one that would have room elsewhere. */
function placeInRow(labels: readonly string[], step: number, every: number) {
  const centered = labels
    .map((label, index) => ({ label, x: step * (index + 0.5) }))
    .filter((_, index) => index % every === 0)
    .map(({ label, x }) => ({ label, x, ...cut(label, step * every - GAP_PX) }));
  const found: Label[] = [];
  let crowded = false;
  let from = 0;
  for (const [index, own] of centered.entries()) {
    const next = centered[index + 1];
    const to = next ? next.x - next.width / 2 - GAP_PX : step * labels.length;
    const { words, width } = cut(own.words, to - from);
    crowded ||= own.words === own.label && words !== own.label;
    if (!words) continue;
    const x = Math.max(from + width / 2, Math.min(own.x, to - width / 2));
    found.push({ words, x, width });
    from = x + width / 2 + GAP_PX;
  }
  return { found, crowded };
}

/** Returns how wide the longest of the labels is, in pixels. All figures are as wide as a zero. */
export function widest(labels: readonly string[]): number {
  const ink = getPen();
  const width = (label: string) =>
    ink ? ink.measureText(label.replace(/\d/g, "0")).width : [...label].length * LETTER_PX;
  return Math.max(0, ...labels.map(width));
}

let canvas: CanvasRenderingContext2D | null | undefined;

function getPen(): CanvasRenderingContext2D | null {
  if (typeof document === "undefined") return null;
  canvas ??= document.createElement("canvas").getContext("2d");
  const { fontFamily } = getComputedStyle(document.documentElement);
  if (canvas) canvas.font = `${SIZE_PX}px ${fontFamily}`;
  return canvas ?? null;
}

/** Returns n where only every n-th label has room. */
export function stride(labels: readonly string[], step: number): number {
  const comfortable = Math.min(widest(labels), 72) + GAP_PX;
  return Math.max(1, Math.ceil(comfortable / Math.max(1, step)));
}

/** Returns the part of a label that fits, and nothing if that part would say too little. */
function cut(label: string, room: number): Omit<Label, "x"> {
  const whole = widest([label]);
  if (whole <= room) return { words: label, width: whole };
  const letters = [...label];
  for (let fit = Math.floor((room / whole) * letters.length); fit > 2; fit--) {
    const words = `${letters
      .slice(0, fit - 1)
      .join("")
      .trimEnd()}…`;
    const width = widest([words]);
    if (width <= room) return { words, width };
  }
  return { words: "", width: 0 };
}
