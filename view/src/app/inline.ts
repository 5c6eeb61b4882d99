/** Reads the widget in the page itself, for pictures and previews. */

import { readContext } from "../host/context";
import { readIcons } from "../style/icons";
import { isObject, isRoot } from "../tree/node";
import type { View } from "./view";

/** Returns what `<script type="application/json" id="widgetd-palette">` says: the folder's theme. */
export function readFolderPalette(): unknown {
  const json = document.getElementById("widgetd-palette")?.textContent;
  return json && JSON.parse(json);
}

const INLINE_ID = "widgetd-tree";

/**
 * Returns what `<script type="application/json" id="widgetd-tree">` says, `undefined` without one.
 * It holds a widget root, or `{"widget": root, "icons"?, "theme"?, "locale"?, "title"?, "palette"?}`.
 */
export function readInline(): Partial<View> | undefined {
  const json = document.getElementById(INLINE_ID)?.textContent;
  if (!json) return undefined;
  const given: unknown = JSON.parse(json);
  if (isRoot(given)) return { tree: given };
  if (!isObject(given) || !isRoot(given.widget)) {
    return { notice: { kind: "problem", text: "This page holds no widget." } };
  }
  const context = readContext({ ...given, toolInfo: { tool: { title: given.title } } });
  return {
    tree: given.widget,
    icons: readIcons(given.icons),
    context,
    palette: given.palette,
  };
}
