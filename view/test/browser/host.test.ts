import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleHost, hasBrowser, launch, open, openHost, VIEW } from "./browser";
import { FORM, result, withForm } from "./form-widget";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

describe.skipIf(!hasBrowser)("in a host", () => {
  test("shows a skeleton until the result comes, then the widget", async () => {
    const { view, send, errors } = await openHost(browser);
    await send("sendToolInputPartial", { arguments: { a: 1 } });
    await view.getByRole("status", { name: "Loading" }).waitFor();
    await send("sendToolInput", { arguments: { a: 1 } });
    await send("sendToolResult", result(FORM));
    await view.getByRole("button", { name: "Send" }).waitFor();
    expect(await view.getByRole("status", { name: "Loading" }).count()).toBe(0);
    expect(errors).toEqual([]);
  });

  test.each([
    ["its own root", { content: [], structuredContent: FORM }],
    ["a root under its widget", { content: [], structuredContent: { widget: FORM } }],
  ])("a result whose structured content is %s is drawn", async (_what, given) => {
    const { view, send } = await openHost(browser);
    await send("sendToolResult", given);
    await view.getByRole("button", { name: "Send" }).waitFor();
  });

  test("a call that failed says so in one plain sentence, without the words for models", async () => {
    const { view, send } = await openHost(browser);
    await send("sendToolResult", {
      isError: true,
      content: [{ type: "text", text: "W2002 number: is missing" }],
    });
    await view.getByRole("alert").getByText("This could not be shown.").waitFor();
    expect(await view.locator("body").innerText()).not.toContain("W2002");
    expect(await view.locator("p").allInnerTexts()).toEqual(["This could not be shown."]);
  });

  test("a result without a widget says what it has to say", async () => {
    const { view, send } = await openHost(browser);
    await send("sendToolResult", { content: [{ type: "text", text: "Nothing to draw" }] });
    await view.getByRole("status").getByText("Nothing to draw").waitFor();
  });

  test("a host that refuses the handshake gets a widget with its controls off", async () => {
    const answer = JSON.stringify(result(FORM));
    const refusal = '{ jsonrpc: "2.0", id: data.id, error: { code: -32600, message: "no" } }';
    const { page, errors } = await open(browser, { "/view": () => VIEW });
    const host = `<!doctype html><iframe sandbox="allow-scripts" src="/view"></iframe><script>
      addEventListener("message", ({ data, source }) => {
        if (data.method !== "ui/initialize") return;
        const say = (message) => source.postMessage(message, "*");
        say(${refusal});
        say({ jsonrpc: "2.0", method: "ui/notifications/tool-result", params: ${answer} });
      })</script>`;
    await page.route("**/refusing", (route) =>
      route.fulfill({ body: host, contentType: "text/html" }),
    );
    await page.goto("http://view.test/refusing");
    const view = page.frameLocator("iframe");
    await view.getByText("controls are off").waitFor();
    expect(await view.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
    expect(errors).toEqual([]);
  });

  test("a call that is cancelled says why", async () => {
    const { view, send } = await openHost(browser);
    await send("sendToolInput", { arguments: {} });
    await send("sendToolCancelled", { reason: "the user stopped it" });
    await view.getByText("Cancelled: the user stopped it").waitFor();
    expect(await view.getByRole("status", { name: "Loading" }).count()).toBe(0);
  });

  test("the view answers a ping, and a teardown leaves nothing behind", async () => {
    const { view, send, page } = await withForm(browser);
    await page.evaluate(() => window.host.bridge?.request({ method: "ping" }));
    expect(await send("teardownResource", {})).toEqual({});
    await expect.poll(() => view.locator("#stage > *").count()).toBe(0);
  });

  test("the theme, the place and the language follow the host", async () => {
    const { view, send } = await withForm(browser);
    await send("sendHostContextChange", {
      theme: "dark",
      locale: "de",
      displayMode: "fullscreen",
      safeAreaInsets: { top: 11, right: 0, bottom: 0, left: 0 },
      styles: { variables: { "--font-sans": "Courier" } },
    });
    await view.locator("html[data-theme=dark][data-display-mode=fullscreen][lang=de]").waitFor();
    const style = () =>
      view.evaluate(() => {
        const { paddingTop, fontFamily, colorScheme } = getComputedStyle(document.documentElement);
        return { paddingTop, fontFamily: fontFamily.split(",")[0], colorScheme };
      });
    expect(await style()).toEqual({
      paddingTop: "11px",
      fontFamily: "Courier",
      colorScheme: "dark",
    });
    await send("sendHostContextChange", { theme: "light" });
    await view.locator("html[data-theme=light][lang=de]").waitFor();
  });

  test("the host hears no size before there is something to see", async () => {
    const { page, view, send, recorded } = await openHost(browser);
    // What the view has said by now was heard before its answer to this.
    await page.evaluate(() => window.host.bridge?.request({ method: "ping" }));
    await view.evaluate(() => new Promise((done) => requestAnimationFrame(() => done(null))));
    await page.evaluate(() => window.host.bridge?.request({ method: "ping" }));
    expect(await recorded("size")).toEqual([]);
    await send("sendToolResult", result(FORM));
    await expect.poll(() => recorded("size")).not.toEqual([]);
    expect((await recorded("size"))[0]).toMatchObject({ height: expect.any(Number) });
    expect(((await recorded("size")) as { height: number }[])[0]?.height).toBeGreaterThan(300);
  });

  test("the host hears how large the view is, and hears it again when that changes", async () => {
    const { send, recorded } = await withForm(browser);
    const heights = async () =>
      ((await recorded("size")) as { height: number }[]).map(({ height }) => height);
    await expect.poll(async () => (await heights()).at(-1)).toBeGreaterThan(300);
    await send(
      "sendToolResult",
      result({ type: "Card", children: [{ type: "Text", value: "short" }] }),
    );
    await expect.poll(async () => (await heights()).at(-1)).toBeLessThan(100);
  });
});
