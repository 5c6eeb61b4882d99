/**
 * Plays the MCP Apps host for one frame: handshake, results, and the frame's messages.
 *
 * Source: MCP Apps (SEP-1865), specification 2026-01-26.
 */

const PROTOCOL = "2026-01-26";
const ABILITIES = { openLinks: {}, serverTools: {}, message: {}, updateModelContext: {}, logging: {} };
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

/** The frame redraws each result in place: scroll position and typed values stay. */
export class Frame {
  #result;
  #arguments;
  #answered;
  #ready = false;
  #context;
  #about;
  #callbacks;

  /**
   * @param {{tool: string, title: string, theme: string, locale?: string, src?: string,
   *          sized?: (height: number) => void, sent?: (what: object) => void,
   *          logged?: (data: object) => void, act?: (action: object) => Promise<object>,
   *          name?: string, abilities?: object,
   *          call?: (tool: string, given: object) => Promise<object>}} options
   *   `call` takes every tool; without it `act` takes actions, and the page itself follows
   *   newer versions, once for all frames.
   */
  constructor({ tool, title, theme, locale, src = `/gallery/frame/${encodeURIComponent(tool)}`, sized = () => {}, sent = () => {}, logged = () => {}, act, name = "widgetd-gallery", abilities = ABILITIES, call }) {
    this.#callbacks = { sized, sent, logged, act, call };
    this.#about = { hostInfo: { name, version: "1.0.0" }, hostCapabilities: abilities };
    this.#context = {
      theme,
      locale: locale || navigator.language,
      displayMode: "inline",
      availableDisplayModes: ["inline"],
      toolInfo: { tool: { name: tool, title, inputSchema: { type: "object" } } },
    };
    this.element = document.createElement("iframe");
    this.element.title = `${title}, ${theme}`;
    this.element.setAttribute("sandbox", "allow-scripts allow-forms");
    this.element.style.colorScheme = theme;
    addEventListener("message", this.#receive);
    this.element.src = src;
  }

  /** Hands over a result, the arguments of its call, or those alone, which the view then draws. */
  show(result, given) {
    this.#result = result;
    this.#arguments = given;
    if (this.#ready) this.#hand();
  }

  #hand() {
    if (this.#arguments) this.#notify("tool-input", { arguments: this.#arguments });
    if (this.#result) this.#notify("tool-result", this.#result);
  }

  change(context) {
    this.#context = { ...this.#context, ...context };
    if (context.theme) this.element.style.colorScheme = context.theme;
    if (this.#ready) this.#notify("host-context-changed", context);
  }

  remove() {
    removeEventListener("message", this.#receive);
    this.element.remove();
  }

  /** Settles once the view has handled all messages. */
  settled() {
    return new Promise((answered) => {
      this.#answered = answered;
      this.#post({ id: "settled", method: "ping" });
    });
  }

  #receive = ({ source, data }) => {
    if (source !== this.element.contentWindow || data?.jsonrpc !== "2.0") return;
    if (data.id === undefined) this.#hear(data.method, data.params ?? {});
    else if (data.method) void this.#reply(data.id, data.method, data.params ?? {});
    else this.#answered?.();
  };

  async #reply(id, method, params) {
    try {
      this.#post({ id, ...(await this.#answer(method, params)) });
    } catch (error) {
      this.#post({ id, error: { code: INTERNAL_ERROR, message: error.message } });
    }
  }

  #hear(method, params) {
    if (method === "ui/notifications/size-changed") this.#callbacks.sized(params.height);
    if (method === "notifications/message") this.#callbacks.logged(params.data);
    if (method !== "ui/notifications/initialized") return;
    this.#ready = true;
    this.#hand();
  }

  async #answer(method, params) {
    switch (method) {
      case "ui/initialize":
        return {
          result: {
            protocolVersion: PROTOCOL,
            ...this.#about,
            hostContext: this.#context,
          },
        };
      case "tools/call":
        if (this.#callbacks.call) return { result: await this.#callbacks.call(params.name, params.arguments) };
        if (!params.name.endsWith("widget_action")) return { error: { code: METHOD_NOT_FOUND, message: `the gallery has no ${params.name}` } };
        return { result: await this.#callbacks.act(params.arguments) };
      case "ui/message":
        this.#callbacks.sent({ kind: "message", text: textOf(params.content) });
        return { result: {} };
      case "ui/update-model-context":
        this.#callbacks.sent({ kind: "context", text: textOf(params.content) });
        return { result: {} };
      case "ui/open-link":
        this.#callbacks.sent({ kind: "link", url: String(params.url) });
        return { result: {} };
      case "ui/request-display-mode":
        return { result: { mode: "inline" } };
      case "ping":
        return { result: {} };
      default:
        return { error: { code: METHOD_NOT_FOUND, message: `the gallery has no ${method}` } };
    }
  }

  #notify(name, params) {
    this.#post({ method: `ui/notifications/${name}`, params });
  }

  #post(message) {
    // A sandboxed frame has no origin to name.
    this.element.contentWindow?.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }
}

const textOf = (content) => [content].flat().map((block) => block?.text ?? "").join("\n");
