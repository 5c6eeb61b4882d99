/**
 * The values of the server's evaluator in JavaScript: null is nothing, undefined is absent.
 *
 * Everything that a program makes pays from one counter, so that a hostile template ends.
 */

export type Value = unknown;

/** Stands for a value that may still come; what needs it waits. */
export const WAITING = Symbol("waiting");

/** The lists and objects that may still grow; nothing in them is known to be absent. */
export const open = new Set<Value>();

/** Ends a text that may still grow: what is written behind it in the same text is not drawn. */
export const MARK = "\ufdd0";

export function wait(): never {
  throw WAITING;
}

/** Returns the result of `act`, or `otherwise` if it waits. */
export function evaluateOr<T>(act: () => T, otherwise: T): T {
  try {
    return act();
  } catch (error) {
    if (error !== WAITING) throw error;
    return otherwise;
  }
}

export const grows = (value: Value): boolean =>
  open.size > 0 && (open.has(value) || (isText(value) && value.includes(MARK)));

/** Returns a value of which the whole is needed. */
export function settle<T>(value: T): T {
  return grows(value) ? wait() : value;
}

/** Returns what was found in a value; what is missing may still come as long as it grows. */
export function requireFound<T>(found: T, value: Value): T {
  if ((!found && found !== 0) || found === -1) settle(value);
  return found;
}

/** Returns what is made of a value: it grows as the value does. */
export function growWith<T>(value: Value, made: T): T {
  if (grows(value)) open.add(made);
  return made;
}
export type Dict = { [key: string]: Value };

/** A program that cannot go on; the last good tree stays. */
export class Failure extends Error {}

export function fail(problem: string): never {
  throw new Failure(problem);
}

export const MOST_STEPS = 300_000;
let left = 0;

/** Resets the counter, and forgets what grows. */
export function allowSteps(): void {
  left = MOST_STEPS;
  open.clear();
}

export const countSteps = (): number => MOST_STEPS - left;

/** Pays for an operation, or for `count` elements that are looked at. */
export function step(count = 1): void {
  if (count > left) fail("the program takes too many steps");
  left -= count;
}

/** Pays for a text or list that was made; what is long costs more. */
export function pay<T extends string | readonly Value[]>(made: T): T {
  step(typeof made === "string" ? made.length >> 6 : made.length);
  return made;
}

/** A value that is no JSON: a loop, a namespace. */
export class Runtime {
  member(_key: Value): Value {
    return undefined;
  }
}

export const has = Object.hasOwn;

/** Makes an object without a prototype, so that no key means anything. */
export function dict(entries: Iterable<readonly [Value, Value]> = []): Dict {
  const made: Dict = Object.create(null);
  for (const [key, value] of entries) made[String(key)] = value;
  return made;
}

export const isNothing = (value: Value): value is null | undefined => value == null;
export const isText = (value: Value): value is string => typeof value === "string";
export const isList: (value: Value) => value is Value[] = Array.isArray;
export const isHolder = (value: Value): value is object =>
  typeof value === "object" && value !== null;
export const isDict = (value: Value): value is Dict =>
  isHolder(value) && !isList(value) && !(value instanceof Runtime);
/** Includes booleans: on the server true is 1. */
export const isNumber = (value: Value): value is number =>
  typeof value === "number" || typeof value === "boolean";

/** Splits a text into its code points, unless its units are that. */
export function points(text: string): string | string[] {
  step(text.length >> 6);
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}
export const size = (text: string): number => points(text).length;

export function truthy(value: Value): boolean {
  if (!isHolder(value)) return Boolean(value);
  return value instanceof Runtime || Object.keys(value).length > 0 || !settle(value);
}

/** Returns a number that is small enough to compute with. */
export function requireComputable(value: Value): number {
  const given = Number(value);
  return Math.abs(given) < 2 ** 64 ? given : fail("a number is too large to compute with");
}

export function requireWhole(value: Value): number {
  return isNumber(value) && Number.isInteger(+value) ? +value : fail("must be a whole number");
}

/** Returns a member of a value. */
export function member(value: Value, key: Value): Value {
  const found = findMember(value, settle(key));
  const isOpen = grows(value) && (found === undefined || key === "length" || Number(key) < 0);
  return found === WAITING || found === MARK || isOpen ? wait() : found;
}

