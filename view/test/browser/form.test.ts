import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleHost, hasBrowser, launch } from "./browser";
import { fill, withForm } from "./form-widget";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

describe.skipIf(!hasBrowser).each([
  ["without allow-forms", "allow-scripts"],
  ["with allow-forms", "allow-scripts allow-forms"],
])("a form %s", (_name, sandbox) => {
  test("a press calls the server with the fields around it", async () => {
    const hosted = await withForm(browser, { sandbox });
    await fill(hosted);
    await hosted.view.getByRole("button", { name: "Skip" }).click();
    await expect.poll(() => hosted.recorded("message")).toHaveLength(1);
    expect(await hosted.recorded("tool")).toEqual([
      {
        name: "widget_action",
        arguments: {
          render_id: "r1",
          version: 1,
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
    const hosted = await withForm(browser, { sandbox });
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
    const hosted = await withForm(browser, { sandbox });
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
