/** Icons: those of ChatKit, built in; those that came with a tree, taken only as plain shapes. */

import { ICONS } from "virtual:icons";
import { isObject } from "../tree/node";

type Shape = readonly [tag: string, attributes: Readonly<Record<string, string>>];
export type IconSet = Readonly<Record<string, readonly Shape[]>>;

const TAGS = new Set(["path", "circle", "rect", "line", "polyline", "polygon", "ellipse"]);
const ATTRIBUTES = new Set(
  "d cx cy r rx ry x y x1 y1 x2 y2 width height points transform fill-rule clip-rule fill".split(
    " ",
  ),
);
const POINTING = /(?:^|[-:])(?:left|right)(?:-|$)|^external-link$/;
const UNKNOWN: readonly Shape[] = [
  ["rect", { x: "4", y: "4", width: "16", height: "16", rx: "4", "stroke-dasharray": "3 3" }],
];

/**
 * Returns the icon of that name; an unknown one is a dashed square.
 *
 * Outlined icons are strokes; ChatKit's own are filled. An icon that is pointing points along the
 * line, and the other way where lines run the other way.
 */
export function findIcon(name: string, sent: IconSet) {
  const pointing = POINTING.test(name);
  if (Object.hasOwn(ICONS, name)) return { shapes: ICONS[name] ?? [], outlined: false, pointing };
  const key = [name, name.replace(/^lucide:/, "")].find((each) => Object.hasOwn(sent, each));
  const shapes = key === undefined ? undefined : sent[key];
  return { shapes: shapes ?? UNKNOWN, outlined: true, pointing: pointing && !!shapes };
}

/** Returns the icons that were sent along, without any tag or attribute that is not a plain shape. */
export function readIcons(value: unknown): IconSet {
  if (!isObject(value)) return {};
  return Object.fromEntries(
    Object.entries(value).map(([name, shapes]) => [
      name,
      Array.isArray(shapes) ? shapes.flatMap(readShape) : [],
    ]),
  );
}

function readShape(value: unknown): Shape[] {
  if (!Array.isArray(value) || !TAGS.has(value[0]) || !isObject(value[1])) return [];
  const attributes = Object.entries(value[1]).filter(
    ([name, given]) => ATTRIBUTES.has(name) && /^(?:string|number)$/.test(typeof given),
  );
  return [[value[0], Object.fromEntries(attributes.map(([name, given]) => [name, String(given)]))]];
}
