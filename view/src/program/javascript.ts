/** Operators, methods and functions of JSX; absent stays absent, as on the server. */

import {
  type Dict,
  fail,
  grows,
  growWith,
  isDict,
  isHolder,
  isList,
  isNothing,
  isText,
  listElements,
  MARK,
  pay,
  settle,
  javascriptText as shown,
  step,
  type Value,
} from "./values";

const DECIMAL = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

/** Returns JavaScript's truth of a value: empty lists and objects are true. */
export const isTrue = (value: Value): boolean => Boolean(value);

export function toNumber(value: Value): number {
  if (value === undefined) return Number.NaN;
  if (!isHolder(value) && !isText(value)) return Number(value);
  const trimmed = shown(settle(value)).trim();
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
    if (isText(left) && isText(right)) return holds(settle(left), settle(right));
    return left !== undefined && right !== undefined && holds(toNumber(left), toNumber(right));
  };

const isJoining = (value: Value) => isText(value) || isHolder(value);
const addNumbers = arithmetic((left, right) => left + right);

function equal(left: Value, right: Value): boolean {
  if (isNothing(left) || isNothing(right)) return isNothing(left) && isNothing(right);
  if (isHolder(left) && isHolder(right)) return left === right;
  if (left && right) [left, right].forEach(settle);
  return isJoining(left) && isJoining(right)
    ? shown(left) === shown(right)
    : toNumber(left) === toNumber(right);
}

const isIdentical = (left: Value, right: Value) =>
  isText(left) && isText(right) && left && right ? settle(left) === settle(right) : left === right;

export const OPERATORS: Readonly<Record<string, Binary>> = {
  "+": (left, right) =>
    isJoining(left) || isJoining(right) ? pay(shown(left) + shown(right)) : addNumbers(left, right),
  "-": arithmetic((left, right) => left - right),
  "*": arithmetic((left, right) => left * right),
  "/": arithmetic((left, right) => left / right),
  "%": arithmetic((left, right) => left % right),
  "===": isIdentical,
  "!==": (left, right) => !isIdentical(left, right),
  "==": equal,
  "!=": (left, right) => !equal(left, right),
  "<": ordering((left, right) => left < right),
  "<=": ordering((left, right) => left <= right),
  ">": ordering((left, right) => left > right),
  ">=": ordering((left, right) => left >= right),
};

function toIndex(value: Value): number | undefined {
  if (value === undefined) return undefined;
  const given = toNumber(value);
  return Number.isFinite(given) ? Math.trunc(given) : 0;
}

const onText =
  (change: (text: string, ...args: Value[]) => Value) =>
  (value: Value, ...args: Value[]) => {
    if (isNothing(value)) return undefined;
    const made = isText(value) ? change(value, ...args) : fail("this is no text");
    return isText(made) ? pay(made) : made;
  };

/** The number of letters before an offset in UTF-16. */
const countBefore = (text: string, offset: number) =>
  offset < 0 ? offset : Array.from(text.slice(0, offset)).length;

function makePadding(text: string, width: Value, fill: Value = " "): string {
  const pad = Array.from(shown(fill));
  const missing = (toIndex(width) ?? 0) - Array.from(text).length;
  if (missing <= 0 || !pad.length) return "";
  step(missing >> 6);
  return Array.from({ length: missing }, (_, at) => pad[at % pad.length]).join("");
}

