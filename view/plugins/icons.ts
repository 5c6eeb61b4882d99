/**
 * Makes the icon set from the compiled icon components of @openai/apps-sdk-ui.
 *
 * An icon is a list of shapes, `[["path", {"d": "…"}], …]`, on a 24 by 24 grid.
 */

import { existsSync, readFileSync } from "node:fs";

const SVG = "node_modules/@openai/apps-sdk-ui/dist/es/components/Icon/svg";
const ALIASES: Record<string, string> = {
  keys: "ApiKeys",
  profile: "AvatarProfile",
  "profile-card": "BuilderProfileCard",
  write: "EditPencil",
};
/** Icons of the view's own controls, besides the names that a widget may use. */
const OWN = ["chevron-down", "x", "exclamation-mark-circle"];

export type Shape = [tag: string, attributes: Record<string, string>];
type Element = { tag: string; props: Record<string, unknown> };

/** Returns the shapes of every icon that ChatKit names and of those that the view draws itself. */
export function iconShapes(root: string, names: readonly string[]): Record<string, Shape[]> {
  return Object.fromEntries([...names, ...OWN].map((name) => [name, shapes(root, name)]));
}

function shapes(root: string, name: string): Shape[] {
  const file = `${root}/${SVG}/${ALIASES[name] ?? pascal(name)}.js`;
  if (!existsSync(file)) throw new Error(`${name}: @openai/apps-sdk-ui has no such icon`);
  const svg = evaluate(readFileSync(file, "utf8"));
  const inherited = attributes(svg.props);
  return flatten(svg.props.children).map(({ tag, props }) => [
    tag,
    { ...inherited, ...attributes(props) },
  ]);
}

/** The compiled component is a function of props that calls the two jsx makers: run it with ours. */
function evaluate(code: string): Element {
  const body = code
    .replace(/^import .*$/m, "")
    .replace(/^\/\/#.*$/m, "")
    .replace(/export default (\w+);/, "return $1({});");
  const make = (tag: string, props: Record<string, unknown>): Element => ({ tag, props });
  return new Function("_jsx", "_jsxs", body)(make, make) as Element;
}

function flatten(children: unknown): Element[] {
  const list = (Array.isArray(children) ? children : [children]) as Element[];
  return list.flatMap((child) => (child.tag === "g" ? flatten(child.props.children) : [child]));
}

const DROPPED = new Set(["children", "width", "height", "viewBox", "className", "fill"]);

function attributes(props: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(props)
      .filter(([name]) => !DROPPED.has(name))
      .map(([name, value]) => [kebab(name), round(String(value))]),
  );
}

/**
 * Rounds fractions to hundredths of a unit, a two-hundredth of a pixel at the usual size.
 *
 * Path data may leave out separators, as in `1.004.36`: a fraction keeps a digit and carries nothing
 * over.
 */
function round(value: string): string {
  return value.replace(/\.(\d\d)(\d)\d*/g, (_, hundredths, next) => {
    const rounded = Math.min(99, Number(hundredths) + Number(next >= 5));
    return `.${String(rounded).padStart(2, "0").replace(/0$/, "")}`;
  });
}

const pascal = (name: string) => name.replace(/(?:^|-)(\w)/g, (_, letter) => letter.toUpperCase());
const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
