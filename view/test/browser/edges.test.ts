import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { blank, hasBrowser, launch } from "./browser";
import { EVERYTHING } from "./everything";
import { misplacedWords, WIDTHS } from "./words";

let browser: Browser;
beforeAll(async () => {
  if (hasBrowser) browser = await launch();
});
afterAll(() => browser?.close());

const card = (...children: unknown[]) => ({ type: "Card", children });
const chart = (data: unknown[], more = {}) => ({
  type: "Chart",
  data,
  series: [{ type: "bar", dataKey: "v" }],
  xAxis: { dataKey: "x" },
  ...more,
});
const cell = (value: string) => ({ type: "Table.Cell", children: [{ type: "Text", value }] });
const words = (value: string) => ({ type: "Text", value });
const title = (value: string) => ({ type: "Title", value, size: "xl" });
const cut = (value: string) => ({ type: "Text", value, truncate: true });
const col = (...children: unknown[]) => ({ type: "Col", flex: 1, children });
const row = (...children: unknown[]) => ({ type: "Row", children });
const button = { type: "Button", label: "Play" };
const badge = { type: "Badge", label: "Confirmed" };
const SENTENCE = "A rather long sentence that wants all of the room that there is in its row";
const HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
const ADDRESS = `https://example.org/a/very/long/address?query=${HASH}`;
const wideTable = {
  type: "Table",
  children: ["one", "two"].map((row) => ({
    type: "Table.Row",
    children: Array.from({ length: 9 }, (_, n) => cell(`${row}-column-${n}`)),
  })),
};

/** Returns whether `change` alters what is drawn of the control. */
async function changes(page: Page, control: Locator, change: () => Promise<void>) {
  await page.mouse.move(0, 0);
  const box = await control.boundingBox();
  if (!box) throw new Error("it is nowhere");
  const clip = { x: box.x - 6, y: box.y - 6, width: box.width + 12, height: box.height + 12 };
  const look = () => page.screenshot({ clip, fullPage: true, animations: "disabled" });
  const before = await look();
  await change();
  return !before.equals(await look());
}

