/**
 * Makes the design tokens from the stylesheets of @openai/apps-sdk-ui.
 *
 * All primitive colours are kept, because a widget may name any of them; of the rest only what
 * the view's own sources refer to, directly or through another token.
 */

import { readFileSync } from "node:fs";
import { customProperties, type Declarations } from "./stylesheet.ts";

const STYLES = "node_modules/@openai/apps-sdk-ui/dist/es/styles";
const FILES = ["variables-primitive.css", "variables-semantic.css", "variables-components.css"];
const PRIMITIVE =
  /^--(?:white|black|alpha-base|(?:gray|green|red|pink|orange|yellow|purple|blue)-a?\d+)$/;
/** Token names that the sources compose at run time (see src/style/tone.ts). */
const COMPOSED =
  /^--color-(?:background-\w+-(?:solid|soft-alpha|outline|ghost)(?:-hover)?|background-(?:primary|secondary)-[\w-]+-active|text-\w+-(?:solid|soft|outline)|border-\w+-outline)$/;

interface Palette {
  readonly common: Declarations;
  readonly light: Declarations;
  readonly dark: Declarations;
}

/** Returns the stylesheet of all tokens that `sources` can refer to. */
export function tokenStylesheet(root: string, sources: readonly string[]): string {
  const palette = readPalette(root);
  // The view's own stylesheets come later, so that what they set again has no effect.
  const own = sources
    .filter((source) => source.startsWith("/*\n") || source.startsWith("/* "))
    .flatMap(customProperties);
  for (const { selector, declarations } of own) {
    if (!/^(?::root|\[data-theme)/.test(selector)) continue;
    const side = readSide(selector);
    const sides = side === "common" ? Object.values(palette) : [palette[side]];
    for (const tokens of sides) for (const name of declarations.keys()) tokens.delete(name);
  }
  const kept = reachable(palette, sources);
  const block = (tokens: Declarations) =>
    [...tokens]
      .filter(([name]) => kept.has(name))
      .map(([name, value]) => `${name}:${value}`)
      .join(";");
  return [
    `:root,[data-theme]{${block(palette.common)}}`,
    `:root,[data-theme="light"]{${block(palette.light)}}`,
    `[data-theme="dark"]{${block(palette.dark)}}`,
  ].join("\n");
}

/** Returns the names of the primitive colours, without their dashes: `["white", "gray-500", ...]`. */
export function primitiveNames(root: string): string[] {
  const { common, light } = readPalette(root);
  return [...common.keys(), ...light.keys()]
    .filter((name) => PRIMITIVE.test(name) && name !== "--alpha-base")
    .map((name) => name.slice(2));
}

function readPalette(root: string): Palette {
  const palette: Palette = { common: new Map(), light: new Map(), dark: new Map() };
  for (const file of FILES) {
    const css = readFileSync(`${root}/${STYLES}/${file}`, "utf8");
    for (const { selector, declarations } of customProperties(css)) {
      for (const [name, value] of declarations) palette[readSide(selector)].set(name, value);
    }
  }
  return palette;
}

function readSide(selector: string): keyof Palette {
  if (selector.includes('"dark"')) return "dark";
  return selector.includes('"light"') ? "light" : "common";
}

function reachable(palette: Palette, sources: readonly string[]): Set<string> {
  const values = new Map<string, string[]>();
  for (const side of Object.values(palette) as Declarations[]) {
    for (const [name, value] of side) values.set(name, [...(values.get(name) ?? []), value]);
  }
  const kept = new Set<string>();
  const keep = (name: string): void => {
    if (kept.has(name) || !values.has(name)) return;
    kept.add(name);
    for (const value of values.get(name) ?? []) listReferences(value).forEach(keep);
  };
  for (const name of values.keys()) if (PRIMITIVE.test(name) || COMPOSED.test(name)) keep(name);
  for (const source of sources) listReferences(source).forEach(keep);
  return kept;
}

function listReferences(text: string): string[] {
  return Array.from(text.matchAll(/--[a-z][\w-]*/g), ([name]) => name);
}
