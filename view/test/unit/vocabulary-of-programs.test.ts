/** Holds the page's tables to the server's vocabulary: the words for the page, and no other. */

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { FILTERS, FUNCTIONS, LIST_METHODS, TESTS } from "../../src/program/builtins";
import * as javascript from "../../src/program/javascript";
import { LOOP_MEMBERS, OPERATORS, OUTPUTS, STATEMENTS } from "../../src/program/run";

type Rows = Readonly<Record<string, { readonly page: boolean }>>;

const FILE = new URL("../../../widgetd/core/template/vocabulary.json", import.meta.url);
const VOCABULARY: Readonly<Record<string, Rows>> = JSON.parse(readFileSync(FILE, "utf8"));

const TABLES: Readonly<Record<string, object>> = {
  outputs: OUTPUTS,
  statements: STATEMENTS,
  filters: FILTERS,
  tests: TESTS,
  "text methods": {},
  "list methods": LIST_METHODS,
  "object methods": {},
  "loop methods": {},
  "cycler methods": {},
  functions: FUNCTIONS,
  "loop members": LOOP_MEMBERS,
  "javascript methods": javascript.METHODS,
  "javascript loops": javascript.LOOPS,
  "javascript functions": javascript.FUNCTIONS,
};

const inPage = (rows: Rows = {}) =>
  Object.entries(rows).flatMap(([name, { page }]) => (page ? [name] : []));

test.each(Object.keys(TABLES))("%s", (sort) => {
  expect(Object.keys(TABLES[sort] ?? {}).sort()).toEqual(inPage(VOCABULARY[sort]).sort());
});

test("expressions", () => {
  const words = [
    ...inPage(VOCABULARY.expressions),
    ...inPage(VOCABULARY["javascript expressions"]),
  ];
  expect(Object.keys(OPERATORS).sort()).toEqual(words.sort());
});

test("the tables are all there", () => {
  const sorts = Object.keys(VOCABULARY).filter((sort) => !sort.endsWith("expressions"));
  expect(Object.keys(TABLES).sort()).toEqual(sorts.sort());
});
