/**
 * Plays a known host for one view: the official bridge, with a filter in front of `postMessage`.
 *
 * The page around it is a stage of `widgetd test --client NAME`; the server stands behind
 * `stageCall`, and what the user sends goes to `stageSent`.
 */

import { AppBridge, PostMessageTransport } from "@modelcontextprotocol/ext-apps/app-bridge";

type Json = Record<string, unknown>;
type Message = Parameters<PostMessageTransport["send"]>[0];
type Moment = "handshake" | "partial" | "input" | "result";

/** A host as data: the keys of a profile that the page plays. */
interface Profile {
  readonly client: string;
  readonly abilities: readonly string[];
  readonly display_modes: readonly string[];
  /** It tells the view which tool it shows. */
  readonly tool_info: boolean;
  /** Its steps until the view has its result. */
  readonly order: readonly Moment[];
  readonly delay_ms: number;
  readonly strips: readonly string[];
  readonly strips_answers: boolean;
  readonly wraps: boolean;
  readonly empties_replays: boolean;
  readonly refuses: readonly string[];
  readonly refuses_unlisted: boolean;
  readonly keeps_storage: boolean;
  readonly hides_until_sized: boolean;
  readonly width_px: number;
}

interface Shown {
  readonly src: string;
  readonly title: string;
  readonly tool: Json;
  /** Names of the tools that the server lists to this host. */
  readonly listed: readonly string[];
  readonly arguments: Json;
  readonly result: Json;
}

declare global {
  interface Window {
    readonly stageCall: (method: string, params: Json) => Promise<Json>;
    readonly stageSent: (sent: Json) => Promise<void>;
    stage: Stage;
  }
}

/** A transport that changes messages as the host does. */
class FilteredTransport extends PostMessageTransport {
  readonly #profile: Profile;
  readonly #listed: ReadonlySet<string>;
  readonly #calls = new Set<unknown>();
  /** Runs before the handshake is answered. */
  early: (() => Promise<void>) | undefined;

  constructor(frame: Window, profile: Profile, listed: readonly string[]) {
    super(frame, frame);
    this.#profile = profile;
    this.#listed = new Set(listed);
  }

  override async start(): Promise<void> {
    const hear = this.onmessage;
    this.onmessage = (message, extra) => {
      const { id, method, params } = message as Json;
      if (method === "tools/call") this.#calls.add(id);
      if (method === "tools/call" && this.#refuses((params as { name: string }).name)) {
        const error = { code: -32602, message: "the host does not know this tool" };
        void super.send({ jsonrpc: "2.0", id, error } as Message);
      } else if (method === "ui/initialize" && this.early) {
        void this.early().then(() => hear?.(message, extra));
      } else hear?.(message, extra);
    };
    await super.start();
  }

