/**
 * Operators, filters, tests, methods and functions of templates, as the server has them.
 *
 * Arguments given by name are in their positions. `widgetd/core/template/vocabulary.json`
 * says which of them the page has; a test holds these tables to it.
 */

import {
  compare,
  type Dict,
  dict,
  equal,
  fail,
  Group,
  has,
  isDict,
  isHolder,
  isList,
  isNothing,
  isNumber,
  isText,
  listElements,
  member,
  pay,
  points,
  Runtime,
  requireComputable,
  requireWhole,
  size,
  step,
  Tuple,
  text,
  tojson,
  truthy,
  tuple,
  type Value,
} from "./values";

type Function = (...args: Value[]) => Value;
type Table = Readonly<Record<string, Function>>;

// --- operators ---

function computePair(
  left: Value,
  right: Value,
  compute: (left: number, right: number) => number,
): Value {
  if (isNumber(left) && isNumber(right))
    return requireComputable(compute(requireComputable(left), requireComputable(right)));
  return isNothing(left) || isNothing(right) ? undefined : fail("these cannot be computed with");
}

const divisor = (value: number) => value || fail("cannot divide by zero");

function add(left: Value, right: Value): Value {
  if (isText(left) || isText(right)) {
    const parts = [left, right].filter((each) => !isNothing(each));
    return parts.some(isHolder) ? fail("these cannot be added") : pay(parts.map(text).join(""));
  }
  if (isList(left) && isList(right)) return pay([...left, ...right]);
  return computePair(left, right, (a, b) => a + b);
}

function multiply(left: Value, right: Value): Value {
  const [subject, times] =
    (isText(right) || isList(right)) && isNumber(left) ? [right, left] : [left, right];
  if (isNumber(times) && (isText(subject) || (isList(subject) && !(subject instanceof Tuple)))) {
    const count = subject.length ? Math.max(0, requireWhole(times)) : 0;
    step(isText(subject) ? (subject.length * count) >>> 6 : subject.length * count);
    if (subject.length * count > 2 ** 20) fail("too much text");
    return isText(subject)
      ? subject.repeat(count)
      : Array.from({ length: count }, () => subject).flat();
  }
  return computePair(left, right, (a, b) => a * b);
}

function remainder(left: Value, right: Value): Value {
  if (isText(left)) {
    if (isDict(right)) return fail("a format takes values by position");
    return format(left, ...(right instanceof Tuple ? right : [right]));
  }
  return computePair(left, right, (a, b) => {
    const rest = a % divisor(b);
    return rest && rest < 0 !== b < 0 ? rest + b : rest;
  });
}

const compareWith =
  (holds: (order: number) => boolean): Function =>
  (left, right) =>
    isNothing(left) || isNothing(right) ? false : holds(compare(left, right));

function contains(sought: Value, value: Value): boolean {
  if (isNothing(value)) return false;
  if (isText(value)) {
    step(value.length >> 6);
    if (isNothing(sought)) return false;
    return isText(sought) ? value.includes(sought) : fail("only a text is in a text");
  }
  if (isDict(value)) return (isText(sought) || isNumber(sought)) && has(value, String(sought));
  return isList(value) ? value.some((each) => equal(sought, each)) : fail("nothing is in this");
}

const [below, atMost] = [compareWith((order) => order < 0), compareWith((order) => order <= 0)];
const [above, atLeast] = [compareWith((order) => order > 0), compareWith((order) => order >= 0)];
const differs: Function = (left, right) => !equal(left, right);

export const BINARY: Table = {
  "+": add,
  "-": (left, right) => computePair(left, right, (a, b) => a - b),
  "*": multiply,
  "/": (left, right) => computePair(left, right, (a, b) => a / divisor(b)),
  "//": (left, right) => computePair(left, right, (a, b) => Math.floor(a / divisor(b))),
  "%": remainder,
  "**": (left, right) => computePair(left, right, (a, b) => a ** b),
  eq: equal,
  ne: differs,
  lt: below,
  lteq: atMost,
  gt: above,
  gteq: atLeast,
  in: contains,
  notin: (left, right) => !contains(left, right),
};

