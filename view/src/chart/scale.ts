/** Maps values to pixels, and picks the round values that an axis names. */

export interface Scale {
  (value: number): number;
  readonly ticks: readonly number[];
}

/**
 * Returns the vertical scale of values between `low` and `high`, widened to round ticks.
 *
 * Args: `height` in pixels; `count` is about how many ticks there should be.
 */
export function verticalScale(low: number, high: number, height: number, count: number): Scale {
  const top = high > low ? high : low + 1;
  const step = roundStep((top - low) / count);
  const first = Math.floor(low / step);
  const last = Math.ceil(top / step);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) =>
    clean((first + index) * step),
  );
  const span = (last - first) * step;
  return Object.assign((value: number) => height - ((value - first * step) / span) * height, {
    ticks,
  });
}

/** Returns the least of 1, 2, 2.5, 5 times a power of ten that is not below `rough`. */
function roundStep(rough: number): number {
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough * 0.999) ?? 10;
  return factor * power;
}

/** Multiples of a decimal step carry binary dust: 0.30000000000000004. */
const clean = (value: number) => Number(value.toPrecision(12));

export type Bands = ReturnType<typeof bands>;

/** Returns the width of equal bands, one for each category, and their middles, in pixels. */
export function bands(count: number, width: number) {
  const step = width / Math.max(1, count);
  return { step, centers: Array.from({ length: count }, (_, index) => (index + 0.5) * step) };
}
