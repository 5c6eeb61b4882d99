import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blank, hasBrowser, launch } from "./browser";
import { EVERYTHING } from "./everything";
import { misplacedWords, WIDTHS } from "./words";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const THEMES = ["light", "dark"] as const;

interface Sample {
  readonly name: string;
  readonly widget: unknown;
}

/** The previews inside the `.widget` files of a folder, at any depth. */
function previews(folder: string): Sample[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".widget"))
    .sort()
    .flatMap((path) => {
      const widget = JSON.parse(readFileSync(`${folder}/${path}`, "utf8")).outputJsonPreview;
      return widget ? [{ name: path, widget }] : [];
    });
}

const BUNDLED = previews(`${ROOT}widgets`);
const CORPUS = previews(`${ROOT}../shared/corpus`);

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

/** Returns the violations that axe finds in the page. */
async function objections(page: Page): Promise<string[]> {
  await page.evaluate(AXE);
  return page.evaluate(async () => {
    const { violations } = await (
      window as unknown as { axe: typeof import("axe-core") }
    ).axe.run();
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}

const card = (...children: unknown[]) => ({ type: "Card", children });

const overflows = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth > document.documentElement.clientWidth);

describe.skipIf(!hasBrowser).each(THEMES)("in the %s theme", (theme) => {
  test("every bundled widget and every real preview draws with its words whole", async () => {
    const { page, errors, show } = await blank(browser);
    for (const { name, widget } of [...BUNDLED, ...CORPUS]) {
      await show({ widget, theme });
      expect(await page.locator("#stage > :not(h1, .notices)").count(), name).toBeGreaterThan(0);
      expect(await page.locator(".unknown").count(), name).toBe(0);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await overflows(page), `${name} at ${width}`).toBe(false);
        expect(await misplacedWords(page), `${name} at ${width}`).toEqual([]);
      }
      expect(errors.splice(0), name).toEqual([]);
    }
    await page.close();
  });

  test.each([...EVERYTHING, ...BUNDLED])(
    "axe finds nothing to object to in $name",
    async ({ widget }) => {
      const { page, errors, show } = await blank(browser);
      await show({ widget, theme, title: "A widget" });
      await page.evaluate(
        (background) => {
          document.documentElement.style.background = background;
        },
        theme === "dark" ? "#212121" : "#fff",
      );
      expect(await objections(page)).toEqual([]);
      expect(errors).toEqual([]);
      await page.close();
    },
  );
});

