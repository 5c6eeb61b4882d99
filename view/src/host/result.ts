/** Finds the widget in a tool result, wherever its profile puts it. */

import { type IconSet, readIcons } from "../style/icons";
import { isObject, isRoot, type JsonObject, type WidgetNode } from "../tree/node";
import { at } from "./context";

export interface Rendered {
  /** `undefined` where the result holds no widget. */
  readonly tree: WidgetNode | undefined;
  readonly icons: IconSet;
  /** By which an action names what it came from. */
  readonly renderId: string | undefined;
  readonly isError: boolean;
  /** What the result says in words. */
  readonly text: string;
  /** What the server found wrong, by field. */
  readonly problems: Readonly<Record<string, string>>;
}

export function readResult(result: JsonObject): Rendered {
  const meta = result._meta;
  const data = result.structuredContent;
  const renderId = at(meta, "widgetd/render", "id");
  return {
    tree: [at(meta, "widgetd/widget"), data, at(data, "widget")].find(isRoot),
    icons: readIcons(at(meta, "widgetd/icons")),
    renderId: typeof renderId === "string" ? renderId : undefined,
    isError: result.isError === true,
    text: textOf(result.content),
    problems: problemsOf(at(data, "validationErrors")),
  };
}

function textOf(content: unknown): string {
  const blocks = Array.isArray(content) ? content.filter(isObject) : [];
  return blocks
    .flatMap(({ type, text }) => (type === "text" && typeof text === "string" ? text : []))
    .join("\n");
}

/** A field's problem is a sentence or several. */
function problemsOf(errors: unknown): Readonly<Record<string, string>> {
  if (!isObject(errors)) return {};
  return Object.fromEntries(
    Object.entries(errors).map(([name, said]) => [
      name,
      Array.isArray(said) ? said.join(" ") : String(said),
    ]),
  );
}
