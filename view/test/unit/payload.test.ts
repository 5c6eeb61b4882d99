import { expect, test } from "vitest";
import { nest, withFields } from "../../src/actions/payload";

test("a dotted name nests its field", () => {
  const fields = new Map<string, string | boolean>([
    ["task.title", "Ship"],
    ["task.due.day", "2026-01-26"],
    ["agree", true],
  ]);
  expect(nest(fields)).toEqual({
    task: { title: "Ship", due: { day: "2026-01-26" } },
    agree: true,
  });
});

test("a field that is also a parent of others gives way to them", () => {
  expect(
    nest(
      new Map([
        ["a", "1"],
        ["a.b", "2"],
      ]),
    ),
  ).toEqual({ a: { b: "2" } });
});

test.each(["__proto__.x", "a.__proto__", "constructor.prototype.x", ".", ""])(
  "a field named %j is left out",
  (name) => {
    expect(nest(new Map([[name, "x"]]))).toEqual({});
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  },
);

test("what the author wrote in the payload wins over a field", () => {
  expect(
    withFields(
      { id: 7 },
      new Map([
        ["id", "8"],
        ["n", "1"],
      ]),
    ),
  ).toEqual({ id: 7, n: "1" });
});

test("a payload that is no object goes beside the fields", () => {
  expect(withFields("seven", new Map([["n", "1"]]))).toEqual({ value: "seven", n: "1" });
});

test.each([undefined, null, "seven", [1]])(
  "without fields a payload %j stays as it is",
  (payload) => {
    expect(withFields(payload, new Map())).toBe(payload);
  },
);
