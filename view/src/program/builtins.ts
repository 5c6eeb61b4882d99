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
  grows,
  growWith,
  has,
  isDict,
  isHolder,
  isList,
  isNothing,
  isNumber,
  isText,
  listElements,
  MARK,
  member,
  pay,
  points,
  Runtime,
  requireComputable,
  requireFound,
  requireWhole,
  settle,
  size,
  step,
  text,
  tojson,
  truthy,
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
  if (isNumber(times) && (isText(subject) || isList(subject))) {
    const count = subject.length ? Math.max(0, requireWhole(times)) : 0;
    step(isText(subject) ? (subject.length * count) >>> 6 : subject.length * count);
    if (subject.length * count > 2 ** 20) fail("too much text");
    return isText(subject)
      ? subject.repeat(count)
      : Array.from({ length: count }, () => subject).flat();
  }
  return computePair(left, right, (a, b) => a * b);
}

const compareWith =
  (holds: (order: number) => boolean): Function =>
  (left, right) =>
    isNothing(left) || isNothing(right) ? false : holds(compare(left, right));

const contains = (sought: Value, value: Value) => requireFound(isIn(settle(sought), value), value);

function isIn(sought: Value, value: Value): boolean {
  if (isNothing(value)) return false;
  if (isText(value)) {
    step(value.length >> 6);
    if (isNothing(sought)) return false;
    return isText(sought) ? value.includes(sought) : fail("only a text is in a text");
  }
  if (isDict(value)) return (isText(sought) || isNumber(sought)) && has(value, String(sought));
  return isList(value) ? value.some((each) => equal(sought, each)) : fail("nothing is in this");
}

export const BINARY: Table = {
  "+": add,
  "-": (left, right) => computePair(left, right, (a, b) => a - b),
  "*": multiply,
  "/": (left, right) => computePair(left, right, (a, b) => a / divisor(b)),
  eq: equal,
  ne: (left, right) => !equal(left, right),
  lt: compareWith((order) => order < 0),
  lteq: compareWith((order) => order <= 0),
  gt: compareWith((order) => order > 0),
  gteq: compareWith((order) => order >= 0),
  in: contains,
  notin: (left, right) => !contains(left, right),
};

/** Returns a slice as Python takes it. */
export function slice(value: Value, start: Value, stop: Value, by: Value): Value {
  if (isNothing(value)) return undefined;
  const all = isText(value) ? points(value) : isList(value) ? value : fail("this has no slices");
  const [pace, length] = [isNothing(by) ? 1 : requireWhole(by), all.length];
  if (!pace) fail("a slice cannot have steps of zero");
  if (pace < 0 || Number(start) < 0 || Number(stop) < 0) settle(value);
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
  if (isText(value)) return made.join("");
  return Number(stop ?? Infinity) > length ? growWith(value, made) : made;
}

// --- tests ---

export const TESTS: Table = {
  defined: (value) => value !== undefined,
  undefined: (value) => value === undefined,
  none: isNothing,
};

// --- filters ---

function getter(attribute: Value): (value: Value) => Value {
  const parts = isNothing(attribute)
    ? []
    : isText(attribute)
      ? attribute.split(".").map((part) => (/^\d+$/.test(part) ? Number(part) : part))
      : [attribute];
  return (value) => {
    step(parts.length);
    return parts.reduce<Value>(member, value);
  };
}

// Python's white space, which is JavaScript's but for a few.
const SPACE =
  "[\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]";
const [HEAD, TAIL] = [new RegExp(`^${SPACE}+`), new RegExp(`(?<!${SPACE})${SPACE}+$`)];
const trim = (shown: string) => shown.replace(HEAD, "").replace(TAIL, "");

