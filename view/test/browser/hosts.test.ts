/** Each host of the table, emulated in front of a real server: what its users see and send. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
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

/** What an agent is told that waits for the user. */
async function actionsIn(renderId: string): Promise<string[]> {
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(daemon.url)));
  const { structuredContent } = await client.callTool({
    name: "await_widget_action",
    arguments: { render_id: renderId, timeout_s: 0 },
  });
  await client.close();
  const { actions } = structuredContent as { actions: { action: string }[] };
  return actions.map(({ action }) => action);
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

  test.each([
    "good",
    "claude-desktop",
    "claude-desktop, answers too",
    "claude-ai",
    "vscode",
    "wrapping",
    "early",
    "google-adk",
  ] as const)("%s submits a form once, although it mounts the view again", async (name) => {
    const { page, view, errors, recorded, renderId } = await show(HOSTS[name]);
    const sent = view.getByRole("status").getByText("“Add task” was sent.");
    await view.getByRole("button", { name: "Add task" }).click();
    await sent.waitFor();
    await page.evaluate(() => window.serverHost.remount());
    // Said again before anything is pressed.
    await sent.waitFor();
    await view.getByRole("button", { name: "Add task" }).click();
    const pressed = async () =>
      (await recorded()).calls.filter((call) => call === "widget_action").length;
    await expect.poll(pressed).toBe(2);
    await sent.waitFor();

    expect(await actionsIn(renderId ?? "")).toEqual(["task.create"]);
    expect((await recorded()).messages).toHaveLength(1);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("chatgpt, which has lost the result, draws it again and leaves its actions to the model", async () => {
    const { page, view, errors, recorded } = await show(HOSTS.chatgpt);
    await page.evaluate(() => window.serverHost.remount());
    const button = view.getByRole("button", { name: "Add task" });
    await expect.poll(() => button.isEnabled()).toBe(true);
    await button.click();
    await view.getByRole("status").getByText("“Add task” was sent.").waitFor();
    const { calls, messages } = await recorded();
    expect(calls).not.toContain("widget_action");
    expect(messages).toHaveLength(1);
    expect(errors).toEqual([]);
    await page.close();
  });

  test("gateway, which refuses the tool for actions, gets a message instead", async () => {
    const { page, view, errors, recorded } = await show(HOSTS.gateway);
    await view.getByRole("button", { name: "Add task" }).click();
    await view.getByRole("status").getByText("“Add task” was sent.").waitFor();
    const { calls, messages } = await recorded();
    expect(calls).toContain("widget_action");
    expect(JSON.stringify(messages)).toContain("Action: task.create");
    expect(errors).toEqual([]);
    await page.close();
  });

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
