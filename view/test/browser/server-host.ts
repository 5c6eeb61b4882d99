/** A host with a server behind it, built on the official SDK, with the quirks of one profile. */

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import {
  AppBridge,
  getToolUiResourceUri,
  PostMessageTransport,
} from "@modelcontextprotocol/ext-apps/app-bridge";
import type { Quirks } from "./quirks";

const EXTENSIONS = {
  "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] },
};

type Message = Parameters<PostMessageTransport["send"]>[0];
type Json = Record<string, unknown>;

/** Stands between the bridge and the frame, and does to messages what the host does. */
class QuirkyTransport extends PostMessageTransport {
  readonly #quirks: Quirks;
  readonly #listed: ReadonlySet<string>;
  readonly #calls = new Set<unknown>();
  readonly #record: (call: string) => void;
  beforeHandshake: (() => Promise<void>) | undefined;

  constructor(
    frame: Window,
    quirks: Quirks,
    listed: ReadonlySet<string>,
    record: (call: string) => void,
  ) {
    super(frame, frame);
    this.#quirks = quirks;
    this.#listed = listed;
    this.#record = record;
  }

  override async start(): Promise<void> {
    const hear = this.onmessage;
    this.onmessage = (message, extra) => {
      const refusal = this.#refusal(message as Json);
      if (refusal) void super.send(refusal as Message);
      else if ((message as Json).method === "ui/initialize" && this.beforeHandshake)
        void this.beforeHandshake().then(() => hear?.(message, extra));
      else hear?.(message, extra);
    };
    await super.start();
  }

  override send(message: Message): Promise<void> {
    const { method, id, result, params } = message as Json;
    if (method === "ui/notifications/tool-result")
      return super.send({ ...message, params: this.#delivered(params as Json) } as Message);
    const isAnswer = this.#calls.delete(id) && result !== undefined;
    if (isAnswer && this.#quirks.stripsAnswers)
      return super.send({ ...message, result: this.#stripped(result as Json) } as Message);
    return super.send(message);
  }

  #refusal({ id, method, params }: Json): Json | undefined {
    if (method !== "tools/call") return undefined;
    const { name } = params as { name: string };
    this.#record(name);
    this.#calls.add(id);
    const { refuses, refusesUnlisted } = this.#quirks;
    if (!refuses.includes(name) && !(refusesUnlisted && !this.#listed.has(name))) return undefined;
    const error = { code: -32602, message: `Tool ${name} not found` };
    return { jsonrpc: "2.0", id, error };
  }

  #delivered(result: Json): Json {
    const stripped = this.#stripped(result);
    return this.#quirks.wraps ? { result: stripped } : stripped;
  }

  #stripped(result: Json): Json {
    const { strips } = this.#quirks;
    return Object.fromEntries(
      Object.entries(result).filter(([name]) => !(strips as readonly string[]).includes(name)),
    );
  }
}

type ToolResult = Awaited<ReturnType<Client["callTool"]>>;

class ServerHost {
  /** What the user said to the model from within the view. */
  readonly messages: unknown[] = [];
  /** The tools that views called. */
  readonly calls: string[] = [];
  #client = new Client({ name: "unconnected", version: "1" });
  #bridge: AppBridge | undefined;
  #frame: HTMLIFrameElement | undefined;
  #quirks: Quirks | undefined;
  #tool = "";
  #arguments: Json = {};
  #result: ToolResult | undefined;

  /** Shows a result of `tool`, for its own example unless arguments are given. */
  async show(url: string, tool: string, quirks: Quirks, given?: Json): Promise<string | undefined> {
    this.#quirks = quirks;
    this.#tool = tool;
    this.#client = new Client(
      { name: quirks.client, version: "1" },
      { capabilities: quirks.declaresApps ? { extensions: EXTENSIONS } : {} },
    );
    await this.#client.connect(new StreamableHTTPClientTransport(new URL(url)));
    this.#arguments = given ?? (await this.#example());
    this.#result = await this.#client.callTool({ name: tool, arguments: this.#arguments });
    await this.#mount(this.#result);
    const mark = this.#result._meta?.["widgetd/render"] as { readonly id: string } | undefined;
    return mark?.id;
  }

  /** Removes the view and mounts it again, as a host does that scrolls or reopens. */
  async remount(): Promise<void> {
    await this.#bridge?.close();
    this.#frame?.remove();
    const empty: ToolResult = { content: [] };
    await this.#mount(this.#quirks?.emptiesReplays ? empty : (this.#result ?? empty));
  }

  async #mount(result: ToolResult): Promise<void> {
    const quirks = this.#quirks as Quirks;
    const { tools } = await this.#client.listTools();
    const tool = tools.find(({ name }) => name === this.#tool);
    const { contents } = await this.#client.readResource({
      uri: getToolUiResourceUri(tool ?? {}) ?? "",
    });
    const [page] = contents;
    const bridge = new AppBridge(
      this.#client,
      { name: quirks.client, version: "1" },
      quirks.capabilities,
      { hostContext: { theme: "light", locale: "en-US", ...(tool && { toolInfo: { tool } }) } },
    );
    bridge.onmessage = async (params) => {
      this.messages.push(structuredClone(params));
      return {};
    };
    const ready = new Promise<void>((resolve) => {
      bridge.oninitialized = () => resolve();
    });
    const frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-scripts");
    frame.style.cssText = "width:400px;height:600px;border:0";
    document.body.append(frame);
    const inner = frame.contentWindow as Window;
    const listed = new Set(tools.map(({ name }) => name));
    const record = (call: string) => this.calls.push(call);
    const transport = new QuirkyTransport(inner, quirks, listed, record);
    await bridge.connect(transport);
    this.#bridge = bridge;
    this.#frame = frame;
    const send = async (): Promise<void> => {
      await bridge.sendToolInput({ arguments: this.#arguments });
      await bridge.sendToolResult(result);
    };
    transport.beforeHandshake = quirks.sendsEarly ? send : undefined;
    frame.srcdoc = page && "text" in page ? page.text : "";
    await ready;
    if (!quirks.sendsEarly) await send();
  }

  async #example(): Promise<Json> {
    const { structuredContent } = await this.#client.callTool({
      name: "get_widget_details",
      arguments: { names: [this.#tool] },
    });
    const [{ example }] = (structuredContent as { items: readonly [{ example: Json }] }).items;
    return example;
  }
}

declare global {
  interface Window {
    serverHost: ServerHost;
  }
}

window.serverHost = new ServerHost();
