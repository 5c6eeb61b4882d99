/** Each host of the table, emulated in front of a real server: what its users see and send. */

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundled, hasBrowser, launch, openServerHost } from "./browser";
import { type Daemon, hasDaemon, serve } from "./daemon";
import { HOSTS, type Quirks } from "./quirks";

let browser: Browser;
let daemon: Daemon;
let small: Daemon;
let script: string;

beforeAll(async () => {
  if (!hasBrowser || !hasDaemon) return;
  [browser, daemon, small, script] = await Promise.all([
    launch(),
    serve(),
    serve({ WIDGETD_INLINE_MAX_BYTES: "100" }),
    bundled("server-host.ts"),
  ]);
});
afterAll(async () => {
  await browser?.close();
  await Promise.all([daemon?.stop(), small?.stop()]);
});

async function show(quirks: Quirks, server: Daemon = daemon, tool = "create_task") {
  const { page, errors } = await openServerHost(browser, server, script);
  const renderId = await page.evaluate(
    ([url, name, host]) => window.serverHost.show(url, name, host),
    [server.url, tool, quirks] as const,
  );
  const recorded = () =>
    page.evaluate(() => ({
      messages: window.serverHost.messages,
      calls: window.serverHost.calls,
    }));
  return { page, errors, renderId, recorded, view: page.frameLocator("iframe") };
}

const names = Object.keys(HOSTS) as (keyof typeof HOSTS)[];

describe.skipIf(!hasBrowser || !hasDaemon)("in an emulated host", () => {
  test.each(names)(
    "%s draws the form, whose controls work and whose id nobody sees",
    async (name) => {
      const { page, view, errors } = await show(HOSTS[name]);
      await view.getByPlaceholder("What needs doing?").waitFor();
      await expect
        .poll(() => view.getByRole("button", { name: "Add task" }).isEnabled())
        .toBe(true);
      expect(await view.locator("body").innerText()).not.toContain("Render:");
      expect(await view.getByText("This host cannot take the actions").count()).toBe(0);
      expect(errors).toEqual([]);
      await page.close();
    },
  );

  test.each(["good", "claude-desktop", "claude-ai", "google-adk"] as const)(
    "%s draws a tree that is too large for a result",
    async (name) => {
      const { page, view, errors } = await show(HOSTS[name], small);
      await expect
        .poll(() => view.getByRole("button", { name: "Add task" }).isEnabled())
        .toBe(true);
      expect(errors).toEqual([]);
      await page.close();
    },
  );
});