/** Rounds to the nearest, and of two as near to the even one, by the exact value. */
function roundNearest(value: number, digits: number): number {
  if (Math.abs(value) >= 1e21) return value;
  const shown = value.toFixed(digits);
  const exact = value.toFixed(Math.min(100, digits + 60));
  if (!/^50*$/.test(exact.slice(exact.indexOf(".") + 1 + digits))) return Number(shown);
  const isOdd = Number(shown.replace(".", "").at(-1)) % 2;
  return isOdd
    ? Number((Number(shown) - Math.sign(value) * 10 ** -digits).toFixed(digits))
    : Number(shown);
}

const INTEGER = /^[+-]?\d+(?:_\d+)*$/;
const DECIMAL = /^[+-]?(?:\d+(?:_\d+)*(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i;

function integer(value: Value, or: Value = 0): Value {
  settle(value);
  if (isNumber(value)) return Math.trunc(requireComputable(value));
  if (!isText(value)) return or;
  const shown = trim(value).replaceAll("_", "");
  const isRead = INTEGER.test(trim(value)) || DECIMAL.test(shown);
  return isRead ? Math.trunc(requireComputable(shown)) : or;
}

function join(value: Value, between: Value = "", attribute?: Value): Value {
  const parts = listElements(value).map(getter(attribute)).map(text);
  step((parts.length * text(between).length) >>> 6);
  return pay(parts.join(text(between)) + (grows(value) ? MARK : ""));
}

function count(value: Value): Value {
  if (isNothing(value)) return 0;
  settle(value);
  if (isText(value)) return size(value);
  return isList(value) || isDict(value) ? listElements(value).length : fail("this has no length");
}

const orDefault: Function = (value, or = "", boolean = false) =>
  value === undefined || (truthy(boolean) && !truthy(value)) ? or : value;

const CONVERSION = /%([-+ 0#]*)(\d*)(?:\.(\d+))?([dfs%])/g;

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
    const isZeroed = flags.includes("0") && kind !== "s";
    return isZeroed ? sign + "0".repeat(pad) + body : " ".repeat(pad) + sign + body;
  });
  return pending.length ? fail("a format has more values than places") : pay(shown);
}

function convert(value: Value, flags: string, precision: string | undefined, kind: string) {
  if (kind === "s") {
    const shown = text(value);
    const cut = precision === undefined ? shown : Array.from(shown).slice(0, +precision).join("");
    return ["", cut] as const;
  }
  if (!isNumber(value)) return fail("a format cannot write this");
  const exact = requireComputable(value);
  const number = kind === "d" ? Math.trunc(exact) : exact;
  const isNegative = number < 0 || (Object.is(number, -0) && kind === "f");
  const sign = isNegative ? "-" : flags.includes("+") ? "+" : flags.includes(" ") ? " " : "";
  const plain = Math.abs(number);
  const digits = Number(precision ?? 6);
  const shown =
    kind === "f"
      ? roundNearest(plain, digits).toFixed(digits)
      : String(plain).padStart(Number(precision ?? 0), "0");
  return [sign, shown] as const;
}

export const FILTERS: Table = {
  length: count,
  d: orDefault,
  default: orDefault,
  format,
  int: integer,
  join,
  lower: (value) => pay(text(value).toLowerCase()),
  string: text,
  tojson,
  upper: (value) => pay(text(value).toUpperCase()),
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

export const LIST_METHODS: Readonly<Record<string, (list: Value[], value: Value) => Value>> = {
  append: (list, value) => {
    prepareChange(list).push(value);
    return null;
  },
};

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

/** Sets a field of a namespace. */
export function setField(space: Value, name: string, value: Value): void {
  if (!(space instanceof Namespace)) fail("only a namespace's field can be set");
  space.values[name] = value;
}

export const FUNCTIONS: Readonly<Record<string, (args: Value[], given: Dict) => Value>> = {
  namespace: (args, given) => {
    const parts = args.map((part) => (isDict(part) ? part : fail("this is no object")));
    return new Namespace(Object.assign(dict(), ...parts, given));
  },
};