/** Returns a slice as Python takes it. */
export function slice(value: Value, start: Value, stop: Value, by: Value): Value {
  if (isNothing(value)) return undefined;
  const all = isText(value) ? points(value) : isList(value) ? value : fail("this has no slices");
  const [pace, length] = [isNothing(by) ? 1 : requireWhole(by), all.length];
  if (!pace) fail("a slice cannot have steps of zero");
  const [low, high] = pace > 0 ? [0, length] : [-1, length - 1];
  const bound = (at: Value, or: number) => {
    if (isNothing(at)) return or;
    const place = requireWhole(at);
    return Math.min(Math.max(place < 0 ? place + length : place, low), high);
  };
  const [from, to] =
    pace > 0 ? [bound(start, low), bound(stop, high)] : [bound(start, high), bound(stop, low)];
  const made: Value[] = [];
  for (let at = from; pace > 0 ? at < to : at > to; at += pace) made.push(all[at]);
  step(isText(value) ? made.length >> 6 : made.length);
  return isText(value) ? made.join("") : made;
}

// --- tests ---

const isCased =
  (to: (text: string) => string, other: (text: string) => string): Function =>
  (value) =>
    to(text(value)) === text(value) && text(value) !== other(text(value));
const upperCase = (shown: string) => shown.toUpperCase();
const lowerCase = (shown: string) => shown.toLowerCase();
const isSequence: Function = (value) => isText(value) || isList(value) || isDict(value);

export const TESTS: Table = {
  odd: (value) => remainder(value, 2) === 1,
  even: (value) => remainder(value, 2) === 0,
  divisibleby: (value, by) => remainder(value, by) === 0,
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: isNothing,
  boolean: (value) => typeof value === "boolean",
  false: (value) => value === false,
  true: (value) => value === true,
  integer: Number.isInteger, // JSON does not tell 5 from 5.0
  float: (value) => typeof value === "number" && !Number.isInteger(value),
  number: isNumber,
  lower: isCased(lowerCase, upperCase),
  upper: isCased(upperCase, lowerCase),
  string: isText,
  mapping: isDict,
  sequence: isSequence,
  iterable: (value) => value === undefined || isSequence(value),
  callable: (value) => value instanceof Runtime,
  sameas: (value, other) => value === other || (isNothing(value) && isNothing(other)),
  escaped: () => false,
  filter: (value) => isText(value) && has(FILTERS, value),
  test: (value) => isText(value) && has(TESTS, value),
  in: contains,
  ...Object.fromEntries(["==", "eq", "equalto"].map((name) => [name, equal])),
  ...Object.fromEntries(["!=", "ne"].map((name) => [name, differs])),
  ...Object.fromEntries([">", "gt", "greaterthan"].map((name) => [name, above])),
  ...Object.fromEntries([">=", "ge"].map((name) => [name, atLeast])),
  ...Object.fromEntries(["<", "lt", "lessthan"].map((name) => [name, below])),
  ...Object.fromEntries(["<=", "le"].map((name) => [name, atMost])),
};

// --- filters ---

type Key = (value: Value) => Value;

/** Returns what reads a dotted path in an element. */
function getter(attribute: Value, or?: Value): Key {
  const parts = isNothing(attribute)
    ? []
    : isText(attribute)
      ? attribute.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part))
      : [attribute];
  return (value) => {
    step(parts.length);
    const found = parts.reduce<Value>(member, value);
    return found === undefined ? or : found;
  };
}

const foldCase =
  (key: Key, isSensitive: Value): Key =>
  (value) => {
    const held = key(value);
    return isText(held) && !truthy(isSensitive) ? held.toLowerCase() : held;
  };

/** Sorts by keys, nothing last. */
function sortByKeys(values: Value[], keys: Key[], reverse: Value = false): Value[] {
  const sign = truthy(reverse) ? -1 : 1;
  const by = (left: Value, right: Value) => {
    if (isNothing(left) || isNothing(right))
      return Number(isNothing(left)) - Number(isNothing(right));
    return equal(left, right) ? 0 : compare(left, right);
  };
  const ranked = values.map((value) => ({ value, ranks: keys.map((key) => key(value)) }));
  ranked.sort((left, right) => {
    for (const [at, rank] of left.ranks.entries()) {
      const order = by(rank, right.ranks[at]);
      if (order) return sign * order;
    }
    return 0;
  });
  return ranked.map(({ value }) => value);
}

