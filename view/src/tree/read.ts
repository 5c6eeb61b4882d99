/**
 * Readers turn an untrusted property into the value a component draws with.
 *
 * A reader never fails: what it cannot use becomes its fallback, so that a tree from a newer
 * exporter, or from a careless template, still draws.
 */

import { isObject, type JsonObject, nodesIn, type WidgetNode } from "./node";

export type Theme = "light" | "dark";

/** The context in which a value is read. */
export interface Surroundings {
  readonly theme: Theme;
}

export type Reader<T> = (value: unknown, around: Surroundings) => T;
export type Schema = { readonly [property: string]: Reader<unknown> };
export type Props<S extends Schema> = { readonly [K in keyof S]: ReturnType<S[K]> };

/** Reads every property of the schema from one record. */
export function readProps<S extends Schema>(
  schema: S,
  record: JsonObject,
  around: Surroundings,
): Props<S> {
  const read: Record<string, unknown> = {};
  for (const [name, reader] of Object.entries(schema)) read[name] = reader(record[name], around);
  return read as Props<S>;
}

export const text: Reader<string> = (value) => optionalText(value, LIGHT) ?? "";

export const optionalText: Reader<string | undefined> = (value) => {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : undefined;
};

/** Templates write `"true"` and `"false"` where they mean the booleans. */
export const flag =
  (fallback: boolean): Reader<boolean> =>
  (value) =>
    value === true || value === "true" || (value === false || value === "false" ? false : fallback);

export const number: Reader<number | undefined> = (value) => {
  const given = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
  return typeof given === "number" && Number.isFinite(given) ? given : undefined;
};

/** Reads a whole number of at least `least`. */
export const count =
  (least: number): Reader<number | undefined> =>
  (value, around) => {
    const given = number(value, around);
    return given === undefined ? undefined : Math.max(least, Math.floor(given));
  };

/** Reads one of the values; anything else is the fallback. */
export function oneOf<const T extends string, const F extends NoInfer<T> | undefined>(
  values: readonly T[],
  fallback: F,
): Reader<T | F> {
  return (value) => values.find((choice) => choice === value) ?? fallback;
}

export const nodes: Reader<readonly WidgetNode[]> = nodesIn;

/** Reads a list of what another reader accepts; `of` is that reader. */
export function listOf<T>(of: Reader<T | undefined>) {
  const reader: Reader<readonly T[]> = (value, around) =>
    Array.isArray(value) ? value.flatMap((item) => of(item, around) ?? []) : [];
  return Object.assign(reader, { of });
}

/**
 * Reads an object by a schema; anything else is `undefined`, or the property `short`.
 *
 * Without the property `needed` it is no such record.
 */
export function record<const S extends Schema>(
  schema: S,
  { short, needed }: { short?: keyof S & string; needed?: keyof S } = {},
) {
  const reader: Reader<Props<S> | undefined> = (value, around) => {
    const given = short && !isObject(value) ? { [short]: value } : value;
    const read = isObject(given) ? readProps(schema, given, around) : undefined;
    return needed && !read?.[needed] ? undefined : read;
  };
  return Object.assign(reader, { schema });
}

const LIGHT: Surroundings = { theme: "light" };
