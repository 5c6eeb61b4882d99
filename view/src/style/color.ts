/** Turns the colours of a tree into CSS: role tokens, primitive tokens, CSS colours, per theme. */

import { DEFAULTS } from "../defaults";
import { isObject } from "../tree/node";
import type { Reader, Surroundings } from "../tree/read";

type Role = "text" | "surface" | "border" | "chart";

/** A hue alone means the same everywhere: its shade of charts, not the colour of CSS. */
const HUES = Object.fromEntries(
  ["gray", ...DEFAULTS.chart.palette].map((hue) => [hue, `--${hue}-${DEFAULTS.chart.shade}`]),
);
const TEXT_TOKENS: Record<string, string> = {
  prose: "--color-text",
  primary: "--color-text",
  emphasis: "--color-text",
  secondary: "--color-text-secondary",
  tertiary: "--color-text-tertiary",
  success: "--color-text-success",
  warning: "--color-text-warning",
  danger: "--color-text-danger",
};
const SURFACE_TOKENS: Record<string, string> = {
  surface: "--color-surface",
  "surface-secondary": "--color-surface-secondary",
  "surface-tertiary": "--color-surface-tertiary",
  "surface-elevated": "--color-surface-elevated",
  "surface-elevated-secondary": "--color-surface-elevated-secondary",
};
const BORDER_TOKENS: Record<string, string> = {
  default: "--color-border",
  subtle: "--color-border-subtle",
  strong: "--color-border-strong",
};
const TOKENS: Record<Role, Record<string, string>> = {
  text: { ...HUES, ...TEXT_TOKENS },
  surface: { ...HUES, ...SURFACE_TOKENS },
  border: { ...HUES, ...BORDER_TOKENS },
  chart: HUES,
};

const PRIMITIVE = /^(?:gray|red|orange|yellow|green|blue|purple|pink)-a?\d{2,4}$/;
const ALPHA = /^alpha-(\d{1,3})$/;

/** Reads a colour for what it is used on; `undefined` leaves the inherited or usual colour. */
export const color =
  (role: Role): Reader<string | undefined> =>
  (value, around) => {
    const given = pickTheme(value, around);
    return given === undefined ? undefined : toCss(TOKENS[role], given);
  };

/** Reads a `background`: besides colours, gradients and pictures. */
export const background: Reader<string | undefined> = (value, around) => {
  const painted = color("surface")(value, around);
  return painted && /\burl\(/i.test(painted) ? overBackdrop(painted) : painted;
};

function pickTheme(value: unknown, around: Surroundings): string | undefined {
  const given = isObject(value) ? (value[around.theme] ?? value.light ?? value.dark) : value;
  return typeof given === "string" && given.trim() ? given.trim() : undefined;
}

function toCss(tokens: Record<string, string>, given: string): string {
  const token = Object.hasOwn(tokens, given) ? tokens[given] : undefined;
  if (token) return `var(${token})`;
  if (PRIMITIVE.test(given)) return `var(--${given})`;
  const alpha = ALPHA.exec(given)?.[1];
  return alpha ? `color-mix(in oklab, var(--alpha-base) ${+alpha}%, transparent)` : given;
}

/**
 * A picture that the host's policy blocks would leave light text on a light card; text over
 * pictures is light as a rule, so a dark layer goes under the picture unless it brings its own.
 */
function overBackdrop(painted: string): string {
  const colored = `${painted} ${BACKDROP}`;
  const supported = typeof CSS === "undefined" || CSS.supports("background", colored);
  return supported ? colored : painted;
}

const BACKDROP = "#303030";
