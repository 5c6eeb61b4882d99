/**
 * Runs a program: the server's own operations, as `widgetd/core/template/ir.py` writes them as JSON.
 *
 * A frame is a list of slots. An expression is evaluated by the operator that it begins with, a
 * statement likewise; the two tables are all that there is.
 */

import {
  BINARY,
  FILTERS,
  FUNCTIONS,
  LIST_METHODS,
  protect,
  setField,
  slice,
  TESTS,
} from "./builtins";
import * as javascript from "./javascript";
import {
  type Dict,
  dict,
  evaluateOr,
  fail,
  grows,
  has,
  isDict,
  isList,
  isNothing,
  isText,
  javascriptText,
  listElements,
  MARK,
  member,
  open,
  pay,
  Runtime,
  requireFound,
  settle,
  step,
  text,
  tojson,
  truthy,
  type Value,
  WAITING,
  wait,
} from "./values";

/** An operand: a constant, a slot, an operation, a body, or arguments by name. */
type Operand = string | number | boolean | null | Operands | { [name: string]: Operand };
type Operands = readonly Operand[];

export interface Program {
  /** The number of slots of a frame. */
  readonly n: number;
  /** The slot of each argument. */
  readonly a: Readonly<Record<string, number>>;
  /** The statements of a template. */
  readonly b?: readonly Operands[];
  /** An expression. */
  readonly e?: Operand;
  /** The output may have commas missing or one too many. */
  readonly commas?: boolean;
}

type Frame = Value[];

/** Arguments that a model is still writing. */
interface Growth {
  /** Receives the number of objects in the output before the first gap after the last value. */
  begun: number;
}

/** In the output while arguments grow: a value, and a place where something may be inserted. */
const [FILLED, GAP] = ["\uffff", "\ufffe"];
let [filled, gap] = ["", ""];

/** Returns the output without its marks, and finds the first gap; payloads of actions are not seen. */
function takeMarks(output: string, growth: Growth): string {
  const around: boolean[] = [];
  let count = 0;
  let key = "";
  for (const [piece] of output.matchAll(/"(?:[^"\\]|\\.)*"?|[{}\ufffe\uffff]/gs)) {
    step();
    if (piece === "{") {
      around.push(around.at(-1) || key.endsWith('ction"'));
      count++;
    } else if (piece === "}") around.pop();
    else if (!around.at(-1)) {
      if (piece.includes(FILLED)) growth.begun = Number.POSITIVE_INFINITY;
      if (piece.includes(GAP)) growth.begun = Math.min(growth.begun, count);
    }
    key = piece;
  }
  return output.replace(/[\ufffe\uffff]/g, "");
}

const attempt = (operand: Operand | undefined, frame: Frame): Value =>
  evaluateOr(() => evaluate(operand, frame), WAITING);

/** Methods whose result for a beginning is a beginning, or is final once it is found. */
const GROWING =
  /^(?:slice|substring|split|join|trim|to(?:Low|Upp)erCase|charAt|includes|indexOf|startsWith)$/;

function evaluate(operand: Operand | undefined, frame: Frame): Value {
  if (typeof operand === "number") return frame[operand] === WAITING ? wait() : frame[operand];
  if (!isList(operand)) return operand;
  step();
  const [name, ...operands] = operand as Operands;
  const known = OPERATORS[String(name)];
  if (known) return known(operands, frame);
  const applied = String(name).slice(1);
  const table = String(name)[0] === "|" ? FILTERS : TESTS;
  const apply = (has(table, applied) && table[applied]) || fail(`there is no ${name}`);
  const [subject, ...args] = evaluateAll(operands, frame);
  return apply(subject, ...args);
}

const evaluateAll = (operands: Operands, frame: Frame): Value[] =>
  operands.map((each) => (isDict(each) ? evaluateNamed(each, frame) : evaluate(each, frame)));

const evaluateNamed = (given: Operand | undefined, frame: Frame): Dict =>
  dict(
    Object.entries((given ?? {}) as Dict).map(([key, each]) => [
      key,
      evaluate(each as Operand, frame),
    ]),
  );

type Operator = (operands: Operands, frame: Frame) => Value;

/** An operator whose operands are all evaluated first. */
const eager =
  (apply: (...values: never[]) => Value): Operator =>
  (operands, frame) =>
    apply(...(evaluateAll(operands, frame) as never[]));

const eagerly = (prefix: string, table: Readonly<Record<string, (...values: never[]) => Value>>) =>
  Object.fromEntries(Object.entries(table).map(([name, apply]) => [prefix + name, eager(apply)]));

const decide = (operand: Operand | undefined, frame: Frame) => truthy(evaluate(operand, frame));

