/** Holds the page's evaluator against the table of cases that the server's own tests hold. */

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { act } from "../../src/program/draw";
import { type Program, run } from "../../src/program/run";
import {
  allowSteps,
  countSteps,
  type Dict,
  Failure,
  isHolder,
  MOST_STEPS,
  tojson,
  type Value,
} from "../../src/program/values";

interface Case {
  readonly kind: string;
  readonly source: string;
  readonly program: Program;
  /** It never ends, or makes too much. */
  readonly hostile?: boolean;
  readonly rows: readonly {
    readonly arguments: Dict;
    /** The server's text; null if it fails. */
    readonly text: string | null;
    /** The page's text if it is known to differ, and the reason. */
    readonly page?: string | null;
    readonly because?: string;
  }[];
}

const FILE = process.env.PROGRAM_TABLE ?? new URL("../programs.json", import.meta.url).pathname;
const CASES: readonly Case[] = JSON.parse(readFileSync(FILE, "utf8"));

/** A view's value as the server writes it. */
function viewText(value: Value): string {
  return tojson(Array.isArray(value) && value.length === 1 ? value[0] : value);
}

/** The state after the local action `go`, which assigns `program` to `at`. */
function stateText(program: Program, { x, at, payload }: Dict): string {
  const local = { go: { at: program } };
  return tojson(act({ n: 1, a: {}, local }, { x }, { at }, "go", payload));
}

function outcome({ program, kind }: Case, args: Dict): string | null {
  allowSteps();
  try {
    if (kind === "local") return stateText(program, args);
    const made = run(program, args);
    return kind === "view" ? viewText(made) : String(made);
  } catch (error) {
    if (error instanceof Failure) return null;
    throw error;
  }
}

/** JSON is the same in any order of keys. */
const comparable = (kind: string, text: string | null) => {
  if (kind === "text" || text === null) return text;
  try {
    const value: unknown = JSON.parse(text);
    return isHolder(value) ? value : text;
  } catch {
    return text;
  }
};

describe("programs", () => {
  test.each(CASES)("$source", (one) => {
    for (const { arguments: args, text, page = text } of one.rows) {
      const given = JSON.stringify(args);
      expect([given, comparable(one.kind, outcome(one, args))]).toEqual([
        given,
        comparable(one.kind, page),
      ]);
    }
  });
});

describe("hostile templates", () => {
  const hostile = CASES.filter((one) => one.hostile);

  test("are seven", () => expect(hostile).toHaveLength(7));

  // What exceeds the steps is refused before it is done, and 300,000 of them take less than 100 ms.
  test.each(hostile)("$source fails within its steps", (one) => {
    for (const { arguments: args } of one.rows) {
      expect(outcome(one, args)).toBeNull();
      expect(countSteps()).toBeLessThanOrEqual(MOST_STEPS);
    }
  });
});

test("an unclosed string of 4 MiB takes less than a second", () => {
  const program = { n: 2, a: { x: 1 }, commas: true, b: [["out", "[1 ", ["text", 1]]] };
  const text = '\\"'.repeat(2 ** 21);
  allowSteps();
  const { user: start } = process.cpuUsage();

  expect(run(program as unknown as Program, { x: `"${text}` })).toHaveLength(text.length + 4);
  expect(process.cpuUsage().user - start).toBeLessThan(1_000_000);
});
