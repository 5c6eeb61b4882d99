/** Puts the colours, fonts and radii of the host and of the widgets folder over the view's own. */

import TABLE from "../../palette.json";
import { at } from "../host/context";
import { isObject, type JsonObject } from "../tree/node";
import type { Theme } from "../tree/read";

/** Red, green and blue from 0 to 1; a fourth number is the opacity. */
type Rgb = readonly number[];

/** WCAG 2.2 AA, success criterion 1.4.3: for texts, and for those of 24 px and more. */
const LEAST_CONTRAST = 4.5;
const LEAST_CONTRAST_LARGE = 3;
const LARGE = "[class*=title-]:not(.title-sm, .title-md)";
/** The strongest `alpha-…` that widgets lay under texts; in weaker layers a text reads better. */
const LAYER = 0.1;
const BLACK: Rgb = [0, 0, 0];
const WHITE: Rgb = [1, 1, 1];
const INK = "--color-text";
const CARD = "--color-surface-elevated";
const ACCENT = "--color-background-primary-solid";
const SURFACES = ["", "-secondary", "-tertiary", "-elevated", "-elevated-secondary"].map(
  (name) => `--color-surface${name}`,
);
const PLAIN = [
  ["font-family", "font", "sans mono"],
  ["font-weight", "font-weight", "medium semibold"],
  ["border-radius", "border-radius", "xs sm md lg xl 2xl full"],
] as const;
const GREYS = Array.from({ length: 41 }, (_, step) => `--gray-${25 * step}`);
/** The texts of the view, each with what may be behind it; not all of them exist. */
const TEXTS = "primary secondary tertiary info discovery success caution warning danger"
  .split(" ")
  .flatMap((color) => [
    [`${INK}-${color}`, SURFACES] as const,
    [`${INK}-${color}-outline`, SURFACES] as const,
    [`${INK}-${color}-soft`, [`--color-background-${color}-soft-alpha`]] as const,
    [`${INK}-${color}-solid`, [`--color-background-${color}-solid`]] as const,
  ]);

const sheet = new CSSStyleSheet();
let applied: string | undefined;

/** Applies the variables of the host and, over them, those of the folder: `{light?, dark?}`. */
export function applyPalette(variables: unknown, folder: unknown, theme: Theme): void {
  const next = JSON.stringify([variables, folder, theme]);
  if (next === applied) return;
  applied = next;
  sheet.replaceSync("");
  document.adoptedStyleSheets = [sheet];
  const host = readObject(variables);
  for (const mode of ["light", "dark"] as const) {
    const own = readObject(at(folder, mode));
    // Half of two palettes would be neither.
    const colored = mode === theme && !("--color-background-primary" in own);
    const around = Object.entries(host).filter(([name]) => colored || !isColor(name));
    applyTo(mode, { ...Object.fromEntries(around), ...own }, host);
  }
}

const readObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