describe.skipIf(!hasBrowser)("at its edges", () => {
  test.each([
    ["no rows", []],
    ["rows without numbers", [{ x: "a" }, { x: "b", v: "n/a" }]],
  ])("a chart of %s says so in its plot", async (_what, data) => {
    const { page, show } = await blank(browser);
    await show(card(chart(data)));
    expect(await page.locator(".plot").innerText()).toBe("No data");
    const { height } = (await page.locator(".plot").boundingBox()) ?? { height: 0 };
    expect(height).toBeGreaterThan(100);
    await page.close();
  });

  test.each([true, false])(
    "no label of a chart is cut off, with a y axis: %s",
    async (showYAxis) => {
      const { page, show } = await blank(browser, 320);
      const months = ["September", "October", "November", "December"].map((one) => `${one} 2026`);
      const days = Array.from({ length: 6 }, (_, day) => `2025-11-1${day}`);
      const charts = [months, days].map((labels) => labels.map((x, v) => ({ x, v: v * 1000 })));
      await show(card(...charts.map((data) => chart(data, { showYAxis }))));
      const plot = await page.locator(".plot").first().boundingBox();
      const words = await page.locator(".plot").last().locator(".axis text").allTextContents();
      expect(words.filter((each) => days.includes(each)).length).toBeGreaterThan(1);
      expect(words.filter((each) => each.includes("…"))).toEqual([]);
      for (const label of await page.locator(".plot .axis text").all()) {
        const box = await label.boundingBox();
        expect(box?.x).toBeGreaterThanOrEqual((plot?.x ?? 0) - 1);
        expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(
          (plot?.x ?? 0) + (plot?.width ?? 0) + 1,
        );
      }
      await page.close();
    },
  );

  test.each(["en", "ar"])(
    "a table shows where it goes on, and scrolls by keys, in %s",
    async (locale) => {
      const { page, show } = await blank(browser, 320);
      await show({ widget: card(wideTable), locale });
      const table = page.getByRole("region", { name: "Table" });
      const edges = () =>
        table.evaluate((element) =>
          [...element.getAttributeNames()].filter((n) => /^data-(before|after)$/.test(n)),
        );
      expect(await edges()).toEqual(["data-after"]);
      await page.keyboard.press("Tab");
      expect(await table.evaluate((element) => element === document.activeElement)).toBe(true);
      await page.keyboard.press(locale === "ar" ? "ArrowLeft" : "ArrowRight");
      await expect.poll(edges).toContain("data-before");
      await table.evaluate(
        (element, sign) => element.scrollTo(sign * 1e4, 0),
        locale === "ar" ? -1 : 1,
      );
      await expect.poll(edges).toEqual(["data-before"]);
      await page.close();
    },
  );

  test("a table that fits is no stop for the keyboard, and fades nowhere", async () => {
    const { page, show } = await blank(browser, 320);
    await show(card({ ...wideTable, children: [{ type: "Table.Row", children: [cell("one")] }] }));
    const attributes = await page
      .locator(".table-scroll")
      .evaluate((element) => element.getAttributeNames());
    expect(attributes).toEqual(["class", "data-component"]);
    await page.close();
  });

  test.each(["light", "dark"])(
    "a missing picture is visible in the %s theme on every colour",
    async (theme) => {
      const { page, show } = await blank(browser);
      const image = { type: "Image", src: "https://example.org/x.png", size: 60 };
      const bands = ["#000", "#fff", "blue-500", "linear-gradient(90deg, #fef, #cdf)"];
      const boxes = bands.map((background) => ({ type: "Box", background, children: [image] }));
      await show({ widget: card(...boxes, { ...image, background: bands[3] }), theme });
      await expect.poll(() => page.locator(".missing").count()).toBe(5);
      for (const place of await page.locator(".missing").all()) {
        const { color, edge, image } = await place.evaluate((element) => {
          const { backgroundColor, outlineWidth, backgroundImage } = getComputedStyle(element);
          return { color: backgroundColor, edge: outlineWidth, image: backgroundImage };
        });
        const [red = 0] = color.match(/\d+/g)?.map(Number) ?? [];
        expect(color).toMatch(/^rgb\(/);
        expect(theme === "dark" ? 255 - red : red).toBeGreaterThan(190);
        expect(edge).toBe("1px");
        expect(image).toContain("repeating-linear-gradient");
      }
      await page.close();
    },
  );

  test("a picture that the policy blocks leaves its reason in its place", async () => {
    const { page, show } = await blank(browser);
    const image = { type: "Image", src: "https://images.example.org/x.png" };
    await show(card({ ...image, size: 120, alt: "A lighthouse" }, { ...image, size: 40 }));
    const reason = "images.example.org is not allowed here";
    await page.getByRole("img", { name: `A lighthouse, ${reason}` }).waitFor();
    await page.getByRole("img", { name: `Image, ${reason}` }).waitFor();
    expect(await page.getByText(reason).count()).toBe(1);
    await page.close();
  });

  test("a broken picture is not reported as blocked", async () => {
    const { page, show } = await blank(browser);
    await show(
      card({ type: "Image", src: "data:image/png;base64,AAAA", size: 120, alt: "A reef" }),
    );
    await page.getByRole("img", { name: "A reef", exact: true }).waitFor();
    await expect.poll(() => page.locator(".missing").count()).toBe(1);
    expect(await page.locator(".missing").getAttribute("title")).toBe("A reef");
    expect(await page.locator(".blocked").count()).toBe(0);
    await page.close();
  });

  test.each([
    [390, 390],
    [600, 360],
  ])("a small card in %d pixels is %d wide", async (width, wanted) => {
    const { page, show } = await blank(browser, width);
    await show({ ...card({ type: "Text", value: "x" }), size: "sm" });
    expect((await page.locator(".card").boundingBox())?.width).toBe(wanted);
    await page.close();
  });

  test.each([
    ["en", "end", "DE89370400440532013000-DE89370400440532013000"],
    ["en", "end", "A very long text that does not fit into a line of a card"],
    ["en", "center", "A very long text that does not fit into a line of a card"],
    ["ar", "start", "كلمات كثيرة في سطر واحد لا تجد مكانا كافيا هنا"],
    ["ar", "end", "many words in a row that find no room in one line"],
  ])("a cut line ends with an ellipsis: %s, %s", async (locale, textAlign, value) => {
    const { page, show } = await blank(browser, 320);
    const line = { type: "Text", value, textAlign, maxLines: 1 };
    const caption = { type: "Caption", value: "Reference" };
    const row = { type: "Row", children: [caption, { type: "Spacer" }, line] };
    await show({ widget: card(row), locale });
    const cut = page.locator(".clamped, .truncated");
    const { height, isCut } = await cut.evaluate((element) => ({
      height: element.clientHeight / Number.parseFloat(getComputedStyle(element).lineHeight),
      isCut:
        element.scrollHeight > element.clientHeight || element.scrollWidth > element.clientWidth,
    }));
    expect([height, isCut]).toEqual([1, true]);
    const whole = await cut.screenshot();
    // Where the line is cut away instead, the clamp changes nothing.
    await cut.evaluate((element) => {
      element.style.cssText += "display: block; max-height: 1lh; text-overflow: clip";
    });
    expect(whole.equals(await cut.screenshot())).toBe(false);
    await page.close();
  });

  test.each([
    [
      "rows of buttons",
      [
        ["Approve", "Decline"],
        ["Comment", "Postpone until Monday"],
      ],
    ],
    ["words beside a row of buttons", ["A rather long line of words", ["Accept", "Decline"]]],
  ])("no button of %s is cut, and none stands alone without need", async (_what, parts) => {
    const { page, show } = await blank(browser, 320);
    const row = (children: unknown[]) => ({ type: "Row", children });
    const button = (label: string) => ({ type: "Button", label });
    const children = parts.map((each) =>
      Array.isArray(each) ? row(each.map(button)) : { type: "Text", value: each },
    );
    await show(card(row(children)));
    const buttons = await page.locator(".button").evaluateAll((all) =>
      all.map((each) => {
        const { left, right, top } = each.getBoundingClientRect();
        return { left, right, top };
      }),
    );
    for (const { left, right } of buttons) {
      expect(left).toBeGreaterThanOrEqual(0);
      expect(right).toBeLessThanOrEqual(320);
    }
    expect(buttons[0]?.top).toBe(buttons[1]?.top);
    await page.close();
  });

  test.each([
    ["three columns", ["Reservation", "Wednesday", "$1,234.56"].map((each) => col(words(each)))],
    ["three titles", ["Reservation", "Wednesday", "$1,234.56"].map((each) => col(title(each)))],
    ["texts", ["Reservation", "Konstantinopel", "Registration"].map(words)],
    ["a column beside a sentence", [col(words("Reservation")), words(SENTENCE)]],
    ["an address beside a badge", [col(words(ADDRESS), words("Reservation")), badge]],
    ["hashes beside a word", [col(words(HASH)), col(words("Wednesday")), col(words(HASH))]],
    ["an address beside a sentence", [col(words(ADDRESS)), words(SENTENCE)]],
    [
      "a title of two lines",
      [col({ ...title("Konstantinopel is far"), size: "md", maxLines: 2 }), button],
    ],
    ["a word above a cut line", [col(words("Konstantinopel"), cut(SENTENCE)), button]],
    [
      "Markdown",
      ["Konstantinopel", "Internationally"].map((value) => col({ type: "Markdown", value })),
    ],
    ["columns of columns", [col(row(col(words("Reservation")), col(words("Wednesday")))), button]],
  ])("the words of a row of %s are whole", async (_what, children) => {
    const { page, show } = await blank(browser);
    for (const locale of ["en", "ar"]) {
      await show({ widget: card(row(...children)), locale });
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: 900 });
        expect(await misplacedWords(page), `${locale}, ${width}`).toEqual([]);
      }
    }
    await page.close();
  });

  test("columns are of one width where each has room for its words", async () => {
    const { page, show } = await blank(browser, 320);
    await show(card(row(col(words("On")), col(words("Reservation of a table")))));
    const widths = await page
      .locator(".row > .col")
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().width));
    expect(widths[0]).toBe(widths[1]);
    await page.close();
  });

  test.each(["light", "dark"])(
    "a button that is off can be read in the %s theme",
    async (theme) => {
      const { page, show } = await blank(browser);
      await show({ widget: card({ type: "Button", label: "Off", disabled: true }), theme });
      const [words, card_] = await page.locator(".button").evaluate((button) => {
        const card = button.closest(".card") as Element;
        const light = (color: string) => {
          const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
            const value = Number(part) / 255;
            return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05;
        };
        return [
          light(getComputedStyle(button).color),
          light(getComputedStyle(card).backgroundColor),
        ];
      });
      expect(Math.max(words, card_) / Math.min(words, card_)).toBeGreaterThan(3);
      await page.close();
    },
  );

  test("a date in a narrow column is read to its end", async () => {
    const { page, show } = await blank(browser, 320);
    const date = { type: "DatePicker", name: "due", defaultValue: "2026-03-20", block: true };
    const columns = [date, { type: "Select", name: "s", options: [], block: true }];
    await show(
      card({
        type: "Row",
        children: columns.map((each) => ({ type: "Col", flex: 1, children: [each] })),
      }),
    );
    const cut = await page
      .locator(".date .truncated")
      .evaluate((words) => words.scrollWidth > words.clientWidth);
    expect(cut).toBe(false);
    await page.close();
  });

  test.each([
    [110, false],
    [240, true],
  ])("a date in %s pixels begins at the edge, or at its picture", async (width, pictured) => {
    const { page, show } = await blank(browser, 320);
    const date = { type: "DatePicker", name: "due", placeholder: "Select date", block: true };
    await show(card({ type: "Box", width, children: [date] }));
    const { words, glyph, start } = await page.locator(".date .control").evaluate((control) => {
      const box = (inside: string) => control.querySelector(inside)?.getBoundingClientRect();
      const line = box(".date-words");
      const picture = box(".glyph");
      return {
        words: (box(".truncated")?.left ?? 0) - (line?.left ?? 0),
        glyph: (picture?.top ?? 0) < (line?.bottom ?? 0),
        start: (line?.left ?? 0) - control.getBoundingClientRect().left,
      };
    });
    expect(start).toBeLessThan(14);
    expect(glyph).toBe(pictured);
    expect(words).toBe(pictured ? 22 : 0);
    await page.close();
  });

  test("what is chosen at the end of a row ends where words with its padding do", async () => {
    const { page, show } = await blank(browser, 320);
    const picker = { type: "Select", name: "s", variant: "ghost", options: [], defaultValue: "" };
    const spacer = { type: "Spacer" };
    await show(
      card(
        { type: "Row", children: [spacer, picker] },
        { type: "Row", children: [spacer, { type: "Text", value: "5" }] },
      ),
    );
    const ends = await page
      .locator(".row > :last-child")
      .evaluateAll((all) => all.map((each) => each.getBoundingClientRect().right));
    expect(ends[0]).toBe(ends[1]);
    await page.close();
  });

  test.each(EVERYTHING)(
    "every control in $name changes under the pointer and when focused",
    async ({ widget }) => {
      const { page, show } = await blank(browser);
      await show({ widget });
      const controls = page.locator("button:enabled:visible, a[href]:visible");
      for (const control of await controls.all()) {
        const name = await control.evaluate((element) => element.outerHTML.slice(0, 120));
        expect(await changes(page, control, () => control.hover({ force: true })), name).toBe(true);
        await page.keyboard.press("Shift");
        expect(await changes(page, control, () => control.focus()), name).toBe(true);
      }
      await page.close();
    },
  );
});
