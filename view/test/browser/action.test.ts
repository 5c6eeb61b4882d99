import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALL_ABILITIES, bundleHost, hasBrowser, launch } from "./browser";
import { FORM, fill, result, withForm } from "./form-widget";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

describe.skipIf(!hasBrowser)("an action", () => {
  test("a changed field carries its value", async () => {
    const hosted = await withForm(browser);
    await hosted.view.getByLabel("M", { exact: true }).check();
    await expect.poll(() => hosted.recorded("context")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toMatchObject([
      { arguments: { action: "size.set", payload: { size: "m" } } },
    ]);
    expect(await hosted.recorded("message")).toEqual([]);
  });

  test("that is under way shows so, and is not sent twice", async () => {
    const hosted = await withForm(browser);
    await hosted.page.evaluate(() => window.host.hold());
    const button = hosted.view.getByRole("button", { name: "Skip" });
    await button.click();
    await hosted.view.locator("button[aria-busy=true]").waitFor();
    await button.click({ force: true });
    await hosted.page.evaluate(() => window.host.open());
    await expect.poll(() => hosted.view.locator("button[aria-busy=true]").count()).toBe(0);
    expect(await hosted.recorded("tool")).toHaveLength(1);
  });

  test("that was sent says so, and three presses are one action", async () => {
    const hosted = await withForm(browser);
    await fill(hosted);
    await hosted.page.evaluate(() => window.host.hold());
    const button = hosted.view.getByRole("button", { name: "Send" });
    await button.click();
    await hosted.view.getByRole("status").getByText("Sending “Send”…").waitFor();
    await hosted.page.evaluate(() => window.host.open());
    await hosted.view.getByRole("status").getByText("“Send” was sent.").waitFor();
    for (const press of [2, 3]) {
      await button.click();
      await expect.poll(() => hosted.recorded("tool")).toHaveLength(press);
    }
    const calls = (await hosted.recorded("tool")) as { arguments: { idempotency_key: string } }[];
    expect(new Set(calls.map((call) => call.arguments.idempotency_key)).size).toBe(1);
    expect(await hosted.recorded("message")).toHaveLength(1);
  });

  test("behind a prefix is called by the name that the host knows", async () => {
    const tool = { name: "ui_form", inputSchema: { type: "object" } };
    const hosted = await withForm(browser, { context: { toolInfo: { tool } } });
    await hosted.view.getByRole("button", { name: "Skip" }).click();
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toMatchObject([{ name: "ui_widget_action" }]);
  });

  test("that returns a tree redraws it in place, keeping focus and what was typed", async () => {
    const hosted = await withForm(browser);
    await fill(hosted);
    const next = structuredClone(FORM);
    next.children[0]?.children.unshift({ type: "Text", value: "Almost there" } as never);
    await hosted.page.evaluate(
      (answer) => {
        window.host.answer = answer as never;
      },
      result(next, "r2"),
    );
    const name = hosted.view.getByLabel("Your name");
    await name.focus();
    await name.evaluate((field) => field.setAttribute("data-same", "yes"));
    await name.press("Enter");
    await hosted.view.getByText("Almost there").waitFor();
    expect(await name.inputValue()).toBe("Ada");
    expect(await name.getAttribute("data-same")).toBe("yes");
    expect(await name.evaluate((field) => field === document.activeElement)).toBe(true);
    await hosted.view.getByRole("button", { name: "Skip" }).click();
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(2);
    expect(await hosted.recorded("tool")).toMatchObject([{}, { arguments: { render_id: "r2" } }]);
  });

  test("that the server finds wrong says so at the field", async () => {
    const hosted = await withForm(browser);
    await fill(hosted);
    await hosted.page.evaluate(() => {
      window.host.answer = {
        isError: true,
        content: [],
        structuredContent: { validationErrors: { "person.name": "is taken" } },
      };
    });
    await hosted.view.getByRole("button", { name: "Send" }).click();
    await hosted.view.getByRole("alert").getByText("is taken").waitFor();
    expect(await hosted.recorded("message")).toEqual([]);
  });

  test("of a card's confirm makes the card wait", async () => {
    const card = {
      type: "Card",
      asForm: true,
      confirm: { label: "Book", action: { type: "book" } },
      cancel: { label: "Never mind", action: { type: "drop" } },
      children: [{ type: "Input", name: "city", required: true }],
    };
    const hosted = await withForm(browser, {}, card);
    await hosted.view.getByRole("button", { name: "Book" }).click();
    await hosted.view.getByRole("alert").waitFor();
    await hosted.view.getByLabel("City").fill("Oslo");
    await hosted.page.evaluate(() => window.host.hold());
    await hosted.view.getByRole("button", { name: "Book" }).click();
    await hosted.view.locator(".card[aria-busy=true]").waitFor();
    await hosted.page.evaluate(() => window.host.open());
    await expect.poll(() => hosted.view.locator("[aria-busy=true]").count()).toBe(0);
    await hosted.view.getByLabel("City").fill("");
    await hosted.view.getByRole("button", { name: "Never mind" }).click();
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(2);
    expect(await hosted.recorded("tool")).toMatchObject([
      { arguments: { action: "book", payload: { city: "Oslo" } } },
      { arguments: { action: "drop", payload: { city: "" } } },
    ]);
  });

  test("of a list's item answers to the whole row, not to the button in it", async () => {
    const list = {
      type: "ListView",
      children: [
        {
          type: "ListViewItem",
          onClickAction: { type: "pick", payload: { n: 1 } },
          children: [
            { type: "Text", value: "First" },
            { type: "Button", label: "Details", onClickAction: { type: "details" } },
          ],
        },
      ],
    };
    const hosted = await withForm(browser, {}, list);
    await hosted.view.getByText("First").click({ force: true });
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(1);
    await hosted.view.getByRole("button", { name: "Details", exact: true }).click();
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(2);
    expect(await hosted.recorded("tool")).toMatchObject([
      { arguments: { action: "pick" } },
      { arguments: { action: "details" } },
    ]);
  });

  test("a host that can do nothing leaves the controls off, and says so", async () => {
    const hosted = await withForm(browser, { capabilities: {} });
    await hosted.view.getByText("This host cannot take the actions of this widget").waitFor();
    expect(await hosted.view.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  });

  test("a link in Markdown is opened by the host", async () => {
    const hosted = await withForm(
      browser,
      {},
      { type: "Card", children: [{ type: "Markdown", value: "[site](https://example.org/a)" }] },
    );
    await hosted.view.getByRole("link", { name: "site" }).click();
    await expect.poll(() => hosted.recorded("link")).toEqual([{ url: "https://example.org/a" }]);
  });

  test("that the host refuses is reported as failed", async () => {
    const { serverTools: _none, ...rest } = ALL_ABILITIES;
    const hosted = await withForm(browser, { capabilities: rest });
    await hosted.page.evaluate(() => {
      (window.host.bridge as { onmessage: unknown }).onmessage = async () => ({ isError: true });
    });
    await hosted.view.getByRole("button", { name: "Skip" }).click();
    await hosted.view.getByText("“Skip” did not go through: the host declined").waitFor();
  });

  test("a link that cannot be opened is shown", async () => {
    const markdown = { type: "Markdown", value: "[site](https://example.org/a)" };
    const hosted = await withForm(
      browser,
      { capabilities: {} },
      { type: "Card", children: [markdown] },
    );
    await hosted.view.getByRole("link", { name: "site" }).click();
    await hosted.view
      .getByText("This host opens no links; the address is https://example.org/a")
      .waitFor();
  });
});