const findExtreme =
  (reverse: boolean): Function =>
  (value, isSensitive, attribute) => {
    const key = foldCase(getter(attribute), isSensitive);
    const known = listElements(value).filter((each) => !isNothing(key(each)));
    return sortByKeys(known, [key], reverse)[0];
  };

const end =
  (at: number): Function =>
  (value) =>
    Array.from(isText(value) ? points(value) : listElements(value)).at(at);

const filterWith =
  (keep: boolean, byAttribute: boolean): Function =>
  (value, ...given) => {
    const read = getter(byAttribute && given.length ? given.shift() : undefined);
    const test = given.length ? findNamed(TESTS, given.shift()) : truthy;
    return listElements(value).filter((each) => truthy(test(read(each), ...given)) === keep);
  };

const findNamed = (table: Table, name: Value): Function =>
  (isText(name) && has(table, name) ? table[name] : undefined) ?? fail("no filter has this name");

// Python's white space, which is JavaScript's but for a few.
const SPACE =
  "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const [HEAD, TAIL] = [new RegExp(`^${SPACE}+`), new RegExp(`(?<!${SPACE})${SPACE}+$`)];
const GAP = new RegExp(`${SPACE}+`);

const stripWith =
  (head: boolean, tail: boolean): Function =>
  (value, chars) => {
    const shown = pay(text(value));
    if (isNothing(chars)) {
      const started = head ? shown.replace(HEAD, "") : shown;
      return tail ? started.replace(TAIL, "") : started;
    }
    const [all, gone] = [Array.from(shown), new Set(Array.from(text(chars)))];
    let [start, stop] = [0, all.length];
    while (head && start < stop && gone.has(all[start] ?? "")) start++;
    while (tail && stop > start && gone.has(all[stop - 1] ?? "")) stop--;
    return all.slice(start, stop).join("");
  };
const trim = stripWith(true, true);
const trimText = (value: Value) => String(trim(value));

function capitalizeWord(part: string): string {
  const [first = "", ...rest] = Array.from(part);
  return first.toUpperCase() + rest.join("").toLowerCase();
}

function replace(value: Value, old: Value, by: Value, count?: Value): Value {
  const [shown, sought, put] = [text(value), text(old), text(by)];
  const most =
    isNothing(count) || requireWhole(count) < 0 ? Number.POSITIVE_INFINITY : requireWhole(count);
  const parts = sought ? shown.split(sought) : ["", ...Array.from(shown), ""];
  const turns = Math.min(parts.length - 1, most);
  step(parts.length + ((turns * put.length) >>> 6));
  const rest = parts.slice(turns + 1).join(sought);
  const made = parts.slice(0, turns + 1).join(put);
  return turns < parts.length - 1 ? made + sought + rest : made;
}

/** Rounds to the nearest, and of two as near to the even one, by the exact value. */
function roundNearest(value: number, digits: number): number {
  if (digits < 0) {
    const unit = 10 ** -digits;
    const low = Math.floor(value / unit);
    const rest = value - low * unit;
    return (low + Number(rest * 2 > unit || (rest * 2 === unit && low % 2 !== 0))) * unit;
  }
  if (Math.abs(value) >= 1e21) return value;
  const shown = value.toFixed(digits);
  const exact = value.toFixed(Math.min(100, digits + 60));
  if (!/^50*$/.test(exact.slice(exact.indexOf(".") + 1 + digits))) return Number(shown);
  const isOdd = Number(shown.replace(".", "").at(-1)) % 2;
  return isOdd
    ? Number((Number(shown) - Math.sign(value) * 10 ** -digits).toFixed(digits))
    : Number(shown);
}

function rounded(value: Value, precision: Value = 0, method: Value = "common"): Value {
  if (isNothing(value)) return undefined;
  const digits = requireWhole(precision);
  if (!isNumber(value) || Math.abs(digits) > 30) fail("this cannot be rounded");
  if (method === "common") return roundNearest(requireComputable(value), digits);
  const round = method === "ceil" ? Math.ceil : method === "floor" ? Math.floor : undefined;
  return round
    ? round(requireComputable(value) * 10 ** digits) / 10 ** digits
    : fail("no such method");
}

