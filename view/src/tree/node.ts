/** The widget tree as it comes: untrusted JSON whose components are known only by their type. */

export interface WidgetNode {
  readonly type: string;
  readonly [property: string]: unknown;
}

export type JsonObject = { readonly [key: string]: unknown };

/** The property of the last component that stays in its place while arguments come. */
export const LAST = "data-last";

const ROOTS = new Set(["Card", "ListView", "Basic"]);

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {});

function isNode(value: unknown): value is WidgetNode {
  return isObject(value) && typeof value.type === "string";
}

/** Tells whether a value can be shown by itself: a Card, a ListView or a Basic. */
export function isRoot(value: unknown): value is WidgetNode {
  return isNode(value) && ROOTS.has(value.type);
}

/** Returns what a `children` property holds, whether it is one component, a list or nothing. */
export function nodesIn(children: unknown): readonly WidgetNode[] {
  if (Array.isArray(children)) return children.flatMap(nodesIn);
  return isNode(children) ? [children] : [];
}

/** Visits a component and everything inside it, outermost first. */
export function* walk(node: WidgetNode): Generator<WidgetNode> {
  yield node;
  for (const child of nodesIn(node.children)) yield* walk(child);
}

/** Returns the words that a few components show, in reading order. */
export function plainText(nodes: readonly WidgetNode[]): string {
  const within = nodes.flatMap((node) => [...walk(node)]);
  return within
    .map(({ value, label }) => value ?? label)
    .filter((words) => typeof words === "string" || typeof words === "number")
    .join(" ");
}
