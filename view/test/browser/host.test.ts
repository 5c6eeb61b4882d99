import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALL_ABILITIES, bundleHost, type Hosted, hasBrowser, launch, openHost } from "./browser";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

const SEND = { type: "form.send", payload: { id: 7 } };
const FORM = {
  type: "Card",
  children: [
    {
      type: "Form",
      onSubmitAction: SEND,
      children: [
        { type: "Label", value: "Your name", fieldName: "person.name" },
        { type: "Input", name: "person.name", required: true },
        { type: "Input", name: "secret", inputType: "password" },
        { type: "Input", name: "age", inputType: "number" },
        { type: "Textarea", name: "notes", pattern: "[a-z\\s]*" },
        { type: "Checkbox", name: "agree", label: "I agree" },
        {
          type: "RadioGroup",
          name: "size",
          options: [
            { label: "S", value: "s" },
            { label: "M", value: "m" },
          ],
          onChangeAction: { type: "size.set" },
        },
        {
          type: "Select",
          name: "color",
          options: [
            { label: "Red", value: "red" },
            { label: "Blue", value: "blue" },
          ],
          placeholder: "Colour",
        },
        { type: "Button", label: "Send", submit: true },
        { type: "Button", label: "Skip", onClickAction: { type: "form.skip" } },
      ],
    },
  ],
};

const result = (widget: unknown, id = "r1") => ({
  content: [{ type: "text", text: "A form." }],
  structuredContent: { uiType: "form", widget: "form" },
  _meta: { "widgetd/widget": widget, "widgetd/render": { id } },
});

async function withForm(
  mount: Parameters<typeof openHost>[1] = {},
  widget: unknown = FORM,
): Promise<Hosted> {
  const hosted = await openHost(browser, mount);
  await hosted.send("sendToolResult", result(widget));
  await hosted.view.locator("html[data-ready=true]").waitFor({ state: "attached" });
  return hosted;
}

const fill = async ({ view }: Hosted) => {
  await view.getByLabel("Your name").fill("Ada");
  await view.getByLabel("Secret").fill("hunter2");
  await view.getByLabel("Age").fill("36");
  await view.getByLabel("I agree").check();
};