describe.skipIf(!hasBrowser)("a control", () => {
  test.each([
    ["a calendar", { type: "DatePicker", name: "day", defaultValue: "2026-01-26" }],
    [
      "a menu",
      {
        type: "Select",
        name: "pick",
        searchable: true,
        options: [{ value: "a", label: "Alpha", description: "First" }],
      },
    ],
  ])("%s that is open gives axe nothing to object to", async (_what, widget) => {
    const { page, show } = await blank(browser);
    await show({ widget: card(widget), theme: "light" });
    await page.locator("button.control").click();
    expect(await page.locator(".calendar, .options").count()).toBe(1);
    // Colours are judged at rest, not on their way in.
    await page.evaluate(() =>
      Promise.all(document.getAnimations().map(({ finished }) => finished)),
    );
    expect(await objections(page)).toEqual([]);
  });

  test("a field that asks for it has the focus, with its text selected", async () => {
    const { page, show } = await blank(browser);
    for (const type of ["Input", "Textarea"]) {
      await show(
        card({ type, name: "title", defaultValue: "Draft", autoFocus: true, autoSelect: true }),
      );
      await expect
        .poll(() =>
          page.evaluate(() => {
            const field = document.activeElement as HTMLInputElement;
            return field.value?.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0);
          }),
        )
        .toBe("Draft");
    }
  });

  test("a pattern holds for a textarea too", async () => {
    const { page, show } = await blank(browser);
    const form = {
      type: "Form",
      onSubmitAction: { type: "x" },
      children: [
        { type: "Textarea", name: "code", pattern: "[0-9]+" },
        { type: "Button", label: "Send", submit: true },
      ],
    };
    await show(card(form));
    await page.getByLabel("Code").fill("abc");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("alert").getByText("Please match the requested format.").waitFor();
  });

  test("a date is chosen by keyboard within its bounds", async () => {
    const { page, show } = await blank(browser);
    await show({
      widget: card({
        type: "DatePicker",
        name: "day",
        defaultValue: "2026-01-26",
        min: "2026-01-25",
        max: "2026-01-28",
      }),
      locale: "en-US",
    });
    const button = page.getByRole("button", { name: "Day, Jan 26, 2026" });
    await button.press("Enter");
    await page.locator(".day:focus").waitFor();
    for (const key of ["ArrowDown", "ArrowRight"]) await page.keyboard.press(key);
    expect(await page.locator(".day:focus").getAttribute("data-day")).toBe("2026-01-28");
    expect(await page.locator("[data-day='2026-01-29']").isDisabled()).toBe(true);
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Day, Jan 27, 2026" }).waitFor();
    expect(await page.locator(".calendar").count()).toBe(0);
    expect(await page.locator("input[name=day]").inputValue()).toBe("2026-01-27");
  });

  test("what is typed as soon as a list opens is what it is searched for", async () => {
    const { page, show } = await blank(browser);
    const options = [{ value: "one", label: "One", description: "The first" }];
    await show(card({ type: "Select", name: "pick", placeholder: "Pick one", options }));
    const focused = await page
      .getByRole("button", { name: "Pick one" })
      .evaluate(async (button) => {
        (button as HTMLButtonElement).click();
        await new Promise<void>(queueMicrotask);
        return document.activeElement?.getAttribute("role");
      });
    expect(focused).toBe("combobox");
  });

  test("a long list of options is searched and chosen by keyboard", async () => {
    const { page, show } = await blank(browser);
    const options = Array.from({ length: 20 }, (_, n) => ({
      value: `v${n}`,
      label: `Option ${n}`,
      description: `Number ${n}`,
    }));
    await show(card({ type: "Select", name: "pick", placeholder: "Pick one", options }));
    await page.getByRole("button", { name: "Pick one" }).press("Enter");
    await page.keyboard.type("option 1");
    expect(await page.getByRole("option").count()).toBe(11);
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Pick one, Option 10" }).waitFor();
    expect(await page.locator("input[name=pick]").inputValue()).toBe("v10");
    expect(await page.getByRole("listbox").count()).toBe(0);
  });

  test("a chart says its values under the pointer", async () => {
    const { page, show } = await blank(browser);
    const data = [
      { m: "Jan", v: 1200 },
      { m: "Feb", v: 3400 },
    ];
    const series = [{ type: "bar", dataKey: "v", label: "Sales" }];
    await show({ widget: card({ type: "Chart", data, xAxis: "m", series }), locale: "en-US" });
    const plot = page.locator(".plot");
    await plot.hover({ position: { x: 300, y: 80 } });
    expect(await page.locator(".tooltip").innerText()).toBe("Feb\nSales\n3,400");
    await show(card({ type: "Chart", data, xAxis: "m", series, showTooltip: false }));
    await plot.hover({ position: { x: 300, y: 80 } });
    expect(await page.locator(".tooltip").count()).toBe(0);
  });

  test("a picture that cannot be had leaves its words", async () => {
    const { page, show } = await blank(browser);
    await show(
      card({
        type: "Image",
        src: "https://example.org/missing.png",
        alt: "A lighthouse",
        height: 80,
      }),
    );
    await page.getByRole("img", { name: "A lighthouse" }).waitFor();
    expect(await page.locator("img").count()).toBe(0);
  });

  test("an item beyond the limit shows on request", async () => {
    const { page, show } = await blank(browser);
    const children = Array.from({ length: 8 }, (_, n) => ({
      type: "ListViewItem",
      children: [{ type: "Text", value: `Item ${n}` }],
    }));
    await show({ type: "ListView", limit: "auto", children });
    expect(await page.getByRole("listitem").count()).toBe(5);
    await page.getByRole("button", { name: "Show 3 more" }).click();
    expect(await page.getByRole("listitem").count()).toBe(8);
  });

  test("a collapsed card opens", async () => {
    const { page, show } = await blank(browser);
    await show({
      type: "Card",
      collapsed: true,
      children: [
        { type: "Title", value: "Booked" },
        { type: "Text", value: "Room 7" },
      ],
    });
    expect(await page.getByText("Room 7").count()).toBe(0);
    await page.getByRole("button", { name: "Booked" }).click();
    await page.getByText("Room 7").waitFor();
  });

  test("nothing moves for those who want no motion", async () => {
    const { page, show } = await blank(browser);
    await page.emulateMedia({ reducedMotion: "reduce" });
    await show(card({ type: "Transition", children: { type: "Text", value: "x" } }));
    expect(
      await page
        .locator(".entering")
        .evaluate((element) => getComputedStyle(element).animationDuration),
    ).toBe("0.001s");
  });
});
