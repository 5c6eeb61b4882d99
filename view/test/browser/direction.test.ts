import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blank, hasBrowser, launch } from "./browser";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const EDGE = { left: { size: 6, color: "green" } };
const ROW = {
  type: "Row",
  children: [
    { type: "Icon", name: "chevron-right" },
    { type: "Text", value: "Ferry 6, at 09:30" },
    { type: "Spacer" },
    { type: "Badge", label: "3 places" },
  ],
};
const WIDGET = {
  type: "Card",
  children: [{ type: "Box", border: EDGE, padding: { left: 4 }, children: [ROW] }],
};

describe.skipIf(!hasBrowser)("in a language that is written from the right", () => {
  test("the layout is mirrored, and words keep the order of their own letters", async () => {
    const { page, errors, show } = await blank(browser);
    const places = async (locale: string) => {
      await show({ widget: WIDGET, locale });
      return page.evaluate(() => {
        const left = (selector: string) =>
          document.querySelector(selector)?.getBoundingClientRect().left ?? 0;
        const box = getComputedStyle(document.querySelector(".card-body > .box") as Element);
        return {
          dir: document.documentElement.dir,
          iconFirst: left(".icon") < left(".words"),
          badgeLast: left(".badge") > left(".words"),
          edges: [box.borderLeftWidth, box.borderRightWidth, box.paddingLeft, box.paddingRight],
          arrow: getComputedStyle(document.querySelector(".glyph") as Element).scale,
          badge: getComputedStyle(document.querySelector(".badge > *") as Element).unicodeBidi,
        };
      });
    };

    expect(await places("en")).toEqual({
      dir: "ltr",
      iconFirst: true,
      badgeLast: true,
      edges: ["6px", "0px", "16px", "0px"],
      arrow: "none",
      badge: "plaintext",
    });
    expect(await places("ar")).toEqual({
      dir: "rtl",
      iconFirst: false,
      badgeLast: false,
      edges: ["0px", "6px", "0px", "16px"],
      arrow: "-1 1",
      badge: "plaintext",
    });
    expect(errors).toEqual([]);
  });

  test("the arrow keys go over a calendar the way it is drawn", async () => {
    const { page, show } = await blank(browser);
    const picker = { type: "DatePicker", name: "day", defaultValue: "2026-01-26" };
    await show({ widget: { type: "Card", children: [picker] }, locale: "he" });
    await page.locator("button.control").press("Enter");
    await page.locator(".day:focus").waitFor();
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator(".day:focus").getAttribute("data-day")).toBe("2026-01-27");
  });
});
