/**
 * The MCP Apps host that embeds the view: handshake, requests, notifications.
 *
 * Source: MCP Apps (SEP-1865), specification 2026-01-26.
 */

import { asObject, isObject, type JsonObject } from "../tree/node";
import { type HostContext, readContext } from "./context";
import { findPrefix } from "./prefix";
import { type Rendered, readRender, readResult } from "./result";
import type { Rpc } from "./rpc";

const PROTOCOL_VERSION = "2026-01-26";
const APP_INFO = { name: "widgetd-view", version: "1.0.0" };
const DISPLAY_MODES = ["inline", "fullscreen", "pip"];

/** Abilities of hosts that views use. */
export type Ability =
  | "serverTools"
  | "serverResources"
  | "message"
  | "updateModelContext"
  | "openLinks"
  | "logging";

export interface HostEvents {
  /** The arguments have come, whole or in part; the result has not. */
  inputArrived(args: JsonObject, isWhole: boolean): void;
  resultArrived(result: Rendered): void;
  cancelled(reason: string): void;
  contextChanged(context: HostContext): void;
  /** The host takes the view away. */
  tornDown(): void;
}

export class Host {
  readonly #rpc: Rpc;
  #abilities: JsonObject = {};
  #context: JsonObject = {};
  /** The server's name of the widget whose result came last. */
  #widget: string | undefined;

  constructor(rpc: Rpc) {
    this.#rpc = rpc;
  }

  /** Shakes hands, and from then on tells `events` what the host says. */
  async connect(events: HostEvents): Promise<void> {
    this.#listen(events);
    this.#rpc.open();
    const answer = await this.#rpc.request("ui/initialize", {
      appInfo: APP_INFO,
      appCapabilities: { availableDisplayModes: DISPLAY_MODES },
      protocolVersion: PROTOCOL_VERSION,
    });
    this.#abilities = asObject(answer.hostCapabilities);
    this.#context = asObject(answer.hostContext);
    events.contextChanged(readContext(this.#context));
    this.#rpc.notify("ui/notifications/initialized");
  }

  can(ability: Ability): boolean {
    return isObject(this.#abilities[ability]);
  }

  /** Calls a tool of the server that the widget came from, by the server's own name for it. */
  async callTool(name: string, args: JsonObject): Promise<Rendered> {
    const prefix = findPrefix(readContext(this.#context).tool, this.#widget);
    return this.#call(prefix + name, args);
  }

  /** Calls the tool whose result is shown, which only reads, by the host's name for it. */
  async callAgain(args: JsonObject): Promise<Rendered> {
    const { tool } = readContext(this.#context);
    if (!tool) throw new Failure("the host does not name the tool");
    return this.#call(tool, args);
  }

  async #call(name: string, args: JsonObject): Promise<Rendered> {
    const called = { name, arguments: args };
    return this.#take(readResult(await this.#rpc.request("tools/call", called)));
  }

  /** Reads a stored render, which no host strips. */
  async readRender(renderId: string): Promise<Rendered> {
    const uri = `widgetd://renders/${renderId}`;
    return this.#take(readRender(await this.#rpc.request("resources/read", { uri })));
  }

  /** Says something to the model as the user, which starts a turn. */
  async say(text: string): Promise<void> {
    requireAccepted(
      await this.#rpc.request("ui/message", { role: "user", content: [makeTextBlock(text)] }),
    );
  }

  /** Lets the model know the state of the view at its next turn; replaces what it knew. */
  async updateModel(text: string, state: JsonObject): Promise<void> {
    await this.#rpc.request("ui/update-model-context", {
      content: [makeTextBlock(text)],
      structuredContent: state,
    });
  }

  async openLink(url: string): Promise<void> {
    requireAccepted(await this.#rpc.request("ui/open-link", { url }));
  }

  reportSize(width: number, height: number): void {
    this.#rpc.notify("ui/notifications/size-changed", { width, height });
  }

  log(level: "info" | "warning", data: JsonObject): void {
    if (this.can("logging"))
      this.#rpc.notify("notifications/message", { level, logger: "widgetd-view", data });
  }

  #take(rendered: Rendered): Rendered {
    this.#widget = rendered.widget ?? this.#widget;
    return rendered;
  }

  #listen(events: HostEvents): void {
    const on = (name: string, listener: (params: JsonObject) => void) =>
      this.#rpc.on(`ui/notifications/${name}`, listener);
    const input = (isWhole: boolean) => (params: JsonObject) =>
      events.inputArrived(asObject(params.arguments), isWhole);
    on("tool-input-partial", input(false));
    on("tool-input", input(true));
    on("tool-result", (params) => events.resultArrived(this.#take(readResult(params))));
    on("tool-cancelled", ({ reason }) =>
      events.cancelled(typeof reason === "string" ? reason : ""),
    );
    on("host-context-changed", (changed) => {
      this.#context = { ...this.#context, ...changed };
      events.contextChanged(readContext(this.#context));
    });
    this.#rpc.answer("ping", () => ({}));
    this.#rpc.answer("ui/resource-teardown", () => {
      events.tornDown();
      // The answer must leave before the ears are closed.
      setTimeout(() => this.#rpc.close());
    });
  }
}

/** Something that could not be done, with a reason that people may read. */
export class Failure extends Error {
  override readonly name = "Failure";
}

const makeTextBlock = (text: string) => ({ type: "text", text });

function requireAccepted(result: JsonObject): void {
  if (result.isError === true) throw new Failure("the host declined");
}
