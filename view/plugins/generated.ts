/** Offers the generated tokens and icons to the view's sources as modules. */

import { readdirSync, readFileSync } from "node:fs";
import type { Plugin } from "vite";
import { iconShapes } from "./icons.ts";
import { tokenStylesheet } from "./tokens.ts";

/** Serves `virtual:tokens.css` and `virtual:icons`, generated at each build. */
export function generated(root: string): Plugin {
  const makers: Record<string, () => string> = {
    "virtual:tokens.css": () => tokenStylesheet(root, sources(`${root}/src`)),
    "virtual:icons": () => `export const ICONS = ${JSON.stringify(iconShapes(root, icons(root)))}`,
  };
  return {
    name: "widgetd:generated",
    resolveId: (id) => (id in makers ? `\0${id}` : undefined),
    load: (id) => makers[id.slice(1)]?.(),
  };
}

function icons(root: string): string[] {
  return JSON.parse(readFileSync(`${root}/vocabulary.json`, "utf8")).icons;
}

function sources(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => /\.(?:tsx?|css)$/.test(path))
    .sort()
    .map((path) => readFileSync(`${folder}/${path}`, "utf8"));
}
