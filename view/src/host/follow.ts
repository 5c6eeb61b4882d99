/** Asks the server for newer versions of the shown render: no host announces them. */

import { pause } from "../app/pause";
import type { JsonObject } from "../tree/node";
import type { Host } from "./host";
import type { Rendered } from "./result";

export const FOLLOW_TOOL = "follow_render";
/** Less than hosts and proxies give a call. */
const WAIT_S = 25;
/** The pause before another question to a server that did not wait. */
const PAUSE_MS = 5000;
const MOST_FAILURES = 5;

export class Follower {
  readonly #host: Host;
  readonly #show: (result: Rendered) => void;
  readonly #remind: (action: string) => void;
  #renderId: string | undefined;
  #version = 1;

  /** `remind` hears of the last action that was taken before the view was mounted. */
  constructor(host: Host, show: (result: Rendered) => void, remind: (action: string) => void) {
    this.#host = host;
    this.#show = show;
    this.#remind = remind;
  }

  /** Follows one render from `version` on; `report` says that the page drew another tree. */
  follow(renderId: string, version: number, report: JsonObject): void {
    this.#version = version;
    if (renderId === this.#renderId || !this.#host.can("serverTools")) return;
    this.#renderId = renderId;
    void this.#ask(renderId, report);
  }

  stop(): void {
    this.#renderId = undefined;
  }

  /** Asks until the render is gone, another one is followed, or the host cannot ask. */
  async #ask(renderId: string, report: JsonObject): Promise<void> {
    // The first question is answered at once: what has happened while no view was there?
    let timeout_s = 0;
    for (let failures = 0; failures < MOST_FAILURES; ) {
      await waitUntilVisible();
      if (renderId !== this.#renderId) return;
      const began = performance.now();
      const given = {
        render_id: renderId,
        after: this.#version,
        timeout_s,
        ...(timeout_s === 0 && report),
      };
      const found = await this.#host.callTool(FOLLOW_TOOL, given).catch(() => undefined);
      if (!found || renderId !== this.#renderId || found.status === "expired") return;
      failures = found.isError ? failures + 1 : 0;
      this.#version = Math.max(this.#version, found.version);
      if (found.tree && !found.isError) this.#show(found);
      else if (timeout_s === 0 && !found.isError) {
        if (found.acted) this.#remind(found.acted);
        timeout_s = WAIT_S;
      } else if (performance.now() - began < PAUSE_MS) await pause(PAUSE_MS);
    }
  }
}

async function waitUntilVisible(): Promise<void> {
  while (document.hidden) {
    await new Promise((done) =>
      document.addEventListener("visibilitychange", done, { once: true }),
    );
  }
}
