/** A real widgetd that serves the bundled widgets on a port of its own. */

import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));
const WIDGETD = process.env.WIDGETD ?? `${ROOT}.venv/bin/widgetd`;
export const hasDaemon = existsSync(WIDGETD);
if (!hasDaemon) process.emitWarning(`no widgetd at ${WIDGETD}: its browser test is left out`);

export interface Daemon {
  /** The address of MCP. */
  readonly url: string;
  stop(): Promise<void>;
}

/** Serves the bundled widgets; `settings` are environment variables. */
export async function serve(settings: Record<string, string> = {}): Promise<Daemon> {
  const child = spawn(WIDGETD, ["serve", `${ROOT}widgets`, "--port", "0"], {
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, ...settings },
  });
  const ended = once(child, "exit");
  for await (const line of createInterface({ input: child.stderr })) {
    const url = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(line)?.[0];
    if (!url) continue;
    // Whatever else it logs must not fill the pipe.
    child.stderr.resume();
    return {
      url,
      stop: async () => {
        child.kill();
        await ended;
      },
    };
  }
  throw new Error("widgetd ended before it served");
}
