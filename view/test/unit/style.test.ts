import { expect, test } from "vitest";
import { border } from "../../src/style/border";
import { background, color } from "../../src/style/color";
import { alignText, readDirection } from "../../src/style/direction";
import { findIcon } from "../../src/style/icons";
import { insets, pixels, radius, spacing } from "../../src/style/units";
import { picture } from "../../src/style/url";
import { draw } from "./draw";

const LIGHT = { theme: "light" } as const;
const DARK = { theme: "dark" } as const;
const SENT = { "lucide:arrow-up-right": [], "lucide:arrow-up": [], "lucide:copyright": [] };

test.each([
  ["text", "secondary", "var(--color-text-secondary)"],
  ["text", "emphasis", "var(--color-text)"],
  ["surface", "surface-elevated", "var(--color-surface-elevated)"],
  ["border", "subtle", "var(--color-border-subtle)"],
  ["chart", "purple", "var(--purple-400)"],
  ["text", "purple", "var(--purple-400)"],
  ["surface", "gray", "var(--gray-400)"],
  ["border", "red", "var(--red-400)"],
  ["text", "red-100", "var(--red-100)"],
  ["text", "blue-a100", "var(--blue-a100)"],
  ["text", "alpha-70", "color-mix(in oklab, var(--alpha-base) 70%, transparent)"],
  ["text", "#123456", "#123456"],
  ["text", "  ", undefined],
  ["text", 7, undefined],
  ["text", "toString", "toString"],
] as const)("as %s colour, %j is %j", (role, given, css) => {
  expect(color(role)(given, LIGHT)).toBe(css);
});

test("a themed colour follows the theme, and makes do with the one there is", () => {
  const both = { light: "red-100", dark: "red-900" };
  expect(color("text")(both, LIGHT)).toBe("var(--red-100)");
  expect(color("text")(both, DARK)).toBe("var(--red-900)");
  expect(color("text")({ light: "red-100" }, DARK)).toBe("var(--red-100)");
});

test("a gradient is a background, and a picture has a dark layer beneath it", () => {
  expect(background("linear-gradient(red, blue)", LIGHT)).toBe("linear-gradient(red, blue)");
  expect(background("url(https://example.org/a.png) center", LIGHT)).toBe(
    "url(https://example.org/a.png) center #303030",
  );
});

test.each([
  [2, "8px"],
  ["2", "8px"],
  [0.5, "2px"],
  ["1em", "1em"],
  ["auto", "auto"],
  ["lg", "16px"],
  ["roomy", undefined],
  [true, undefined],
  ["", undefined],
  [Number.NaN, undefined],
  [null, undefined],
])("as spacing, %j is %j", (given, css) => {
  expect(spacing(given, LIGHT)).toBe(css);
});

test("a size counts in pixels", () => {
  expect(pixels(40, LIGHT)).toBe("40px");
  expect(pixels("50%", LIGHT)).toBe("50%");
});

test("a side wins over its axis, and an axis over nothing", () => {
  expect(insets({ x: 4, left: 1, top: 2 }, LIGHT)).toEqual({
    top: "8px",
    right: "16px",
    bottom: undefined,
    left: "4px",
  });
});

test("a border is a width, an edge, or one for each side", () => {
  const usual = "1px solid var(--color-border)";
  expect(border(1, LIGHT)).toEqual({ top: usual, right: usual, bottom: usual, left: usual });
  expect(border({ size: 2, color: "red-100", style: "dashed" }, LIGHT)?.top).toBe(
    "2px dashed var(--red-100)",
  );
  expect(border({ top: 1, y: { size: 3 } }, LIGHT)).toEqual({
    top: usual,
    right: undefined,
    bottom: "3px solid var(--color-border)",
    left: undefined,
  });
});

test.each([
  ["full", "var(--radius-full)"],
  ["none", "0"],
  ["100%", "100%"],
  ["huge", undefined],
])("the radius %j is %j", (given, css) => {
  expect(radius(given, LIGHT)).toBe(css);
});

test.each(["javascript:alert(1)", "/local.png", "data:text/html,x", "file:///x.png"])(
  "a picture at %j is not asked for",
  (src) => {
    expect(picture(src, LIGHT)).toBeUndefined();
    expect(draw({ type: "Image", src, alt: "A cat" })).toContain('role="img" aria-label="A cat"');
  },
);

test("icons that came along are drawn as plain shapes only", () => {
  const icons = {
    "lucide:x": [
      ["path", { d: "M0 0", onclick: "alert(1)", style: "fill:red" }],
      ["script", { d: "alert(1)" }],
      ["circle", { cx: 1, r: { evil: 1 } }],
    ],
  };
  const html = draw({ type: "Icon", name: "lucide:x" }, { icons });
  expect(html).toContain('<path d="M0 0"></path><circle cx="1"></circle>');
  expect(html).not.toMatch(/alert|style="fill/);
});

test.each([
  ["en-US", "ltr"],
  ["az", "ltr"],
  ["az-Arab", "rtl"],
  ["ar-EG", "rtl"],
  ["he", "rtl"],
  ["ur", "rtl"],
  ["dv", "rtl"],
  ["zh-TW", "ltr"],
])("%s is written %s", (locale, direction) => {
  expect(readDirection(locale)).toBe(direction);
});

test("words are alignText to the edges of the page", () => {
  expect(alignText("end")).toBe("var(--end)");
  expect(alignText(undefined)).toBeUndefined();
  expect(draw({ type: "Text", value: "x", textAlign: "start" })).toContain(
    "text-align:var(--start)",
  );
});

test.each(["chevron-left", "external-link", "lucide:arrow-up-right"])(
  "%s points along the line",
  (name) => {
    expect(findIcon(name, SENT).pointing).toBe(true);
  },
);

test.each(["reload", "lucide:arrow-up", "lucide:copyright", "nobody-knows-left"])(
  "%s does not point along the line",
  (name) => {
    expect(findIcon(name, SENT).pointing).toBe(false);
  },
);
