/** Draws a widget from raw arguments: fills in defaults, runs the program, reads the tree. */

import { isRoot, type JsonObject, LAST, type WidgetNode } from "../tree/node";
import { type Program, run } from "./run";
import {
  allowSteps,
  type Dict,
  equal,
  Failure,
  fail,
  has,
  isDict,
  isHolder,
  isList,
  isNothing,
  isText,
  MARK,
  open,
  tojson,
  type Value,
  WAITING,
} from "./values";

/** Defaults of the schema, below properties and items. */
interface Defaults {
  readonly d?: Value;
  readonly p?: Readonly<Record<string, Defaults>>;
  readonly i?: Defaults;
}

/** The kind of a value as far as the schema determines it: n, b, o, a, s. */
type Kind =
  | string
  | {
      readonly k?: string;
      /** The texts to choose from. */
      readonly e?: readonly string[];
      readonly p?: Readonly<Record<string, Kind>>;
      readonly i?: Kind;
    };

/** The parts from which a page draws its widget; `core/widget/page_program.py` writes them. */
export interface PageProgram extends Program {
  readonly defaults?: Defaults;
  readonly kinds?: Kind;
  /** Arguments that follow from others, by dotted path. */
  readonly derived?: Readonly<Record<string, Program>>;
  /** The arguments that the server makes up. */
  readonly ids?: readonly string[];
  readonly icons?: unknown;
  /** Names that the template reads beside the arguments, with their first values. */
  readonly state?: Dict;
  /** The assignments of local actions: by type, a program for each name. */
  readonly local?: Readonly<Record<string, Readonly<Record<string, Program>>>>;
  /** The digest of the program's text, which results of the same program have. */
  readonly digest?: string;
}

type Path = readonly (string | number)[];

/** Draws arguments that are all there; throws `Failure` where the program cannot. */
export function drawWhole(program: PageProgram, args: Dict, state?: Dict): WidgetNode {
  allowSteps();
  return readRoot(program, run(program, fillIn(program, args, state)));
}

/** Returns the state after a local action; throws `Failure` where an expression fails. */
export function act(
  program: PageProgram,
  args: Dict,
  state: Dict,
  type: string,
  given: Value,
): Dict {
  allowSteps();
  const payload = isDict(given) ? given : isNothing(given) ? {} : { value: given };
  const known = { ...fillIn(program, args, state), payload };
  const made = { ...state };
  for (const [name, each] of Object.entries(program.local?.[type] ?? {})) {
    made[name] = JSON.parse(tojson(run(each, known)));
  }
  return made;
}

/**
 * Draws arguments that a model is still writing, as the host has closed them.
 *
 * All that may still grow lies on one path: the last key, its value's last element, and so on.
 * What is absent there is waited for: a value is written as null, a condition takes no branch, a
 * loop no turn. A text grows once it looks like prose, not like a key that the template compares;
 * a number may have another digit to come.
 *
 * Parts after the first gap behind the last value would move with each value that comes: the
 * component before that gap is marked, so that they keep their room and are seen once they stay.
 * A part that is seen does not go away again.
 */
export function drawPartial(program: PageProgram, args: Dict): WidgetNode {
  allowSteps();
  const growth = { begun: Number.POSITIVE_INFINITY };
  const tree = readRoot(program, run(program, fillIn(program, args, undefined, true), growth));
  if (growth.begun < Number.POSITIVE_INFINITY) markLast(tree, growth.begun);
  return tree;
}

/**
 * Names of icons, keys and addresses have no space, no letters without case, and no capital first.
 * Five letters, since a name within a sentence takes the words after it along as it grows.
 */
const PROSE = /\s|\p{Lo}|^\p{Lu}\p{L}{4}/u;

/** Tells whether the schema has a list of texts for what is at `path`: half of one is none of them. */
function hasChoices(kinds: Kind | undefined, path: Path): boolean {
  let kind = kinds;
  for (const key of path) {
    if (!kind || isText(kind)) return false;
    kind = typeof key === "number" ? kind.i : kind.p?.[key];
  }
  return !!kind && !isText(kind) && !!kind.e;
}

/** Marks the last component among the first `begun` objects of a tree. */
function markLast(tree: Dict, begun: number): void {
  let left = begun;
  let last = tree;
  const visit = (value: Value, isPart: boolean): void => {
    if (isList(value)) for (const each of value) visit(each, isPart);
    else if (isDict(value) && left-- > 0) {
      if (isPart) last = value;
      for (const [key, each] of Object.entries(value)) visit(each, key === "children");
    }
  };
  visit(tree, true);
  last[LAST] = true;
}

/** Tells whether two trees, or arguments, are equal; true if they are too large to compare. */
export function isSame(left: JsonObject, right: JsonObject): boolean {
  allowSteps();
  try {
    return equal(left, right);
  } catch {
    return true;
  }
}

/**
 * Returns the path of all that may still grow: the last key, its value's last element, and so on.
 * Marks a text at its end, and removes any other value there.
 */
function cutLast(program: PageProgram, args: Value): Path {
  const path: (string | number)[] = [];
  let value = args;
  while (isHolder(value)) {
    const around = value as Dict;
    const key = isList(value) ? value.length - 1 : Object.keys(value).at(-1);
    if (key === undefined || key === -1) break;
    path.push(key);
    value = around[key];
    if (isText(value) && PROSE.test(value) && !hasChoices(program.kinds, path)) {
      around[key] = value + MARK;
    } else if (!isHolder(value)) {
      if (isList(around)) around.pop();
      else delete around[key];
    }
  }
  return path;
}