/** An operator that returns its left operand if that decides, else the right one. */
const chooseWith =
  (takesLeft: (left: Value) => boolean): Operator =>
  ([left, right], frame) => {
    const value = evaluate(left, frame);
    return takesLeft(value) ? value : evaluate(right, frame);
  };

const SPREAD = "...";
const isSpread = (operand: Operand | undefined): operand is Operands =>
  isList(operand) && operand[0] === SPREAD;

export const OPERATORS: Readonly<Record<string, Operator>> = {
  "#": ([value]) => value,
  undef: () => undefined,
  ".": ([subject, ...keys], frame) => keys.reduce<Value>(member, evaluate(subject, frame)),
  "[]": eager(member),
  "[:]": eager(slice),
  index: ([slot, loop], frame) => frame[Number(slot)] ?? (frame[Number(loop)] as Loop).index0,
  loop: ([slot, name], frame) => (frame[Number(slot)] as Loop).member(name),
  "?:": ([test, yes, no], frame) => evaluate(decide(test, frame) ? yes : no, frame),
  and: chooseWith((left) => !truthy(left)),
  or: chooseWith(truthy),
  not: ([value], frame) => !decide(value, frame),
  neg: eager((value: Value) => (isNothing(value) ? undefined : BINARY["-"]?.(0, value))),
  "~": eager((...parts: Value[]) => pay(parts.map(text).join(""))),
  ...eagerly("", BINARY),
  "[,]": evaluateAll,
  "{}": (operands, frame) => dict(pairUp(evaluateAll(operands, frame))),
  fn: ([name, args = [], given], frame) =>
    FUNCTIONS[String(name)]?.(evaluateAll(args as Operands, frame), evaluateNamed(given, frame)),
  m: ([name, operand, args = []], frame) => {
    const subject = evaluate(operand, frame);
    if (isNothing(subject)) return undefined;
    const values = evaluateOr(() => evaluateAll(args as Operands, frame), [WAITING]);
    if (values[0] === WAITING) return void open.add(subject);
    const method = isList(subject) && has(LIST_METHODS, String(name)) && LIST_METHODS[String(name)];
    return (method || fail(`there is no method ${name}`))(subject as Value[], values[0]);
  },
  String: eager(javascriptText),
  // JSX
  ...eagerly("js", javascript.OPERATORS),
  "js&&": chooseWith((left) => !javascript.isTrue(left)),
  "js||": chooseWith(javascript.isTrue),
  "js??": chooseWith((left) => !isNothing(left)),
  "js!": ([value], frame) => !javascript.isTrue(evaluate(value, frame)),
  jsneg: eager((value: Value) => (value === undefined ? value : -javascript.toNumber(value))),
  jspos: eager((value: Value) => (value === undefined ? value : javascript.toNumber(value))),
  "js?:": ([test, yes, no], frame) =>
    evaluate(javascript.isTrue(evaluate(test, frame)) ? yes : no, frame),
  "js`": eager((...parts: Value[]) => pay(parts.map(javascriptText).join(""))),
  "js[]": eager((value: Value, at: Value) => {
    if (isDict(value)) return member(value, javascriptText(at));
    return isText(at) || (typeof at === "number" && at >= 0) ? member(value, at) : undefined;
  }),
  jsfn: ([name, ...args], frame) =>
    javascript.FUNCTIONS[String(name)]?.(...settle(spread(args, frame))),
  jsm: ([name, operand, ...operands], frame) => {
    const subject = evaluate(operand, frame);
    if (!GROWING.test(String(name))) settle(subject);
    const args = evaluateAll(operands, frame).map(settle);
    return requireFound(javascript.METHODS[String(name)]?.(subject, ...args), subject);
  },
  jsloop: ([name, subject, parameters, body, ...initial], frame) => {
    const value = evaluate(subject, frame);
    if (isText(value) || isDict(value)) fail("this is no list");
    const bound = parameters as unknown as readonly (readonly [number, string | null])[][];
    const turn = (...args: Value[]) => {
      for (const [at, names] of bound.entries()) {
        for (const [slot, key] of names) {
          frame[slot] = key === null ? args[at] : evaluateOr(() => member(args[at], key), WAITING);
        }
      }
      return evaluate(body, frame);
    };
    const values = [...listElements(value)];
    const apply = (take: typeof turn) =>
      javascript.LOOPS[String(name)]?.(values, take, ...evaluateAll(initial, frame));
    if (!/map|filter/i.test(String(name))) {
      if (/reduce|sort/.test(String(name))) settle(value);
      const made = apply(turn);
      requireFound(name === "every" ? !made : made, value);
      return made;
    }
    const turns = values.map((each, at) => evaluateOr(() => turn(each, at), WAITING));
    const end = turns.indexOf(WAITING);
    if (end >= 0) values.length = end;
    const made = apply((_, at) => turns[Number(at)]);
    if (end < 0 && !grows(value)) return made;
    forget(body, frame);
    open.add(made);
    return made;
  },
  let: (operands, frame) => {
    for (const [slot, value] of pairUp(operands)) {
      if (value !== undefined) frame[Number(slot)] = attempt(value, frame);
    }
    return evaluate(operands.at(-1), frame);
  },
  "js[,]": spread,
  "js{}": ([kids, ...entries], frame) => {
    const made = dict();
    for (const [key, operand] of pairUp(entries)) {
      const value = attempt(operand, frame);
      if (value === WAITING || (key === null && grows(value))) open.add(made);
      if (key === null) Object.assign(made, isDict(value) ? value : {});
      else made[javascriptText(evaluate(key, frame))] = value === WAITING ? undefined : value;
    }
    const isMerged = entries.some((key, at) => at % 2 === 0 && !isText(key));
    const inside = shown(kids as Operands, frame).filter((each) => typeof each !== "number");
    if ((kids as Operands).length && (inside.length || isMerged)) made.children = inside;
    for (const key of Object.keys(made)) if (made[key] === undefined) delete made[key];
    return made;
  },
  "<>": (operands, frame) => shown(operands, frame),
};

