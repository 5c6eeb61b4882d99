import { expect, test } from "vitest";
import { readContext } from "../../src/host/context";
import { readResult } from "../../src/host/result";

const CARD = { type: "Card", children: [] };

test.each([
  ["in the split profile's meta", { _meta: { "widgetd/widget": CARD } }],
  ["as the structured content itself", { structuredContent: CARD }],
  ["under the structured content's widget", { structuredContent: { uiType: "x", widget: CARD } }],
])("the widget is found %s", (_where, result) => {
  expect(readResult(result).tree).toBe(CARD);
});

test.each([
  ["no root", { structuredContent: { type: "Text", value: "x" } }],
  ["a name instead of a tree", { structuredContent: { widget: "flight_tracker" } }],
  ["nothing", {}],
])("%s is no widget", (_what, result) => {
  expect(readResult(result).tree).toBeUndefined();
});

test("the meta's widget goes before the structured content", () => {
  const other = { type: "Basic", children: [] };
  expect(readResult({ _meta: { "widgetd/widget": CARD }, structuredContent: other }).tree).toBe(
    CARD,
  );
});

test("the render, the words and the fields' problems are read", () => {
  const read = readResult({
    isError: true,
    content: [
      { type: "text", text: "one" },
      { type: "image", data: "" },
      { type: "text", text: "two" },
    ],
    structuredContent: {
      validationErrors: { email: ["is missing.", "Say yours."], age: "too young" },
    },
    _meta: { "widgetd/render": { id: "r1" } },
  });
  expect(read).toMatchObject({
    renderId: "r1",
    isError: true,
    text: "one\ntwo",
    problems: { email: "is missing. Say yours.", age: "too young" },
  });
});

test("a host context is read as far as it goes", () => {
  expect(
    readContext({ theme: "neon", locale: "not a locale!", safeAreaInsets: { top: 12, left: -3 } }),
  ).toEqual({
    theme: undefined,
    locale: undefined,
    displayMode: "inline",
    variables: undefined,
    title: undefined,
    insets: { top: 12, right: 0, bottom: 0, left: 0 },
  });
});