function findMember(value: Value, key: Value): Value {
  if (isText(value) || isList(value)) {
    if (isNumber(key)) {
      const all = isText(value) ? points(value) : value;
      return Number.isInteger(+key) ? all[+key < 0 ? all.length + +key : +key] : undefined;
    }
    return key === "length" ? (isText(value) ? size(value) : value.length) : undefined;
  }
  if (value instanceof Runtime) return value.member(key);
  return isDict(value) && key !== undefined && !isHolder(key) && has(value, String(key))
    ? value[String(key)]
    : undefined;
}

export function equal(left: Value, right: Value): boolean {
  step();
  if (left === right) return true;
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (left && right) [left, right].forEach(settle);
  if (!isHolder(left) || !isHolder(right)) {
    return isNumber(left) && isNumber(right) && +left === +right;
  }
  if (isList(left) && isList(right)) {
    return left.length === right.length && left.every((each, at) => equal(each, right[at]));
  }
  if (!isDict(left) || !isDict(right)) return false;
  const keys = Object.keys(left);
  return (
    keys.length === Object.keys(right).length &&
    keys.every((key) => has(right, key) && equal(left[key], right[key]))
  );
}

/** Returns a number below, at, or above zero: texts by code points, lists by their elements. */
export function compare(left: Value, right: Value): number {
  step();
  [left, right].forEach(settle);
  if (isNumber(left) && isNumber(right)) return +left - +right;
  if (isText(left) && isText(right)) {
    let at = 0;
    while (at < left.length && left[at] === right[at]) at++;
    step(at >> 6);
    return (left.codePointAt(at) ?? -1) - (right.codePointAt(at) ?? -1);
  }
  if (isList(left) && isList(right)) {
    const at = left.findIndex((each, i) => i >= right.length || !equal(each, right[i]));
    return at < 0 || at >= right.length ? left.length - right.length : compare(left[at], right[at]);
  }
  return fail("these cannot be ordered");
}

/** Returns the elements that a loop over a value visits. */
export function listElements(value: Value): Value[] {
  const found = isList(value)
    ? value
    : isNothing(value)
      ? []
      : isText(value)
        ? Array.from(value)
        : isDict(value)
          ? Object.keys(value)
          : fail("this cannot be looped over");
  step(found.length);
  return found;
}

function number(value: number): string {
  if (Number.isInteger(value)) {
    return Math.abs(value) < 2 ** 53 ? String(value) : String(BigInt(value));
  }
  if (Math.abs(value) >= 1e-4 || Number.isNaN(value)) return String(value);
  return value.toExponential().replace(/e-(\d)$/, "e-0$1");
}

export function text(value: Value): string {
  if (isText(value)) return value;
  if (value === undefined) return "";
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return number(value);
  settle<Value>(value);
  if (isList(value)) return pay(`[${value.map(quote).join(", ")}]`);
  if (!isDict(value)) return fail("this cannot be shown as text");
  const entries = Object.entries(value);
  return pay(`{${entries.map(([key, each]) => `${quote(key)}: ${quote(each)}`).join(", ")}}`);
}

const SHORT: Dict = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

function quote(value: Value): string {
  step();
  if (!isText(value)) return text(value);
  const mark = value.includes("'") && !value.includes('"') ? '"' : "'";
  const shown = value.replace(/[\\'"]|\p{C}|\p{Z}/gu, (char) => {
    if (char === " " || (/['"]/.test(char) && char !== mark)) return char;
    if (char === "\\" || char === mark) return `\\${char}`;
    const code = char.codePointAt(0) ?? 0;
    const [letter, width] = code < 256 ? ["x", 2] : code < 65536 ? ["u", 4] : ["U", 8];
    return String(SHORT[char] ?? `\\${letter}${code.toString(16).padStart(Number(width), "0")}`);
  });
  return mark + shown + mark;
}

export function tojson(value: Value): string {
  if (isHolder(value)) {
    const json = JSON.stringify(value, (_key, each) => {
      step();
      if (each instanceof Runtime) fail("this cannot be shown as JSON");
      return each ?? null;
    });
    return pay(json);
  }
  return Number.isFinite(value) ? number(Number(value)) : JSON.stringify(value ?? null);
}

/** Prints a value as JavaScript's own `String`, but nothing for what is absent. */
export function javascriptText(value: Value): string {
  if (value === undefined) return "";
  step();
  if (isList(value)) {
    return pay(
      settle(value)
        .map((each) => (each === null ? "" : javascriptText(each)))
        .join(","),
    );
  }
  return isHolder(value) ? "[object Object]" : String(value);
}
