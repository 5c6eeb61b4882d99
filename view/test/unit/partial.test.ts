import { expect, test } from "vitest";
import { drawPartial, type PageProgram } from "../../src/program/draw";
import { LAST, type WidgetNode, walk } from "../../src/tree/node";

/** A card: a title, a row for each name, a total, and a button whose payload has the basket's id. */
const PROGRAM: PageProgram = {
  n: 6,
  a: { basket: 1, title: 2, rows: 3, total: 4 },
  b: [
    ["out", '{"type":"Card","children":[{"type":"Title","value":', ["json", 2], "}"],
    ["for", 5, 3, [["out", ',{"type":"Text","value":', ["json", [".", 5, "name"]], "}"]]],
    ["out", ',{"type":"Caption","value":"Total"},{"type":"Text","value":', ["json", 4], "}"],
    ["out", ',{"type":"Button","label":"Pay","onClickAction":{"type":"pay","payload":{"id":'],
    ["out", ["json", 1], "}}}]}"],
  ],
};

const findLast = (tree: WidgetNode) =>
  [...walk(tree)].flatMap((node) => (node[LAST] ? [node.value ?? node.type] : []));

test.each([
  ["no value that is seen", { basket: "b1" }, ["Title"]],
  ["a title", { basket: "b1", title: "Your basket" }, ["Your basket"]],
  ["a list that grows", { basket: "b1", title: "T", rows: [{ name: "Plum cake" }] }, ["Plum cake"]],
  ["a value after the list", { basket: "b1", rows: [{ name: "Rye" }], total: "20 pounds" }, []],
] as const)("arguments with %s leave parts after a gap out of sight", (_name, args, last) => {
  expect(findLast(drawPartial(PROGRAM, args))).toEqual(last);
});

test.each([
  ["two words", "plum cake", "plum cake"],
  ["a name", "Plums", "Plums"],
  ["the start of a name", "Plum", undefined],
  ["letters without case", "梅子", "梅子"],
  ["a key", "plum-ca", undefined],
  ["an address", "https://exa", undefined],
  ["a choice of the schema", "Sold o", undefined],
])("%s that grows is drawn only as prose", (name, given, drawn) => {
  const kinds = { p: { title: name === "a choice of the schema" ? { e: ["Sold out"] } : "s" } };
  const title = drawPartial({ ...PROGRAM, kinds }, { basket: "b1", title: given }).children;
  expect((title as WidgetNode[])[0]?.value).toBe(drawn);
});
