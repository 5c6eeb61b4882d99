/**
 * Runs the programs of widgets on the arguments in the file that PROGRAM_CASES names, and writes
 * beside it what each came to; `python -m benchmarks.page` does both and prints the tables.
 */

import { readFileSync, writeFileSync } from "node:fs";
import { test } from "vitest";
import { drawPartial, drawWhole, type PageProgram } from "../src/program/draw";
import { type Dict, Failure } from "../src/program/values";
import type { WidgetNode } from "../src/tree/node";
import { closeJson } from "./closed";

const FILE = process.env.PROGRAM_CASES;

interface Widget {
  readonly program: PageProgram;
  readonly cases: readonly Dict[];
  /** Texts of JSON whose beginnings are drawn, every `every` characters. */
  readonly streams: readonly string[];
  readonly every: number;
}

interface Outcome {
  readonly tree?: WidgetNode;
  readonly failure?: string;
  readonly ms: number;
}

function outcome(act: () => WidgetNode): Outcome {
  const began = performance.now();
  try {
    const tree = act();
    return { tree, ms: performance.now() - began };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { failure: error.message, ms: performance.now() - began };
  }
}

function prefixes(json: string, every: number): Dict[] {
  const made: Dict[] = [];
  for (let end = every; end < json.length; end += every) {
    made.push((closeJson(json.slice(0, end)) ?? {}) as Dict);
  }
  return made;
}

test.skipIf(!FILE)("programs", { timeout: 600_000 }, () => {
  const widgets: readonly Widget[] = JSON.parse(readFileSync(String(FILE), "utf8"));
  const outcomes = widgets.map(({ program, cases, streams, every }) => ({
    cases: cases.map((args) => {
      outcome(() => drawWhole(program, args));
      return outcome(() => drawWhole(program, args));
    }),
    prefixes: streams.map((json) =>
      prefixes(json, every).map((args) => outcome(() => drawPartial(program, args))),
    ),
  }));
  writeFileSync(`${FILE}.out`, JSON.stringify(outcomes));
});
