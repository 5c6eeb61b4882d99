/** Puts form fields into the payload of an action, as ChatKit does. */

import { isObject, type JsonObject } from "../tree/node";

export type FieldValue = string | number | boolean | null;
export type Fields = ReadonlyMap<string, FieldValue>;

/** A field of this name would reach past the payload into the object's prototype. */
const FORBIDDEN = new Set(["__proto__", "prototype", "constructor"]);

/** Returns fields named `a.b` as `{"a": {"b": …}}`. */
export function nest(fields: Fields): JsonObject {
  const root: Record<string, unknown> = {};
  for (const [name, value] of fields) {
    const path = name.split(".").filter(Boolean);
    if (path.length && !path.some((part) => FORBIDDEN.has(part))) place(root, path, value);
  }
  return root;
}

function place(root: Record<string, unknown>, path: readonly string[], value: FieldValue): void {
  let inner = root;
  for (const part of path.slice(0, -1)) {
    if (!isObject(inner[part])) inner[part] = {};
    inner = inner[part] as Record<string, unknown>;
  }
  inner[path[path.length - 1] as string] = value;
}

/**
 * Returns the payload with the fields in it. What the author wrote wins over a field of the same
 * name; a payload that is no object goes beside the fields as `value`.
 */
export function withFields(payload: unknown, fields: Fields): unknown {
  if (fields.size === 0) return payload;
  const given = isObject(payload) ? payload : payload == null ? {} : { value: payload };
  return { ...nest(fields), ...given };
}
