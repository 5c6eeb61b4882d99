/** What JSX means by its operators, methods and functions; absent stays absent, as on the server. */

import {
  fail,
  isHolder,
  isList,
  isNothing,
  isText,
  listed,
  paid,
  javascriptText as shown,
  step,
  type Value,
} from "./values";

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** What is empty but holds nothing is true, as in JavaScript. */
export const isTrue = (value: Value): boolean => Boolean(value);

export function toNumber(value: Value): number {
  if (value === undefined) return Number.NaN;
  if (!isHolder(value) && !isText(value)) return Number(value);
  const trimmed = shown(value).trim();
  return trimmed === "" ? 0 : DECIMAL.test(trimmed) ? Number(trimmed) : Number.NaN;
}

type Binary = (left: Value, right: Value) => Value;

const arithmetic =
  (compute: (left: number, right: number) => number): Binary =>
  (left, right) =>
    left === undefined || right === undefined
      ? undefined
      : compute(toNumber(left), toNumber(right));

const ordering =
  (holds: (left: string | number, right: string | number) => boolean): Binary =>
  (left, right) => {
    if (isText(left) && isText(right)) return holds(left, right);
    return left !== undefined && right !== undefined && holds(toNumber(left), toNumber(right));
  };

const joins = (value: Value) => isText(value) || isHolder(value);
const sum = arithmetic((left, right) => left + right);

function equal(left: Value, right: Value): boolean {
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (isHolder(left) && isHolder(right)) return left === right;
  return joins(left) && joins(right)
    ? shown(left) === shown(right)
    : toNumber(left) === toNumber(right);
}

export const OPERATORS: Readonly<Record<string, Binary>> = {
  "+": (left, right) =>
    joins(left) || joins(right) ? paid(shown(left) + shown(right)) : sum(left, right),
  "-": arithmetic((left, right) => left - right),
  "*": arithmetic((left, right) => left * right),
  "/": arithmetic((left, right) => left / right),
  "%": arithmetic((left, right) => left % right),
  "===": (left, right) => left === right,
  "!==": (left, right) => left !== right,
  "==": equal,
  "!=": (left, right) => !equal(left, right),
  "<": ordering((left, right) => left < right),
  "<=": ordering((left, right) => left <= right),
  ">": ordering((left, right) => left > right),
  ">=": ordering((left, right) => left >= right),
};

function place(value: Value): number | undefined {
  if (value === undefined) return undefined;
  const given = toNumber(value);
  return Number.isFinite(given) ? Math.trunc(given) : 0;
}

const ofText = (change: (text: string) => string) => (value: Value) =>
  isNothing(value) ? undefined : isText(value) ? paid(change(value)) : fail("this is no text");

export const METHODS: Readonly<Record<string, (subject: Value, ...args: Value[]) => Value>> = {
  includes: (value, sought) =>
    isText(value) ? value.includes(shown(sought)) : listed(value).includes(sought),
  join: (value, between) => {
    const separator = between === undefined ? "," : shown(between);
    if (isText(value)) return fail("a text cannot be joined");
    const parts = listed(value).map((each) => (isNothing(each) ? "" : shown(each)));
    return paid(parts.join(separator));
  },
  slice: (value, start, stop) => {
    if (isNothing(value)) return undefined;
    const cut = (
      isText(value) ? Array.from(value) : isList(value) ? value : fail("this has no slices")
    ).slice(place(start), place(stop));
    return isText(value) ? paid(cut.join("")) : cut;
  },
  toFixed: (value, digits = 0) => {
    const count = place(digits) ?? 0;
    if (value === undefined) return undefined;
    return count >= 0 && count <= 100 ? toNumber(value).toFixed(count) : fail("too many digits");
  },
  toLowerCase: ofText((text) => text.toLowerCase()),
  toUpperCase: ofText((text) => text.toUpperCase()),
  trim: ofText((text) => text.trim()),
};

const rounded =
  (compute: (...numbers: number[]) => number) =>
  (...args: Value[]) => {
    if (!args.length || args.includes(undefined)) return undefined;
    const numbers = args.map(toNumber);
    return numbers.every(Number.isFinite) ? compute(...numbers) : Number.NaN;
  };

export const FUNCTIONS: Readonly<Record<string, (...args: Value[]) => Value>> = {
  String: shown,
  Number: (...args) => (!args.length ? 0 : args[0] === undefined ? undefined : toNumber(args[0])),
  Boolean: isTrue,
  "Math.round": rounded(Math.round),
  "Math.floor": rounded(Math.floor),
  "Math.ceil": rounded(Math.ceil),
  "Math.abs": rounded(Math.abs),
  "Math.min": rounded(Math.min),
  "Math.max": rounded(Math.max),
};

type Turn = (value: Value, at: number) => Value;

export const LOOPS: Readonly<Record<string, (values: Value[], turn: Turn) => Value>> = {
  map: (values, turn) => values.map(turn),
  filter: (values, turn) => values.filter((each, at) => isTrue(turn(each, at))),
  find: (values, turn) => values.find((each, at) => isTrue(turn(each, at))),
  some: (values, turn) => values.some((each, at) => isTrue(turn(each, at))),
  every: (values, turn) => values.every((each, at) => isTrue(turn(each, at))),
};

/** Returns children as React shows them: lists joined, and nothing for what shows as nothing. */
export function children(values: readonly Value[]): Value[] {
  return values.flatMap((value) => {
    step();
    if (isList(value)) return children(value);
    return isNothing(value) || typeof value === "boolean" || value === "" ? [] : [value];
  });
}