function spread(operands: Operands, frame: Frame): Value[] {
  let isOpen = false;
  const made = operands.flatMap((each) => {
    const value = isOpen ? WAITING : attempt(isSpread(each) ? each[1] : each, frame);
    isOpen ||= value === WAITING || (isSpread(each) && grows(value));
    return value === WAITING ? [] : isSpread(each) ? listElements(value) : [value];
  });
  if (isOpen) open.add(made);
  return made;
}

const shown = (operands: Operands, frame: Frame) =>
  javascript.children(
    operands.map((each) => attempt(each, frame)).filter((each) => each !== WAITING),
  );

/** Makes unknown what a body assigns, of which not all turns or branches are known. */
function forget(body: Operand | undefined, frame: Frame): void {
  if (!isList(body)) return;
  const [name, ...operands] = body as Operands;
  if (name === "=") assign(operands[0], WAITING, frame);
  if (name === "m") open.add(attempt(operands[1], frame));
  for (const [slot, value] of name === "let" ? pairUp(operands) : []) {
    const before = frame[Number(slot)];
    if (isList(before)) open.add(before);
    else if (value !== undefined) frame[Number(slot)] = WAITING;
  }
  for (const each of operands) forget(each, frame);
}

function pairUp<T>(flat: readonly T[]): [T, T][] {
  const made: [T, T][] = [];
  for (let at = 0; at < flat.length; at += 2) made.push([flat[at], flat[at + 1]] as [T, T]);
  return made;
}

// --- statements ---

type Statement = (operands: Operands, frame: Frame, out: string[]) => void;

function execute(body: Operand | undefined, frame: Frame, out: string[]): void {
  for (const [name, ...operands] of body as readonly Operands[]) {
    step();
    (STATEMENTS[String(name)] ?? fail(`there is no ${name}`))(operands, frame, out);
  }
}

const inside = (shown: string) => JSON.stringify(shown).slice(1, -1);

/** The writer of each kind of output, and the text in place of a value that waits. */
export const OUTPUTS: Readonly<Record<string, readonly [(value: Value) => string, string]>> = {
  json: [tojson, "null"],
  json_inside: [(value) => inside(isText(value) ? value : tojson(value)), MARK],
  text: [text, ""],
  value: [text, "null"],
  inside: [(value) => inside(text(value)), MARK],
  bare: [(value) => (isText(value) && isJson(value) ? value : tojson(value)), "null"],
};

function assign(target: Operand | undefined, value: Value, frame: Frame): void {
  if (typeof target === "number") {
    frame[target] = value;
    return;
  }
  const [kind, ...parts] = target as Operands;
  if (kind === "field") {
    const space = frame[Number(parts[0])];
    if (space !== WAITING) setField(space, String(parts[1]), value);
  } else {
    const isOpen = value === WAITING || grows(value);
    const values = value === WAITING ? [] : listElements(value);
    if (!isOpen && values.length !== parts.length) fail("there are not as many values as names");
    for (const [at, part] of parts.entries()) {
      assign(part, at < values.length ? values[at] : WAITING, frame);
    }
  }
}

const branches =
  (inPlaceOfWaiting: string): Statement =>
  (operands, frame, out) => {
    for (let at = 0; at < operands.length; at += 2) {
      if (at + 1 === operands.length) return execute(operands[at], frame, out);
      const taken = evaluateOr<boolean | undefined>(() => decide(operands[at], frame), undefined);
      if (taken === undefined) {
        forget(operands, frame);
        out.push(inPlaceOfWaiting + gap);
        return;
      }
      if (taken) return execute(operands[at + 1], frame, out);
    }
  };