const INTEGER = /^[+-]?\d+(?:_\d+)*$/;
const DECIMAL = /^[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

function integer(value: Value, or: Value = 0, base: Value = 10): Value {
  if (isNumber(value)) return Math.trunc(requireComputable(value));
  if (!isText(value)) return or;
  const shown = trimText(value).replaceAll("_", "");
  if (base !== 10) {
    const digits = shown.replace(/^[+-]?(?:0x)?/i, "");
    const isRead =
      digits && [...digits].every((digit) => Number.parseInt(digit, 36) < requireWhole(base));
    if (isRead) return Number.parseInt(shown, requireWhole(base));
  }
  const isRead = INTEGER.test(trimText(value)) || DECIMAL.test(shown);
  return isRead ? Math.trunc(requireComputable(shown)) : or;
}

function float(value: Value, or: Value = 0): Value {
  if (isNumber(value)) return requireComputable(value);
  const shown = isText(value) ? trimText(value) : "";
  return DECIMAL.test(shown) ? requireComputable(shown.replaceAll("_", "")) : or;
}

function truncate(
  value: Value,
  length: Value = 255,
  killWords: Value = false,
  ending: Value = "...",
  leeway: Value = 5,
): Value {
  const shown = Array.from(text(value));
  const [most, tail, slack] = [
    requireWhole(length),
    text(ending),
    isNothing(leeway) ? 5 : requireWhole(leeway),
  ];
  if (most < size(tail) || slack < 0) fail("truncate needs a longer length");
  if (shown.length <= most + slack) return text(value);
  const cut = shown.slice(0, most - size(tail)).join("");
  const space = cut.lastIndexOf(" ");
  return (truthy(killWords) || space < 0 ? cut : cut.slice(0, space)) + tail;
}

function unique(value: Value, isSensitive: Value, attribute: Value): Value {
  const key = foldCase(getter(attribute), isSensitive);
  const marks: Value[] = [];
  return listElements(value).filter((each) => {
    const held = key(each);
    const mark = isHolder(held) ? text(held) : held;
    return !marks.some((known) => equal(known, mark)) && marks.push(mark);
  });
}

function groupby(value: Value, attribute: Value, or?: Value, isSensitive: Value = false): Value {
  const read = getter(attribute, or ?? undefined);
  const key = foldCase(read, isSensitive);
  const groups: Value[][] = [];
  let last: Value;
  for (const each of sortByKeys(listElements(value), [key])) {
    const group = groups.at(-1);
    if (group && equal(last, key(each))) group.push(each);
    else groups.push([each]);
    last = key(each);
  }
  return groups.map((group) => tuple([read(group[0]), group], new Group()));
}

function batch(value: Value, linecount: Value, fill?: Value): Value {
  const [values, count] = [listElements(value), requireWhole(linecount)];
  if (count < 1) fail("'linecount' must be at least 1");
  const missing = isNothing(fill) ? 0 : (count - (values.length % count)) % count;
  step(missing);
  const filled = [...values, ...Array(missing).fill(fill)];
  const lines = Math.ceil(filled.length / count);
  return Array.from({ length: lines }, (_, at) => filled.slice(at * count, (at + 1) * count));
}

function slices(value: Value, into: Value, fill?: Value): Value {
  const [values, count] = [listElements(value), requireWhole(into)];
  if (count < 1) fail("'slices' must be at least 1");
  step(count);
  const [each, extra] = [Math.floor(values.length / count), values.length % count];
  return Array.from({ length: count }, (_, at) => {
    const start = at * each + Math.min(at, extra);
    const part = values.slice(start, start + each + Number(at < extra));
    return isNothing(fill) || at < extra ? part : [...part, fill];
  });
}

function items(value: Value): Value[] {
  if (isNothing(value)) return [];
  if (!isDict(value)) return fail("this has no entries");
  return pay(Object.entries(value).map((entry) => tuple(entry)));
}

const joinTexts = (values: Value[], between: string) => {
  const parts = values.map(text);
  step((parts.length * between.length) >>> 6);
  return pay(parts.join(between));
};

function count(value: Value): Value {
  if (isNothing(value)) return 0;
  if (isText(value)) return size(value);
  return isSequence(value) ? listElements(value).length : fail("this has no length");
}

const orDefault: Function = (value, or = "", boolean = false) =>
  value === undefined || (truthy(boolean) && !truthy(value)) ? or : value;

const ENTITIES: Dict = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "'": "&#39;", '"': "&#34;" };
const escaped: Function = (value) =>
  pay(text(value).replace(/[&<>'"]/g, (char) => String(ENTITIES[char])));

const CONVERSION = /%([-+ 0#]*)(\d*)(?:\.(\d+))?([a-zA-Z%])/g;

/** Fills the places of `"%s of %.2f"`. */
function format(value: Value, ...values: Value[]): string {
  const pending = [...values];
  const shown = text(value).replace(CONVERSION, (_, flags, width, precision, kind) => {
    if (kind === "%") return "%";
    if (!pending.length) fail("a format has more places than values");
    if (width > 100 || precision > 100) fail("a format is too wide");
    const [sign, body] = convert(pending.shift(), flags, precision, kind);
    const pad = Math.max(0, width - sign.length - size(body));
    if (flags.includes("-")) return sign + body + " ".repeat(pad);
    const isZeroed = flags.includes("0") && !"sr".includes(kind);
    return isZeroed ? sign + "0".repeat(pad) + body : " ".repeat(pad) + sign + body;
  });
  return pending.length ? fail("a format has more values than places") : pay(shown);
}

function convert(value: Value, flags: string, precision: string | undefined, kind: string) {
  if (kind === "s" || kind === "r") {
    const shown = text(value);
    return [
      "",
      precision === undefined ? shown : Array.from(shown).slice(0, +precision).join(""),
    ] as const;
  }
  if (!isNumber(value) || !"diufFeExXo".includes(kind)) return fail("a format cannot write this");
  if ("xXo".includes(kind) && !Number.isInteger(value))
    fail("a format writes requireWhole numbers there");
  const number = "diuxXo".includes(kind)
    ? Math.trunc(requireComputable(value))
    : requireComputable(value);
  const isNegative = number < 0 || (Object.is(number, -0) && "fFeE".includes(kind));
  const sign = isNegative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  const plain = Math.abs(number);
  const digits = Number(precision ?? 6);
  const shown = "fF".includes(kind)
    ? roundNearest(plain, digits).toFixed(digits)
    : "eE".includes(kind)
      ? plain.toExponential(digits).replace(/e([+-])(\d)$/, "e$10$2")
      : plain
          .toString(kind === "o" ? 8 : "xX".includes(kind) ? 16 : 10)
          .padStart(Number(precision ?? 0), "0");
  return [sign, "XE".includes(kind) ? shown.toUpperCase() : shown] as const;
}

const lower: Function = (value) => pay(text(value).toLowerCase());
const upper: Function = (value) => pay(text(value).toUpperCase());
const capitalize: Function = (value) => capitalizeWord(pay(text(value)));

export const FILTERS: Table = {
  abs: (value) =>
    isNothing(value)
      ? undefined
      : isNumber(value)
        ? Math.abs(requireComputable(value))
        : fail("this has no absolute value"),
  batch,
  capitalize,
  count,
  length: count,
  d: orDefault,
  default: orDefault,
  dictsort: (value, isSensitive, by = "key", reverse = false) => {
    if (by !== "key" && by !== "value") fail("an object is sorted by 'key' or 'value'");
    return sortByKeys(
      items(value),
      [foldCase(getter(Number(by === "value")), isSensitive)],
      reverse,
    );
  },
  e: escaped,
  escape: escaped,
  forceescape: escaped,
  first: end(0),
  last: end(-1),
  float,
  format,
  groupby,
  int: integer,
  items,
  join: (value, between = "", attribute) =>
    joinTexts(listElements(value).map(getter(attribute)), text(between)),
  list: (value) => [...listElements(value)],
  lower,
  upper,
  map: (value, name, ...args) => {
    if (isDict(name))
      return listElements(value).map(getter(name.attribute, name.default ?? undefined));
    const filter = findNamed(FILTERS, name);
    return listElements(value).map((each) => filter(each, ...args));
  },
  max: findExtreme(true),
  min: findExtreme(false),
  reject: filterWith(false, false),
  rejectattr: filterWith(false, true),
  select: filterWith(true, false),
  selectattr: filterWith(true, true),
  replace,
  reverse: (value) =>
    isText(value) ? Array.from(value).reverse().join("") : [...listElements(value)].reverse(),
  round: rounded,
  safe: (value) => value,
  slice: slices,
  sort: (value, reverse, isSensitive, attribute) => {
    const names = isText(attribute) ? attribute.split(",") : [attribute];
    const keys = names.map((name) => foldCase(getter(name), isSensitive));
    return sortByKeys(listElements(value), keys, reverse);
  },
  string: text,
  sum: (value, attribute, start = 0) =>
    listElements(value)
      .map(getter(attribute))
      .reduce((total, held) => (isNothing(held) ? total : add(total, held)), start),
  title: (value) =>
    pay(text(value))
      .split(/([-\s({[<]+)/u)
      .map(capitalizeWord)
      .join(""),
  tojson,
  trim,
  truncate,
  unique,
  wordcount: (value) => (pay(text(value)).match(/[\p{L}\p{N}_]+/gu) ?? []).length,
};

// --- methods and functions ---

let given: Value;
let held: Set<object> | undefined;

/** Keeps the lists and objects of arguments as they came. */
export function protect(args: Value): void {
  given = args;
  held = undefined;
}

/** Returns a list or object that the program made; nothing else may be changed. */
function prepareChange<T extends object>(subject: T): T {
  if (!held) {
    held = new Set();
    const waiting = [given];
    for (const each of waiting) {
      if (!isHolder(each)) continue;
      held.add(each);
      waiting.push(...Object.values(each));
    }
  }
  return held.has(subject) ? fail("only what the template made can be changed") : subject;
}

const clampIndex = (list: Value[], at: number) =>
  at < 0 ? Math.max(0, list.length + at) : Math.min(at, list.length);

type ListMethod = (subject: Value[], ...args: Value[]) => Value;

const LIST_METHODS: Readonly<Record<string, ListMethod>> = {
  append: (list, value) => {
    prepareChange(list).push(value);
    return null;
  },
  copy: (list) => [...list],
  count: (list, value) => list.filter((each) => equal(each, value)).length,
  extend: (list, values) => {
    for (const each of [...listElements(values)]) prepareChange(list).push(each);
    return null;
  },
  index: (list, value) => {
    const found = list.findIndex((each) => equal(each, value));
    return found < 0 ? fail("the list does not hold this value") : found;
  },
  insert: (list, at, value) => {
    prepareChange(list).splice(clampIndex(list, requireWhole(at)), 0, value);
    return null;
  },
  pop: (list, at = -1) => {
    const place = requireWhole(at) < 0 ? list.length + requireWhole(at) : requireWhole(at);
    return place in prepareChange(list) ? list.splice(place, 1)[0] : undefined;
  },
};

const DICT_METHODS: Readonly<Record<string, (subject: Dict, ...args: Value[]) => Value>> = {
  copy: (of) => dict(Object.entries(of)),
  get: (of, key, or = null) => (has(of, String(key)) ? of[String(key)] : or),
  items,
  keys: (of) => Object.keys(of),
  values: (of) => Object.values(of),
  update: (of, other) => {
    const entries = isDict(other)
      ? Object.entries(other)
      : (listElements(other) as [Value, Value][]);
    for (const [key, value] of entries) prepareChange(of)[String(key)] = value;
    return null;
  },
};

const padWith =
  (pad: (shown: string, missing: number) => string): Function =>
  (value, width) => {
    const shown = text(value);
    const missing = Math.max(0, requireWhole(width) - size(shown));
    step(missing >>> 6);
    return missing > 2 ** 20 ? fail("too much text") : pad(shown, missing);
  };

const TEXT_METHODS: Readonly<Record<string, (subject: string, ...args: Value[]) => Value>> = {
  capitalize,
  lower,
  upper,
  replace,
  strip: trim,
  lstrip: stripWith(true, false),
  rstrip: stripWith(false, true),
  title: (value) => value.toLowerCase().replace(/\p{L}+/gu, capitalizeWord),
  count: (value, part) => (text(part) ? value.split(text(part)).length - 1 : size(value) + 1),
  find: (value, part) => {
    const found = value.indexOf(text(part));
    return found < 0 ? found : size(value.slice(0, found));
  },
  startswith: (value, part) => value.startsWith(text(part)),
  endswith: (value, part) => value.endsWith(text(part)),
  isdigit: (value) => /^\p{Nd}+$/u.test(value),
  join: (value, values) => joinTexts(listElements(values), value),
  split: (value, separator, most = -1) => {
    const limit = requireWhole(most);
    if (isNothing(separator)) {
      if (limit >= 0) return fail("a split between spaces takes no limit");
      const shown = trimText(value);
      return shown ? pay(shown.split(GAP)) : [];
    }
    const parts = value.split(text(separator) || fail("an empty separator"));
    if (limit < 0 || parts.length <= limit + 1) return pay(parts);
    return [...parts.slice(0, limit), parts.slice(limit).join(text(separator))];
  },
  splitlines: (value) => {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: Python ends lines at them
    const lines = value.split(/\r\n|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029]/);
    if (lines.at(-1) === "") lines.pop();
    return pay(lines);
  },
  ljust: padWith((shown, missing) => shown + " ".repeat(missing)),
  rjust: padWith((shown, missing) => " ".repeat(missing) + shown),
  zfill: padWith((shown, missing) => shown.replace(/^[+-]?/, (sign) => sign + "0".repeat(missing))),
};

export const METHODS = { text: TEXT_METHODS, list: LIST_METHODS, object: DICT_METHODS } as const;

class Namespace extends Runtime {
  readonly values: Dict;
  constructor(values: Dict) {
    super();
    this.values = values;
  }
  override member(name: Value): Value {
    return member(this.values, name);
  }
}

class Joiner extends Runtime {
  #isUsed = false;
  readonly #separator: Value;
  constructor(separator: Value) {
    super();
    this.#separator = separator;
  }
  override call(): Value {
    const shown = this.#isUsed ? this.#separator : "";
    this.#isUsed = true;
    return shown;
  }
}

class Cycler extends Runtime {
  at = 0;
  readonly values: Value[];
  constructor(values: Value[]) {
    super();
    this.values = values.length ? values : fail("a cycler needs at least one value");
  }
  override member(name: Value): Value {
    return name === "current" ? this.values[this.at] : undefined;
  }
}

export const CYCLER_METHODS: Readonly<Record<string, (cycler: Cycler) => Value>> = {
  next: (cycler) => {
    const value = cycler.values[cycler.at];
    cycler.at = (cycler.at + 1) % cycler.values.length;
    return value;
  },
  reset: (cycler) => {
    cycler.at = 0;
    return null;
  },
};

/** Sets a field of a namespace. */
export function setField(space: Value, name: string, value: Value): void {
  if (!(space instanceof Namespace)) fail("only a namespace's field can be set");
  space.values[name] = value;
}

/** Returns the methods of a value, by name. */
export function listMethods(value: Value): Readonly<Record<string, (...args: never[]) => Value>> {
  if (isText(value)) return TEXT_METHODS;
  if (isList(value)) return LIST_METHODS;
  if (value instanceof Cycler) return CYCLER_METHODS;
  return isDict(value) ? DICT_METHODS : {};
}

function entries(args: Value[], given: Dict): Dict {
  const parts = args.map((each) => (isDict(each) ? each : fail("this is no object")));
  return Object.assign(dict(), ...parts, given);
}

export const FUNCTIONS: Readonly<Record<string, (args: Value[], given: Dict) => Value>> = {
  range: (args) => {
    const numbers = args.map((each) => (isNothing(each) ? 0 : requireWhole(each)));
    const [first = 0, second, by = 1] = numbers;
    const [start, stop] = second === undefined ? [0, first] : [first, second];
    if (!numbers.length || numbers.length > 3 || !by)
      fail("range takes one to three requireWhole numbers");
    const length = Math.max(0, Math.ceil((stop - start) / by));
    step(length);
    return Array.from({ length }, (_, at) => start + at * by);
  },
  namespace: (args, given) => new Namespace(entries(args, given)),
  dict: entries,
  joiner: (args, given) => new Joiner(args.length ? args[0] : (given.sep ?? ", ")),
  cycler: (args) => new Cycler(args),
};
