import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundled, hasBrowser, launch, openServerHost } from "./browser";
import { type Daemon, hasDaemon, serve } from "./daemon";
import { HOSTS } from "./quirks";

let browser: Browser;
let daemon: Daemon;
let host: string;

beforeAll(async () => {
  if (!hasBrowser || !hasDaemon) return;
  [browser, daemon, host] = await Promise.all([launch(), serve(), bundled("server-host.ts")]);
});
afterAll(async () => {
  await browser?.close();
  await daemon?.stop();
});

const hostPage = () => openServerHost(browser, daemon, host);

async function agent(): Promise<Client> {
  const client = new Client({ name: "agent", version: "1" });
  await client.connect(new StreamableHTTPClientTransport(new URL(daemon.url)));
  return client;
}

describe.skipIf(!hasBrowser || !hasDaemon)("a host with a real server behind it", () => {
  test("what a user fills in reaches the agent that waits for it", async () => {
    const { page, errors } = await hostPage();
    const renderId = await page.evaluate(
      ([url, host]) => window.serverHost.show(url, "create_task", host),
      [daemon.url, HOSTS.good] as const,
    );
    const client = await agent();
    const waiting = client.callTool({
      name: "await_widget_action",
      arguments: { render_id: renderId },
    });
    const view = page.frameLocator("iframe");
    await view.getByPlaceholder("What needs doing?").fill("Order glass");
    await view.getByRole("button", { name: "Add task" }).click();

    const { structuredContent } = await waiting;
    expect(structuredContent).toMatchObject({
      status: "actions",
      actions: [{ action: "task.create", payload: { task: { title: "Order glass" } } }],
    });
    await expect.poll(() => page.evaluate(() => window.serverHost.messages.length)).toBe(1);
    expect(errors).toEqual([]);
    await client.close();
    await page.close();
  });

  test("what an agent makes of it is drawn in place, with a word on what came of it", async () => {
    const { page, errors } = await hostPage();
    const renderId = await page.evaluate(
      ([url, host]) => window.serverHost.show(url, "create_task", host),
      [daemon.url, HOSTS.good] as const,
    );
    const view = page.frameLocator("iframe");
    await view.getByPlaceholder("What needs doing?").fill("Order glass");
    await view.getByRole("button", { name: "Add task" }).click();
    await view.getByRole("status").getByText("“Add task” was sent.").waitFor();

    const client = await agent();
    const note = "Glass is on its way.";
    await client.callTool({ name: "update_render", arguments: { render_id: renderId, note } });
    await view.getByRole("status").getByText(note).waitFor();
    const why = "There is no glass left.";
    const failed = { render_id: renderId, note: why, failed: true, after: 2 };
    await client.callTool({ name: "update_render", arguments: failed });
    await view.getByRole("alert").getByText(why).waitFor();
    const given = { project: "Glasshouse", title: "Order glass" };
    await client.callTool({
      name: "update_render",
      arguments: { render_id: renderId, arguments: given },
    });
    await view.getByText("New task in Glasshouse").waitFor();
    expect(await view.getByRole("alert").count()).toBe(0);
    expect(errors).toEqual([]);
    await client.close();
    await page.close();
  });
});