function readRoot(program: PageProgram, made: Value): WidgetNode {
  const root = isList(made) && made.length === 1 ? made[0] : made;
  const tree = parseJson(program.b ? String(made) : tojson(root));
  if (!isRoot(tree)) return fail("the output is no widget");
  tidy(tree);
  return tree;
}

const AFTER_MARK = new RegExp(`${MARK}(?:[^"\\\\]|\\\\.)*`, "gs");

function parseJson(json: string): Value {
  try {
    return JSON.parse(json.replace(AFTER_MARK, ""));
  } catch {
    return fail("the output is no widget");
  }
}

/** Drops null properties of components, and empty children, and makes keys texts, as the server does. */
function tidy(node: object): void {
  const part = node as Dict;
  for (const name of Object.keys(part)) if (part[name] === null) delete part[name];
  const { children, key } = part;
  if (key != null) part.key = `${key}`;
  if (isList(children)) {
    const all = children.flat(Number.POSITIVE_INFINITY) as Value[];
    const inside = all.filter((each) => each !== null && typeof each !== "boolean");
    if (inside.length) part.children = inside;
    else delete part.children;
    for (const each of inside) if (isDict(each)) tidy(each);
  } else if (isDict(children)) tidy(children);
}

// --- what a call need not say ---

/** Fills in what the server fills in; nothing in what may still grow. */
function fillIn(program: PageProgram, args: Dict, state = program.state, isGrowing = false): Dict {
  const copy = structuredClone(args);
  const path = isGrowing ? cutLast(program, copy) : undefined;
  const made = (program.kinds ? (coerce(program.kinds, copy) ?? copy) : copy) as Dict;
  let value: Value = made;
  for (const key of path ? [...path, ""] : []) {
    if (!isHolder(value)) break;
    open.add(value);
    value = (value as Dict)[key];
  }
  if (program.defaults) fillDefaults(program.defaults, made);
  Object.assign(made, state);
  // The server makes ids of what only it knows; until then a placeholder keeps payloads whole.
  for (const name of isGrowing ? [] : (program.ids ?? [])) made[name] ??= `~${name}`;
  for (const [path, each] of Object.entries(program.derived ?? {})) {
    derive(made, path.split("."), {}, each);
  }
  return made;
}

const NUMBER =
  /^\s*(?:[€$£¥] ?)?(-?(?:0|[1-9]\d{0,30})(?:\.\d{1,30})?(?:[eE][+-]?\d{1,3})?)(?: ?(?:%|[€$£¥]|[A-Z]{3}))?\s*$/;
const fold = (text: string) => text.trim().toLowerCase();

/** Reads what models slip on as the server does; undefined for a null that need not be there. */
function coerce(kind: Kind, given: Value): Value {
  const { k, e, p, i } = isText(kind) ? { k: kind } : kind;
  if (given === null && k) return undefined;
  let value = k === "s" && typeof given === "number" ? String(given) : given;
  if (isText(value)) {
    const shown = value;
    const digits = k === "n" && NUMBER.exec(shown);
    if (digits) return Number(digits[1]);
    if (k === "b" && /^(?:true|false)$/.test(fold(shown))) return fold(shown) === "true";
    if ((k === "o" && /^\s*\{/.test(shown)) || (k === "a" && /^\s*\[/.test(shown))) {
      try {
        value = JSON.parse(shown);
      } catch {
        return value;
      }
    } else if (e && !e.includes(shown)) {
      return e.find((each) => fold(each) === fold(shown)) ?? shown;
    }
  }
  if (k === "a" && !isList(value) && value !== undefined) value = [value];
  if (isList(value)) return i ? value.map((each) => coerce(i, each) ?? each) : value;
  if (!isDict(value) || !p) return value;
  const made: Dict = {};
  for (const [name, each] of Object.entries(value)) {
    const inner = has(p, name) ? p[name] : undefined;
    const read = inner === undefined ? each : coerce(inner, each);
    if (read !== undefined) made[name] = read;
  }
  return made;
}

function fillDefaults({ p = {}, i }: Defaults, value: Value): void {
  if (isList(value) && i) for (const each of value) fillDefaults(i, each);
  if (!isDict(value)) return;
  for (const [name, inner] of Object.entries(p)) {
    const isMissing = !has(value, name) && has(inner, "d") && !open.has(value);
    if (isMissing) value[name] = structuredClone(inner.d);
    if (has(value, name)) fillDefaults(inner, value[name]);
  }
}

function derive(
  value: Value,
  [name = "", ...rest]: readonly string[],
  around: Dict,
  program: Program,
): void {
  if (isList(value)) for (const each of value) derive(each, [name, ...rest], around, program);
  if (!isDict(value)) return;
  const known = { ...around, ...value };
  const inner = has(value, name) ? value[name] : undefined;
  if (rest.length) derive(inner, rest, known, program);
  if (rest.length || !isNothing(inner) || open.has(value)) return;
  if (open.size) open.add(known);
  try {
    const follows = run(program, known);
    if (follows === WAITING) open.add(value);
    else if (!isNothing(follows)) value[name] = JSON.parse(tojson(follows));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
  }
}