/** Applies variables to one theme; colours in which texts could not be read are left out. */
function applyTo(mode: Theme, given: JsonObject, host: JsonObject): void {
  const probe = document.createElement("i");
  probe.dataset.theme = mode;
  // Under reduced motion everything has a transition, which would delay what is read.
  probe.style.setProperty("transition", "none", "important");
  document.documentElement.append(probe);
  const addRule = (selector: string) =>
    (sheet.cssRules[sheet.insertRule(`[data-theme=${mode}]${selector}{}`)] as CSSStyleRule).style;
  const style = addRule("[data-theme]");
  const read = (value: string): Rgb | undefined => {
    probe.style.color = "";
    probe.style.color = `color-mix(in srgb, ${value}, ${value})`;
    return probe.style.color ? readRgb(getComputedStyle(probe).color) : undefined;
  };
  const readToken = (token: string) => read(`var(${token})`) ?? BLACK;
  for (const [property, prefix, names] of PLAIN) {
    for (const name of names.split(" ")) {
      // Cards have the largest radius, and hosts know one less.
      const variable = `--${prefix}-${name.replace("2xl", "xl")}`;
      const token = `--${prefix.replace("border-", "")}-${name}`;
      const own = getComputedStyle(probe).getPropertyValue(token);
      const values = [given[variable], host[variable], own].filter((value) =>
        isPlain(property, value),
      );
      const isFont = property === "font-family";
      style.setProperty(token, isFont ? values.join() : String(values[0]));
    }
  }
  const named: Record<string, Rgb> = {};
  for (const [variable, tokens] of Object.entries(TABLE)) {
    const value = given[`--color-${variable}`];
    const rgb = typeof value === "string" ? read(value) : undefined;
    if (rgb) for (const token of tokens.split(" ")) named[`--color-${token}`] = rgb;
  }
  const card = readToken(CARD);
  const text = readToken(INK);
  const paper = named[CARD] ?? card;
  const ink = named[INK] ?? text;
  const isOfTheme = luminance(paper) > luminance(ink) === (mode === "light");
  if (Object.keys(named).length && isOfTheme && isReadable(ink, paper)) {
    const paint = (changes: Record<string, Rgb | undefined>, target = style) => {
      for (const [token, [r, g, b, a = 1] = BLACK] of Object.entries(changes))
        target.setProperty(token, `color(srgb ${r} ${g} ${b} / ${a})`);
    };
    // The view's greys, as far between the background and the text as they are between its own.
    const share = ([grey = 0]: Rgb) => (grey - (card[0] ?? 0)) / ((text[0] ?? 0) - (card[0] ?? 0));
    const greys = GREYS.map((token) => [token, mix(paper, ink, share(readToken(token)))] as const);
    paint({ ...Object.fromEntries(greys), "--alpha-base": ink });
    const accent = named[ACCENT];
    if (accent)
      paint({
        [`${ACCENT}-hover`]: mix(accent, ink, 0.1),
        [`${ACCENT}-active`]: mix(accent, ink, 0.2),
      });
    const fits = (text: Rgb | undefined, behind: readonly Rgb[], least = LEAST_CONTRAST) =>
      text && behind.every((surface) => isReadable(layer(text, surface), surface, least));
    const areas = Object.entries(named).filter(
      ([token, rgb]) =>
        !token.startsWith(INK) && !(SURFACES.includes(token) && !fits(ink, [layer(rgb, paper)])),
    );
    paint(Object.fromEntries(areas));
    const choose = (least: number) =>
      TEXTS.map(([token, areas]) => {
        const plain = areas.map((area) => layer(readToken(area), paper));
        const behind = plain.flatMap((area) => [
          area,
          mix(area, ink, areas === SURFACES ? LAYER : 0),
        ]);
        const own = readToken(token);
        const end = [ink, paper, WHITE].find((rgb) => fits(rgb, behind)) ?? BLACK;
        // The view's own, moved as far as it takes.
        const steps = [0, 0.25, 0.5, 0.75, 1].map((share) => mix(own, end, share));
        return [token, [named[token], ...steps].find((rgb) => fits(rgb, behind, least))] as const;
      });
    const large = choose(LEAST_CONTRAST_LARGE);
    paint(Object.fromEntries([...choose(LEAST_CONTRAST), [INK, ink]]));
    // In a card of the other theme, a large text is as strong as every other.
    const other = mode === "light" ? "dark" : "light";
    paint(Object.fromEntries(large), addRule(` ${LARGE}:not([data-theme=${other}] *)`));
  }
  probe.remove();
}

const isColor = (variable: string): boolean => variable.startsWith("--color");

/** Tells whether a font, a weight or a radius is one, and refers to nothing. */
const isPlain = (property: string, value: unknown): boolean =>
  typeof value === "string" && !/[(;{}]/.test(value) && CSS.supports(property, value);

const readRgb = (css: string): Rgb => (css.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);

const mix = (from: Rgb, to: Rgb, share: number): Rgb =>
  [0, 1, 2].map((at) => (from[at] ?? 0) * (1 - share) + (to[at] ?? 0) * share);

/** Returns a colour as it looks over an opaque one. */
const layer = (rgb: Rgb, under: Rgb): Rgb => mix(under, rgb, rgb[3] ?? 1);

function isReadable(text: Rgb, surface: Rgb, least = LEAST_CONTRAST): boolean {
  const [low = 0, high = 0] = [luminance(text), luminance(surface)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05) >= least;
}

function luminance(rgb: Rgb): number {
  const [r = 0, g = 0, b = 0] = rgb.map((part) =>
    part > 0.04045 ? ((part + 0.055) / 1.055) ** 2.4 : part / 12.92,
  );
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}