  override send(message: Message): Promise<void> {
    const { method, id, result, params } = message as Json;
    if (method === "ui/notifications/tool-result") {
      const stripped = this.#strip(params as Json);
      const delivered = this.#profile.wraps ? { result: stripped } : stripped;
      return super.send({ ...message, params: delivered } as Message);
    }
    const isAnswer = this.#calls.delete(id) && result !== undefined;
    if (isAnswer && this.#profile.strips_answers)
      return super.send({ ...message, result: this.#strip(result as Json) } as Message);
    return super.send(message);
  }

  #refuses(name: string): boolean {
    const { refuses, refuses_unlisted } = this.#profile;
    return refuses.includes(name) || (refuses_unlisted && !this.#listed.has(name));
  }

  #strip(result: Json): Json {
    const entries = Object.entries(result);
    return Object.fromEntries(entries.filter(([key]) => !this.#profile.strips.includes(key)));
  }
}

class Stage {
  #profile!: Profile;
  #shown!: Shown;
  #context: Json = {};
  #bridge: AppBridge | undefined;
  #frame: HTMLIFrameElement | undefined;

  constructor() {
    addEventListener("message", ({ source, data }) => {
      if (data === "drawn" && source === this.#frame?.contentWindow)
        void window.stageSent({ kind: "drawn" });
    });
  }

  /** Mounts a view and hands it its result. */
  async show(profile: Profile, shown: Shown, context: Json): Promise<void> {
    this.#profile = profile;
    this.#shown = shown;
    this.#context = {
      ...context,
      displayMode: "inline",
      availableDisplayModes: profile.display_modes,
      ...(profile.tool_info && { toolInfo: { tool: shown.tool } }),
    };
    await this.unmount();
    await this.#mount(shown.result);
  }

  /** Mounts the view again, as a host does that scrolls or reopens a conversation. */
  async remount(): Promise<void> {
    await this.unmount();
    const isEmpty = this.#profile.empties_replays;
    await this.#mount(isEmpty ? { content: [] } : this.#shown.result);
  }

  /** Changes the theme, the locale or the display mode. */
  change(context: Json): void {
    this.#context = { ...this.#context, ...context };
    this.#applyProfile();
    void this.#bridge?.sendHostContextChange(context);
  }

  resize(width: number): void {
    if (this.#frame) this.#frame.style.width = `${width}px`;
  }

  /** Takes the view away, once it has let go. */
  async unmount(): Promise<void> {
    const bridge = this.#bridge;
    this.#bridge = undefined;
    await bridge?.teardownResource({}, { timeout: 1000 }).catch(() => undefined);
    await bridge?.close();
    this.#frame?.remove();
    this.#frame = undefined;
  }

  async #mount(result: Json): Promise<void> {
    const frame = document.createElement("iframe");
    const origin = this.#profile.keeps_storage ? " allow-same-origin" : "";
    frame.setAttribute("sandbox", `allow-scripts${origin}`);
    frame.title = this.#shown.title;
    frame.style.width = this.#profile.width_px ? `${this.#profile.width_px}px` : "100%";
    // Not `display: none`: a frame without a box has no height to tell.
    if (this.#profile.hides_until_sized) frame.style.visibility = "hidden";
    this.#frame = frame;
    this.#applyProfile();
    document.body.replaceChildren(frame);
    const bridge = new AppBridge(
      null,
      { name: this.#profile.client, version: "1" },
      Object.fromEntries(this.#profile.abilities.map((name) => [name, {}])),
      { hostContext: this.#context },
    );
    this.#bridge = bridge;
    this.#listen(bridge, frame);
    const order = this.#profile.order;
    const greeting = order.indexOf("handshake");
    const transport = new FilteredTransport(
      frame.contentWindow as Window,
      this.#profile,
      this.#shown.listed,
    );
    const send = (moments: readonly Moment[]) => this.#send(bridge, moments, result);
    if (greeting > 0) transport.early = () => send(order.slice(0, greeting));
    bridge.oninitialized = () => void send(order.slice(greeting + 1));
    await bridge.connect(transport);
    frame.src = this.#shown.src;
  }

  async #send(bridge: AppBridge, moments: readonly Moment[], result: Json): Promise<void> {
    const args = this.#shown.arguments;
    for (const moment of moments) {
      if (moment === "partial") await bridge.sendToolInputPartial({ arguments: {} });
      else if (moment === "input") await bridge.sendToolInput({ arguments: args });
      else {
        if (this.#profile.delay_ms)
          await new Promise((done) => setTimeout(done, this.#profile.delay_ms));
        await bridge.sendToolResult(result as Parameters<AppBridge["sendToolResult"]>[0]);
      }
    }
  }

  #listen(bridge: AppBridge, frame: HTMLIFrameElement): void {
    const sent = (kind: string, params: Json) => window.stageSent({ kind, ...params });
    bridge.oncalltool = (params) => window.stageCall("tools/call", params) as never;
    bridge.onreadresource = (params) => window.stageCall("resources/read", params) as never;
    bridge.onmessage = async ({ content }) => {
      await sent("message", { text: joinText(content) });
      return {};
    };
    bridge.onupdatemodelcontext = async ({ content }) => {
      await sent("context", { text: joinText(content) });
      return {};
    };
    bridge.onopenlink = async ({ url }) => {
      await sent("link", { url });
      return {};
    };
    bridge.onrequestdisplaymode = async () => ({ mode: "inline" });
    bridge.onsizechange = ({ height }) => {
      // A host that hides the frame collapses it for good where no height comes.
      if (height) frame.style.visibility = "";
      frame.style.height = `${height}px`;
    };
  }

  #applyProfile(): void {
    const theme = String(this.#context.theme ?? "light");
    document.documentElement.style.colorScheme = theme;
    if (this.#frame) this.#frame.style.colorScheme = theme;
  }
}

const joinText = (content: unknown) =>
  [content]
    .flat()
    .map((block) => (block as { text?: string } | undefined)?.text ?? "")
    .join("\n");

window.stage = new Stage();
