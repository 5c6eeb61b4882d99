/** A host built on the official SDK: mounts the view in a sandboxed frame and records what it asks. */

import type { CallToolResult } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

export interface Mount {
  readonly src: string;
  readonly sandbox: string;
  readonly capabilities: Record<string, unknown>;
  readonly context: Record<string, unknown>;
}

type Recorded = { readonly kind: string; readonly params: unknown };

class FakeHost {
  readonly recorded: Recorded[] = [];
  answer: CallToolResult = { content: [] };
  /** The answer to the first question of a view that is mounted. */
  standing: CallToolResult = { content: [], structuredContent: { status: "timeout" } };
  /** The arguments of first questions. */
  readonly questions: Record<string, unknown>[] = [];
  /** Waiting requests for a newer version; the test answers each. */
  readonly following: ((result: CallToolResult) => void)[] = [];
  /** Holds every tool call until it is released. */
  gate: Promise<void> = Promise.resolve();
  open = (): void => undefined;
  bridge: AppBridge | undefined;

  /** Resolves when the view has shaken hands. */
  async mount({ src, sandbox, capabilities, context }: Mount): Promise<void> {
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", sandbox);
    frame.style.cssText = "width:400px;height:900px;border:0";
    const bridge = new AppBridge(null, { name: "fake-host", version: "1" }, capabilities, {
      hostContext: context,
    });
    this.bridge = bridge;
    const record = (kind: string) => async (params: unknown) => {
      this.recorded.push({ kind, params: structuredClone(params) });
      return {};
    };
    bridge.oncalltool = async (params) => {
      if (params.name === "follow_render") {
        if (params.arguments?.timeout_s === 0) {
          // The first question is answered at once.
          this.questions.push(params.arguments);
          return this.standing;
        }
        await record("follow")(params);
        return new Promise((resolve) => this.following.push(resolve));
      }
      await record("tool")(params);
      await this.gate;
      return this.answer;
    };
    bridge.onmessage = record("message");
    bridge.onupdatemodelcontext = record("context");
    bridge.onopenlink = record("link");
    bridge.onsizechange = (params) => void record("size")(params);
    bridge.onloggingmessage = (params) => void record("log")(params);
    const ready = new Promise<void>((resolve) => {
      bridge.oninitialized = () => resolve();
    });
    document.body.append(frame);
    const inner = frame.contentWindow as Window;
    await bridge.connect(new PostMessageTransport(inner, inner));
    frame.src = src;
    await ready;
  }

  hold(): void {
    this.gate = new Promise((resolve) => {
      this.open = resolve;
    });
  }
}

declare global {
  interface Window {
    host: FakeHost;
  }
}

window.host = new FakeHost();