export const STATEMENTS: Readonly<Record<string, Statement>> = {
  out: (parts, frame, out) => {
    for (const part of parts) {
      if (isText(part)) out.push(pay(part));
      else {
        const [kind, operand] = part as Operands;
        const [write, empty] = OUTPUTS[String(kind)] ?? fail(`there is no ${kind}`);
        out.push(pay(evaluateOr(() => write(evaluate(operand, frame)) + filled, empty)));
      }
    }
  },
  if: branches(""),
  ifv: branches("null"),
  for: (operands, frame, out) => {
    const value = attempt(operands[1], frame);
    if (value !== WAITING && !repeat(operands, value, frame, out)) return;
    forget(operands[2], frame);
    out.push(gap);
  },
  "=": ([target, operand], frame) => assign(target, attempt(operand, frame), frame),
  copy: (slots, frame) => {
    for (const [to, from] of pairUp(slots)) frame[Number(to)] = frame[Number(from)];
  },
  strip: ([body], frame, out) => {
    const start = out.length;
    execute(body, frame, out);
    const first = out.findIndex((each, at) => at >= start && each);
    if (first >= 0) out[first] = String(out[first]).replace(/^,/, "");
  },
};

function repeat(operands: Operands, value: Value, frame: Frame, out: string[]): boolean {
  const [target, , body, slot = null, otherwise = [], filter = true] = operands;
  let values = listElements(value);
  let isOpen = grows(value);
  if (filter !== true) {
    values = values.filter((each) => {
      assign(target, each, frame);
      const taken = evaluateOr<Value>(() => decide(filter, frame), WAITING);
      isOpen ||= taken === WAITING;
      return taken === true;
    });
  }
  const loop = new Loop(values);
  if (isOpen) open.add(loop);
  if (slot !== null) frame[Number(slot)] = loop;
  for (const each of values) {
    assign(target, each, frame);
    execute(body, frame, out);
    loop.index0++;
  }
  if (!values.length && !isOpen) execute(otherwise, frame, out);
  return isOpen;
}

class Loop extends Runtime {
  index0 = 0;
  readonly values: Value[];
  constructor(values: Value[]) {
    super();
    this.values = values;
  }
  override member(name: Value): Value {
    return LOOP_MEMBERS[String(name)]?.(this);
  }
}

export const LOOP_MEMBERS: Readonly<Record<string, (loop: Loop) => Value>> = {
  index: (loop) => loop.index0 + 1,
  index0: (loop) => loop.index0,
  first: (loop) => loop.index0 === 0,
  last: (loop) => loop.index0 + 1 === loop.values.length && !!settle(loop),
  length: (loop) => settle(loop).values.length,
};

// --- commas ---

// The last alternative takes all of the text behind a quotation mark that nothing closes: looking
// for its end again at each later mark takes time in the square of the text.
const PIECE = /[[\]{},:]|"(?:[^"\\]|\\.)*"|[^\s"[\]{},:]+|".*/gs;
const BEFORE_VALUE = new Set(["", "[", "{", ",", ":"]);

function isJson(shown: string): boolean {
  try {
    JSON.parse(shown);
    return true;
  } catch {
    return false;
  }
}

function repairCommas(shown: string): string {
  const out: string[] = [];
  let before = "";
  for (const [piece] of shown.matchAll(PIECE)) {
    step();
    if (piece === "," && BEFORE_VALUE.has(before)) continue;
    if (before === "," && "]}".includes(piece)) out.pop();
    else if (before !== "," && !BEFORE_VALUE.has(before) && !"]},:".includes(piece)) out.push(",");
    out.push(piece);
    before = piece;
  }
  return out.join("");
}

// --- programs ---

/**
 * Runs a program on arguments: returns the text of a template, the value of an expression.
 *
 * Returns WAITING for an expression that needs what may still come.
 */
export function run(program: Program, args: Dict, growth?: Growth): Value {
  const frame: Frame = new Array(program.n);
  [filled, gap] = growth ? [FILLED, GAP] : ["", ""];
  protect(args);
  const absent = open.has(args) ? WAITING : undefined;
  for (const [name, slot] of Object.entries(program.a)) {
    frame[slot] = has(args, name) ? args[name] : absent;
  }
  try {
    if (!program.b) return attempt(program.e, frame);
    const out: string[] = [];
    execute(program.b as unknown as Operand, frame, out);
    const output = pay(out.join(""));
    const shown = growth ? takeMarks(output, growth) : output;
    if (!(program.commas || growth) || isJson(shown)) return shown;
    const repaired = repairCommas(shown);
    return isJson(repaired) ? repaired : shown;
  } catch (error) {
    // The engine's own limits of size and depth count as failures.
    if (error instanceof RangeError || error instanceof TypeError) fail("the program does not end");
    throw error;
  }
}