export const METHODS: Readonly<Record<string, (subject: Value, ...args: Value[]) => Value>> = {
  includes: (value, sought) =>
    isText(value) ? value.includes(shown(sought)) : listElements(value).includes(sought),
  join: (value, between) => {
    const separator = between === undefined ? "," : shown(between);
    if (isText(value)) return fail("a text cannot be joined");
    const parts = listElements(value).map((each) => (isNothing(each) ? "" : shown(each)));
    return pay(parts.join(separator) + (grows(value) ? MARK : ""));
  },
  slice: (value, start, stop) => {
    if (isNothing(value)) return undefined;
    const [from, to] = [toIndex(start) ?? 0, toIndex(stop) ?? Infinity];
    if (from < 0 || to < 0) settle(value);
    const all = isText(value) ? Array.from(value) : isList(value) ? value : undefined;
    const cut = (all ?? fail("this has no slices")).slice(from, to);
    if (isText(value)) return pay(cut.join(""));
    return to > (all?.length ?? 0) ? growWith(value, cut) : cut;
  },
  toFixed: (value, digits = 0) => {
    const count = toIndex(digits) ?? 0;
    if (value === undefined) return undefined;
    return count >= 0 && count <= 100 ? toNumber(value).toFixed(count) : fail("too many digits");
  },
  toLowerCase: onText((text) => text.toLowerCase()),
  toUpperCase: onText((text) => text.toUpperCase()),
  trim: onText((text) => text.trim()),
  charAt: onText((text, index) => Array.from(text)[toIndex(index) ?? 0] ?? ""),
  endsWith: onText((text, part) => text.endsWith(shown(part))),
  indexOf: (value, sought) =>
    isText(value)
      ? countBefore(value, value.indexOf(shown(sought)))
      : listElements(value).indexOf(sought as never),
  padEnd: onText((text, width, fill) => text + makePadding(text, width, fill)),
  padStart: onText((text, width, fill) => makePadding(text, width, fill) + text),
  repeat: onText((text, count = 0) => {
    const times = toIndex(count) ?? 0;
    step((times * text.length) >> 6);
    return times < 0 ? fail("repeat takes a number from 0") : text.repeat(times);
  }),
  replace: onText((text, old, by) => text.replace(shown(old), () => shown(by))),
  replaceAll: onText((text, old, by) => text.replaceAll(shown(old), () => shown(by))),
  reverse: (value) => {
    const isBare = isText(value) || isDict(value);
    return isBare ? fail("this is no list") : [...listElements(value)].reverse();
  },
  split: onText((text, between) => {
    if (between === undefined) return growWith(text, [text]);
    const sign = shown(between);
    if (sign.length > 1) settle(text);
    return growWith(text, sign ? text.split(sign) : Array.from(text));
  }),
  startsWith: onText((text, part) => text.startsWith(shown(part))),
  substring: onText((text, start, stop) => {
    const letters = Array.from(text);
    const [from, to] = [toIndex(start) ?? 0, toIndex(stop) ?? letters.length];
    return letters.slice(Math.max(0, Math.min(from, to)), Math.max(0, from, to)).join("");
  }),
};

const roundWith =
  (compute: (...numbers: number[]) => number) =>
  (...args: Value[]) => {
    if (!args.length || args.includes(undefined)) return undefined;
    const numbers = args.map(toNumber);
    return numbers.every(Number.isFinite) ? compute(...numbers) : Number.NaN;
  };

const parseWith = (parse: (text: string) => number) => (value: Value) =>
  value === undefined ? value : parse(shown(settle(value)));

const toObject = (value: Value): Dict =>
  isText(value) ? { ...Array.from(value) } : isHolder(value) ? (value as Dict) : {};

export const FUNCTIONS: Readonly<Record<string, (...args: Value[]) => Value>> = {
  String: shown,
  Number: (...args) => (!args.length ? 0 : args[0] === undefined ? undefined : toNumber(args[0])),
  Boolean: isTrue,
  typeof: (value) => typeof value,
  parseFloat: parseWith(Number.parseFloat),
  parseInt: parseWith((text) => Number.parseInt(text, 10)),
  "Array.from": (value) => {
    if (!isDict(value)) return growWith(value, [...listElements(value)]);
    const length = Math.max(0, toIndex(value.length) ?? 0);
    step(length);
    return Array.from({ length });
  },
  "Array.isArray": isList,
  "Object.entries": (value) => growWith(value, Object.entries(toObject(value))),
  "Object.keys": (value) => growWith(value, Object.keys(toObject(value))),
  "Object.values": (value) => growWith(value, Object.values(toObject(value))),
  "Math.round": roundWith(Math.round),
  "Math.floor": roundWith(Math.floor),
  "Math.ceil": roundWith(Math.ceil),
  "Math.abs": roundWith(Math.abs),
  "Math.min": roundWith(Math.min),
  "Math.max": roundWith(Math.max),
};

type Turn = (...args: Value[]) => Value;

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
  sort: (values, turn) => values.sort((left, right) => toNumber(turn(left, right)) || 0),
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
