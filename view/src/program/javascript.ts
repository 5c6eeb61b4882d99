/** What JSX means by its operators, methods and functions; absent stays absent, as on the server. */

import {
  type Dict,
  fail,
  isDict,
  isHolder,
  isList,
  isNothing,
  isText,
  listed,
  member,
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

const ofText =
  (change: (text: string, ...args: Value[]) => Value) =>
  (value: Value, ...args: Value[]) => {
    if (isNothing(value)) return undefined;
    const made = isText(value) ? change(value, ...args) : fail("this is no text");
    return isText(made) ? paid(made) : made;
  };

/** The number of letters before an offset in UTF-16. */
const before = (text: string, offset: number) =>
  offset < 0 ? offset : Array.from(text.slice(0, offset)).length;

function padding(text: string, width: Value, fill: Value = " "): string {
  const pad = Array.from(shown(fill));
  const missing = (place(width) ?? 0) - Array.from(text).length;
  if (missing <= 0 || !pad.length) return "";
  step(missing >> 6);
  return Array.from({ length: missing }, (_, at) => pad[at % pad.length]).join("");
}

const list = (value: Value) =>
  isText(value) || isDict(value) ? fail("this is no list") : [...listed(value)];
const reversed = (value: Value) => list(value).reverse();
const sorted = (value: Value) => {
  const values = list(value);
  const texts = new Map(values.map((each) => [each, shown(each)] as const));
  return values.sort((left, right) => {
    const [one, other] = [texts.get(left) ?? "", texts.get(right) ?? ""];
    return one < other ? -1 : one > other ? 1 : 0;
  });
};

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
  at: (value, index) => member(value, place(index) ?? 0),
  charAt: ofText((text, index) => Array.from(text)[place(index) ?? 0] ?? ""),
  concat: (value, other) =>
    isText(value) ? paid(value + shown(other)) : [listed(value), other].flat(),
  endsWith: ofText((text, part) => text.endsWith(shown(part))),
  flat: (value) => listed(value).flat(),
  indexOf: (value, sought) =>
    isText(value)
      ? before(value, value.indexOf(shown(sought)))
      : listed(value).indexOf(sought as never),
  padEnd: ofText((text, width, fill) => text + padding(text, width, fill)),
  padStart: ofText((text, width, fill) => padding(text, width, fill) + text),
  repeat: ofText((text, count = 0) => {
    const times = place(count) ?? 0;
    step((times * text.length) >> 6);
    return times < 0 ? fail("repeat takes a number from 0") : text.repeat(times);
  }),
  replace: ofText((text, old, by) => text.replace(shown(old), () => shown(by))),
  replaceAll: ofText((text, old, by) => text.replaceAll(shown(old), () => shown(by))),
  reverse: reversed,
  sort: sorted,
  split: ofText((text, between) =>
    between === undefined ? [text] : between === "" ? Array.from(text) : text.split(shown(between)),
  ),
  startsWith: ofText((text, part) => text.startsWith(shown(part))),
  substring: ofText((text, start, stop) => {
    const letters = Array.from(text);
    const [from, to] = [place(start) ?? 0, place(stop) ?? letters.length];
    return letters.slice(Math.max(0, Math.min(from, to)), Math.max(0, from, to)).join("");
  }),
  toReversed: reversed,
  toSorted: sorted,
  toString: shown,
};

const rounded =
  (compute: (...numbers: number[]) => number) =>
  (...args: Value[]) => {
    if (!args.length || args.includes(undefined)) return undefined;
    const numbers = args.map(toNumber);
    return numbers.every(Number.isFinite) ? compute(...numbers) : Number.NaN;
  };

const parsed = (parse: (text: string) => number) => (value: Value) =>
  value === undefined ? value : parse(shown(value));

const object = (value: Value): Dict =>
  isText(value) ? { ...Array.from(value) } : isHolder(value) ? (value as Dict) : {};

export const FUNCTIONS: Readonly<Record<string, (...args: Value[]) => Value>> = {
  String: shown,
  Number: (...args) => (!args.length ? 0 : args[0] === undefined ? undefined : toNumber(args[0])),
  Boolean: isTrue,
  typeof: (value) => typeof value,
  isNaN: (value) => Number.isNaN(toNumber(value)),
  parseFloat: parsed(Number.parseFloat),
  parseInt: parsed((text) => Number.parseInt(text, 10)),
  "Array.from": (value) => {
    if (!isDict(value)) return [...listed(value)];
    const length = Math.max(0, place(value.length) ?? 0);
    step(length);
    return Array.from({ length });
  },
  "Array.isArray": isList,
  "Object.entries": (value) => Object.entries(object(value)),
  "Object.keys": (value) => Object.keys(object(value)),
  "Object.values": (value) => Object.values(object(value)),
  "Math.round": rounded(Math.round),
  "Math.floor": rounded(Math.floor),
  "Math.ceil": rounded(Math.ceil),
  "Math.trunc": rounded(Math.trunc),
  "Math.abs": rounded(Math.abs),
  "Math.min": rounded(Math.min),
  "Math.max": rounded(Math.max),
  "Math.pow": rounded(Math.pow),
  "Math.sqrt": rounded(Math.sqrt),
};

type Turn = (...args: Value[]) => Value;

const sortedBy = (values: Value[], turn: Turn) =>
  values.sort((left, right) => toNumber(turn(left, right)) || 0);

export const LOOPS: Readonly<
  Record<string, (values: Value[], turn: Turn, ...initial: Value[]) => Value>
> = {
  map: (values, turn) => values.map((each, at) => turn(each, at)),
  findIndex: (values, turn) => values.findIndex((each, at) => isTrue(turn(each, at))),
  flatMap: (values, turn) => values.flatMap((each, at) => turn(each, at)),
  reduce: (values, turn, ...initial) => {
    const skipped = 1 - initial.length;
    return values
      .slice(skipped)
      .reduce<Value>(
        (made, each, at) => turn(made, each, at + skipped),
        initial.length ? initial[0] : values[0],
      );
  },
  sort: sortedBy,
  toSorted: sortedBy,
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
