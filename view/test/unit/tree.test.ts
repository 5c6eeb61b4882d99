import { options } from "preact";
import { expect, test } from "vitest";
import { component } from "../../src/tree/component";
import { draw, drawWith } from "./draw";

test("an unknown component says its name and shows what is inside", () => {
  const html = draw({ type: "Hologram", children: [{ type: "Text", value: "inside" }] });
  expect(html).toContain("Unknown component: Hologram");
  expect(html).toContain(">inside</div>");
});

test.each([
  ["a value that is an object", { type: "Text", value: { type: "b", props: { children: "x" } } }],
  [
    "children that are no components",
    { type: "Card", children: ["text", null, 7, { no: "type" }] },
  ],
  ["a status that is a text", { type: "Card", status: "Busy", children: [] }],
  ["an unknown size", { type: "Title", value: "T", size: "enormous" }],
  ["an unknown icon", { type: "Icon", name: "vendor:thing" }],
  ["a chart without data", { type: "Chart", data: [], series: [], xAxis: "x" }],
  [
    "a chart whose data are words",
    {
      type: "Chart",
      data: [{ x: 1, v: "a" }],
      series: [{ type: "bar", dataKey: "v" }],
      xAxis: "x",
    },
  ],
  ["a locale with no week", { type: "DatePicker", name: "d", defaultValue: "not a date" }],
  ["nothing but its type", { type: "RadioGroup" }],
])("%s still draws", (_case, node) => {
  expect(draw(node)).not.toBe("");
});

test("text is never markup", () => {
  expect(draw({ type: "Text", value: "<img src=x onerror=alert(1)>" })).toContain("&lt;img");
});

test("every child of a list becomes an item", () => {
  const html = draw({ type: "ListView", children: [{ type: "Text", value: "bare" }] });
  expect(html).toMatch(/<ul><li[^>]*>.*bare.*<\/li><\/ul>/);
});

test("`true` written as a text is true", () => {
  expect(draw({ type: "Button", label: "Off", disabled: "true" })).toContain("disabled");
});

test("a component that fails shows its error, and its neighbours stay", () => {
  (options as { errorBoundaries?: boolean }).errorBoundaries = true;
  const broken = component("Bomb", {}, () => {
    throw new Error("no fuse");
  });
  const tree = { type: "Col", children: [{ type: "Bomb" }, { type: "Text", value: "standing" }] };
  expect(drawWith([broken], tree)).toMatch(/Bomb: Error: no fuse.*standing/);
});
