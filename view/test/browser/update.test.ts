import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleHost, type Hosted, hasBrowser, launch } from "./browser";
import { FORM, fill, result, withForm } from "./form-widget";

let browser: Browser;

beforeAll(async () => {
  if (!hasBrowser) return;
  browser = await launch();
  await bundleHost();
});
afterAll(() => browser?.close());

const CARD = (text: string) => ({ type: "Card", children: [{ type: "Text", value: text }] });

function version(tree: object, number: number, more: object = {}) {
  const shown = result(tree);
  const mark = { ...shown._meta["widgetd/render"], version: number, follow: true, ...more };
  return { ...shown, _meta: { ...shown._meta, "widgetd/render": mark } };
}

/** Answers the call by which the view follows; waits until there is one. */
async function newer(hosted: Hosted, answer: object): Promise<void> {
  await expect.poll(() => hosted.page.evaluate(() => window.host.following.length)).toBe(1);
  await hosted.page.evaluate((given) => window.host.following.pop()?.(given as never), answer);
}

/** The places of the widget's own parts; a notice below them takes its room when there is one. */
const boxes = (hosted: Hosted) =>
  hosted.view.evaluate(() =>
    [...document.querySelectorAll("#stage [data-component], #stage button, #stage input")].map(
      (one) => {
        const { left, top, width, height } = one.getBoundingClientRect();
        return [left, top, width, height];
      },
    ),
  );

describe.skipIf(!hasBrowser)("what is shown", () => {
  test("is redrawn when there is a newer version, and never by an older one", async () => {
    const hosted = await withForm(browser);
    await hosted.send("sendToolResult", version(FORM, 1));
    await fill(hosted);
    const next = structuredClone(FORM);
    next.children[0]?.children.unshift({ type: "Text", value: "Almost there" } as never);
    await newer(hosted, version(next, 3, { state: "done", note: "One seat is left." }));
    await hosted.view.getByText("Almost there").waitFor();
    await hosted.view.getByRole("status").getByText("One seat is left.").waitFor();
    expect(await hosted.view.getByLabel("Your name").inputValue()).toBe("Ada");

    await hosted.send("sendToolResult", version(CARD("Long ago"), 2));
    await newer(hosted, version(CARD("Done"), 4));
    await hosted.view.getByText("Done").waitFor();
    expect(await hosted.view.getByText("Long ago").count()).toBe(0);
    await expect.poll(() => hosted.recorded("follow")).toHaveLength(3);
    const asked = (await hosted.recorded("follow")) as { arguments: { after: number } }[];
    expect(asked.map((call) => call.arguments.after)).toEqual([1, 3, 4]);
  });

  test("is followed only where the server says so, and until it is gone", async () => {
    const hosted = await withForm(browser);
    await hosted.page.evaluate(() => window.host.bridge?.request({ method: "ping" }));
    expect(await hosted.recorded("follow")).toEqual([]);
    await hosted.send("sendToolResult", version(FORM, 1));
    await newer(hosted, { content: [], structuredContent: { status: "expired" } });
    await hosted.page.evaluate(() => window.host.bridge?.request({ method: "ping" }));
    await hosted.send("sendToolResult", version(CARD("Still here"), 1));
    await hosted.view.getByText("Still here").waitFor();
    expect(await hosted.recorded("follow")).toHaveLength(1);
  });

  test("moves no part of the widget when an action is under way, was sent, and failed", async () => {
    const hosted = await withForm(browser);
    await hosted.send("sendToolResult", version(FORM, 1));
    await fill(hosted);
    await hosted.view.getByRole("button", { name: "Send" }).focus();
    const before = await boxes(hosted);
    await hosted.page.evaluate(() => window.host.hold());
    await hosted.view.getByRole("button", { name: "Send" }).click();
    await hosted.view.getByText("Sending “Send”…").waitFor();
    const busy = await boxes(hosted);
    await hosted.page.evaluate(() => window.host.open());
    await hosted.view.getByText("“Send” was sent.").waitFor();
    const sent = await boxes(hosted);
    await newer(hosted, version(FORM, 2, { state: "failed", note: "No seat is left." }));
    await hosted.view.getByRole("alert").getByText("No seat is left.").waitFor();
    expect([busy, sent, await boxes(hosted)]).toEqual([before, before, before]);
  });

  test("says that a form was sent in the frame after the answer, before the host does anything", async () => {
    const hosted = await withForm(browser);
    await fill(hosted);
    await hosted.page.evaluate(() => {
      window.host.hold();
      const { bridge } = window.host;
      if (bridge) bridge.onmessage = () => new Promise(() => undefined);
    });
    await hosted.view.getByRole("button", { name: "Send" }).click();
    await hosted.view.getByText("Sending “Send”…").waitFor();
    const frames = hosted.view.evaluate(
      () =>
        new Promise((done) => {
          let left = Number.POSITIVE_INFINITY;
          addEventListener("message", () => {
            left = 1;
          });
          requestAnimationFrame(function look() {
            const said = document.querySelector(".notice.sent") !== null;
            if (said || left-- <= 0) done(said);
            else requestAnimationFrame(look);
          });
        }),
    );
    await hosted.page.evaluate(() => window.host.open());
    expect(await frames).toBe(true);
  });

  test("that failed can be tried again, as another action", async () => {
    const hosted = await withForm(browser);
    await hosted.send("sendToolResult", version(FORM, 1));
    await fill(hosted);
    const button = hosted.view.getByRole("button", { name: "Send" });
    await button.click();
    await hosted.view.getByText("“Send” was sent.").waitFor();
    await newer(hosted, version(FORM, 2, { state: "failed", note: "Try a later hour." }));
    await hosted.view.getByText("Try a later hour.").waitFor();
    await button.click();
    await expect.poll(() => hosted.recorded("tool")).toHaveLength(2);
    const calls = (await hosted.recorded("tool")) as { arguments: { idempotency_key: string } }[];
    expect(new Set(calls.map((call) => call.arguments.idempotency_key)).size).toBe(2);
  });
});
