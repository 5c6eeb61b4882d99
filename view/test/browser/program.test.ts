import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleHost, hasBrowser, launch, openHost, VIEW } from "./browser";
import { hasDaemon } from "./daemon";
import { result } from "./form-widget";
import { bundledWidgets } from "./widgets";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

const BUTTON = { type: "Button", label: "Go", onClickAction: { type: "go" } };
const PROGRAM = {
  n: 4,
  a: { title: 1, rows: 2 },
  b: [
    ["out", '{"type":"Card","children":[{"type":"Title","value":', ["json", 1], "}"],
    ["for", 3, 2, [["out", ',{"type":"Text","value":', ["json", [".", 3, "name"]], "}"]]],
    ["out", `,${JSON.stringify(BUTTON)}]}`],
  ],
};
const buildTree = (title: string, ...names: string[]) => ({
  type: "Card",
  children: [
    { type: "Title", value: title },
    ...names.map((name) => ({ type: "Text", value: name })),
    BUTTON,
  ],
});

const withProgram = () => {
  const block = `<script type="application/json" id="widgetd-program">${JSON.stringify(PROGRAM)}</script>`;
  return openHost(browser, {}, { "/view": () => VIEW.replace("<head>", `<head>${block}`) });
};

describe.skipIf(!hasBrowser)("a page with a program", () => {
  test("draws the arguments as they come, and what may still come is left out", async () => {
    const { view, send, errors } = await withProgram();
    await send("sendToolInputPartial", { arguments: {} });
    await view.getByRole("status", { name: "Loading" }).waitFor();
    await send("sendToolInputPartial", { arguments: { title: "Two rows" } });
    await view.getByText("Two rows").waitFor();
    const rows = [{ name: "the first" }, { name: "the second o" }];
    await send("sendToolInputPartial", { arguments: { title: "Two rows", rows } });
    await view.getByText("the second o").waitFor();
    expect(await view.getByRole("status", { name: "Loading" }).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test("keeps parts after the last value out of sight, so that nothing moves", async () => {
    const { view, send } = await withProgram();
    await view.evaluate(() => {
      const shifts: number[] = [];
      Object.assign(window, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          shifts.push((entry as unknown as { value: number }).value);
        }
      }).observe({ type: "layout-shift" });
    });
    const rows: { name: string }[] = [];
    for (const name of ["the first", "the second", "the third"]) {
      rows.push({ name });
      await send("sendToolInputPartial", { arguments: { title: "Rows", rows } });
      await view.getByText(name).waitFor();
      await view.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(0))));
    }
    const button = view.getByRole("button", { name: "Go", includeHidden: true });
    expect(await button.isVisible()).toBe(false);
    expect((await button.boundingBox())?.height).toBeGreaterThan(0);

    await send("sendToolInput", { arguments: { title: "Rows", rows } });
    await button.waitFor();
    expect(await view.evaluate(() => Reflect.get(window, "shifts"))).toEqual([]);
  });

  test("reports a difference once, and none for a newer version", async () => {
    const { page, view, send, recorded } = await withProgram();
    const makeVersion = (title: string, version: number) => {
      const made = result(buildTree(title)) as { _meta: Record<string, Record<string, unknown>> };
      const mark = { ...made._meta["widgetd/render"], version, follow: true };
      return { ...made, _meta: { ...made._meta, "widgetd/render": mark } };
    };
    await send("sendToolInput", { arguments: { title: "From the page" } });
    await send("sendToolResult", makeVersion("From the server", 1));
    await view.getByText("From the server").waitFor();
    await send("sendToolResult", makeVersion("Newer", 2));
    await view.getByText("Newer").waitFor();

    await expect.poll(() => recorded("log")).toHaveLength(1);
    await expect
      .poll(() => page.evaluate(() => window.host.questions))
      .toMatchObject([{ timeout_s: 0, differed: true }]);
    expect(await recorded("follow")).not.toContainEqual(
      expect.objectContaining({ arguments: expect.objectContaining({ differed: true }) }),
    );
  });

  test("says that its controls are off until a result comes, and turns them on then", async () => {
    const { view, send, recorded } = await withProgram();
    await send("sendToolInput", { arguments: { title: "Alone" } });
    await view.getByText("This is drawn from the arguments alone").waitFor();
    const button = view.getByRole("button", { name: "Go" });
    expect(await button.isDisabled()).toBe(true);

    await send("sendToolResult", result(buildTree("Alone")));
    await expect.poll(() => button.isDisabled()).toBe(false);
    expect(await view.getByText("This is drawn from the arguments alone").count()).toBe(0);
    await button.click();
    await expect.poll(() => recorded("tool")).toHaveLength(1);
    expect(JSON.stringify(await recorded("log"))).not.toContain("page.differed");
  });

  test("shows the server's tree where it is another, and logs that without values", async () => {
    const { view, send, recorded } = await withProgram();
    await send("sendToolInput", { arguments: { title: "From the page" } });
    await view.getByText("From the page").waitFor();
    await send("sendToolResult", result(buildTree("From the server")));
    await view.getByText("From the server").waitFor();
    expect(await view.getByText("From the page").count()).toBe(0);
    await expect.poll(() => recorded("log")).toHaveLength(1);
    expect(JSON.stringify(await recorded("log"))).toContain("page.differed");
    expect(JSON.stringify(await recorded("log"))).not.toContain("From");

    await send("sendToolInputPartial", { arguments: { title: "Too late" } });
    await view.getByText("From the server").waitFor();
  });

  test("keeps nothing of the arguments where the call fails", async () => {
    const { view, send } = await withProgram();
    await send("sendToolInput", { arguments: { title: "Wrong" } });
    await view.getByText("Wrong").waitFor();
    await send("sendToolResult", { isError: true, content: [] });
    await view.getByRole("alert").waitFor();
    expect(await view.getByText("Wrong").count()).toBe(0);
  });
});

describe.skipIf(!hasBrowser || !hasDaemon)("the pages of the bundled widgets", () => {
  test("draw from the arguments what the server draws", { timeout: 240_000 }, async () => {
    const widgets = await bundledWidgets();
    expect(widgets.length).toBe(27);
    for (const { name, page: html, args, result: answer } of widgets) {
      const { page, view, send, recorded } = await openHost(browser, {}, { "/view": () => html });
      await send("sendToolInput", { arguments: args });
      const stage = view.locator("#stage > :not(h1):not(.notices):not(:has(.skeleton))");
      await stage.first().waitFor();
      await send("sendToolResult", answer);
      await view.locator("html[data-ready=true]").waitFor({ state: "attached" });
      expect([name, await recorded("log")]).toEqual([name, []]);
      await page.close();
    }
  });
});