describe.skipIf(!hasBrowser)("in a host", () => {
  test("a skeleton stands while the arguments come, then the widget", async () => {
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

  test("a result without a widget says what it has to say", async () => {
    const { view, send } = await openHost(browser);
    await send("sendToolResult", {
      isError: true,
      content: [{ type: "text", text: "W2002 number: is missing" }],
    });
    await view.getByRole("alert").getByText("W2002 number: is missing").waitFor();
  });

  test("a call that is cancelled says why", async () => {
    const { view, send } = await openHost(browser);
    await send("sendToolInput", { arguments: {} });
    await send("sendToolCancelled", { reason: "the user stopped it" });
    await view.getByText("Cancelled: the user stopped it").waitFor();
    expect(await view.getByRole("status", { name: "Loading" }).count()).toBe(0);
  });

  test("the view answers a ping, and a teardown leaves nothing behind", async () => {
    const { view, send, page } = await withForm();
    await page.evaluate(() => window.host.bridge?.request({ method: "ping" }));
    expect(await send("teardownResource", {})).toEqual({});
    await expect.poll(() => view.locator("#stage > *").count()).toBe(0);
  });

  test("the theme, the place and the language follow the host", async () => {
    const { view, send } = await withForm();
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
        return { paddingTop, fontFamily, colorScheme };
      });
    expect(await style()).toEqual({
      paddingTop: "11px",
      fontFamily: "Courier",
      colorScheme: "dark",
    });
    await send("sendHostContextChange", { theme: "light" });
    await view.locator("html[data-theme=light][lang=de]").waitFor();
  });

  test("the host hears how large the view is, and hears it again when that changes", async () => {
    const { send, recorded } = await withForm();
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

describe.skipIf(!hasBrowser).each([
  ["without allow-forms", "allow-scripts"],
  ["with allow-forms", "allow-scripts allow-forms"],
])("a form %s", (_name, sandbox) => {
  test("a press calls the server with the fields around it", async () => {
    const hosted = await withForm({ sandbox });
    await fill(hosted);
    await hosted.view.getByRole("button", { name: "Skip" }).click();
    await expect.poll(() => hosted.recorded("message")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toEqual([
      {
        name: "widget_action",
        arguments: {
          render_id: "r1",
          action: "form.skip",
          payload: {
            person: { name: "Ada" },
            secret: "hunter2",
            age: 36,
            notes: "",
            agree: true,
            color: "",
          },
          idempotency_key: expect.stringMatching(/^[\da-f]{32}$/),
        },
      },
    ]);
    expect(JSON.stringify(await hosted.recorded("message"))).not.toContain("hunter2");
    expect(hosted.errors).toEqual([]);
  });

  test("a form that is not complete is not sent, and says why", async () => {
    const hosted = await withForm({ sandbox });
    await hosted.view.getByRole("button", { name: "Send" }).click();
    const name = hosted.view.getByLabel("Your name");
    await hosted.view.getByRole("alert").getByText("Please fill out this field.").waitFor();
    expect(await name.getAttribute("aria-invalid")).toBe("true");
    expect(await name.evaluate((field) => field === document.activeElement)).toBe(true);
    await name.fill("Ada");
    expect(await hosted.view.getByRole("alert").count()).toBe(0);
    await hosted.view.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toMatchObject([
      { arguments: { action: "form.send", payload: { id: 7 } } },
    ]);
  });

  test("Enter in a line sends the form once, Enter in a text breaks it", async () => {
    const hosted = await withForm({ sandbox });
    await fill(hosted);
    await hosted.view.getByLabel("Notes").press("Enter");
    await hosted.view.getByLabel("Your name").press("Enter");
    await expect.poll(() => hosted.recorded("message")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toMatchObject([
      { arguments: { payload: { notes: "\n" } } },
    ]);
  });
});

describe.skipIf(!hasBrowser)("an action", () => {
  test("a changed field carries its value", async () => {
    const hosted = await withForm();
    await hosted.view.getByLabel("M", { exact: true }).check();
    await expect.poll(() => hosted.recorded("context")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toMatchObject([
      { arguments: { action: "size.set", payload: { size: "m" } } },
    ]);
    expect(await hosted.recorded("message")).toEqual([]);
  });

  test("that is under way shows so, and is not sent twice", async () => {
    const hosted = await withForm();
    await hosted.page.evaluate(() => window.host.hold());
    const button = hosted.view.getByRole("button", { name: "Skip" });
    await button.click();
    await hosted.view.locator("button[aria-busy=true]").waitFor();
    await button.click({ force: true });
    await hosted.page.evaluate(() => window.host.open());
    await expect.poll(() => hosted.view.locator("button[aria-busy=true]").count()).toBe(0);
    expect(await hosted.recorded("tool")).toHaveLength(1);
  });

  test("that returns a tree redraws it in place, keeping focus and what was typed", async () => {
    const hosted = await withForm();
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
    const hosted = await withForm();
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
    const hosted = await withForm({}, card);
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
    const hosted = await withForm({}, list);
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
    const hosted = await withForm({ capabilities: {} });
    await hosted.view.getByText("This host cannot take the actions of this widget").waitFor();
    expect(await hosted.view.getByRole("button", { name: "Send" }).isDisabled()).toBe(true);
  });

  test("a link in Markdown is opened by the host", async () => {
    const hosted = await withForm(
      {},
      { type: "Card", children: [{ type: "Markdown", value: "[site](https://example.org/a)" }] },
    );
    await hosted.view.getByRole("link", { name: "site" }).click();
    await expect.poll(() => hosted.recorded("link")).toEqual([{ url: "https://example.org/a" }]);
  });

  test("that the host refuses is said to have failed", async () => {
    const { serverTools: _none, ...rest } = ALL_ABILITIES;
    const hosted = await withForm({ capabilities: rest });
    await hosted.page.evaluate(() => {
      (window.host.bridge as { onmessage: unknown }).onmessage = async () => ({ isError: true });
    });
    await hosted.view.getByRole("button", { name: "Skip" }).click();
    await hosted.view.getByText("“Skip” did not go through: the host declined").waitFor();
  });
});
