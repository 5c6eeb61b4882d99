/** JSON-RPC 2.0 between this page and the window that embeds it. */

import { asObject, isObject, type JsonObject } from "../tree/node";

type Answer = (params: JsonObject) => unknown;
type Listener = (params: JsonObject) => void;

/** The other side answered a request with an error. */
export class RpcError extends Error {
  override readonly name = "RpcError";
  readonly code: number;

  constructor(message: string, code: number) {
    super(message);
    this.code = code;
  }

  /** It may have reached the server nevertheless. */
  get isUncertain(): boolean {
    return UNCERTAIN.has(this.code);
  }
}

/** Connection closed, request timed out. */
const UNCERTAIN = new Set([-32000, -32001]);
const METHOD_NOT_FOUND = -32601;
const INTERNAL_ERROR = -32603;

export class Rpc {
  readonly #peer: Window;
  readonly #waiting = new Map<
    number,
    { resolve(result: JsonObject): void; reject(error: Error): void }
  >();
  readonly #answers = new Map<string, Answer>();
  readonly #listeners = new Map<string, Listener>();
  #lastId = 0;

  constructor(peer: Window) {
    this.#peer = peer;
  }

  /** Starts to hear the other window, and no other. */
  open(): void {
    window.addEventListener("message", this.#receive);
  }

  close(): void {
    window.removeEventListener("message", this.#receive);
  }

  answer(method: string, answer: Answer): void {
    this.#answers.set(method, answer);
  }

  on(method: string, listener: Listener): void {
    this.#listeners.set(method, listener);
  }

  request(method: string, params: JsonObject): Promise<JsonObject> {
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#send({ id, method, params });
    });
  }

  notify(method: string, params: JsonObject = {}): void {
    this.#send({ method, params });
  }

  #send(message: JsonObject): void {
    // The host's origin is unknown to a sandboxed page, which itself has none.
    this.#peer.postMessage({ jsonrpc: "2.0", ...message }, "*");
  }

  readonly #receive = (event: MessageEvent): void => {
    const message: unknown = event.data;
    if (event.source !== this.#peer || !isObject(message) || message.jsonrpc !== "2.0") return;
    const params = asObject(message.params);
    if (typeof message.method !== "string") this.#settle(message);
    else if (message.id === undefined) this.#listeners.get(message.method)?.(params);
    else void this.#reply(message.id, message.method, params);
  };

  #settle({ id, result, error }: JsonObject): void {
    const waiting = this.#waiting.get(id as number);
    if (!waiting) return;
    this.#waiting.delete(id as number);
    if (isObject(error))
      waiting.reject(new RpcError(String(error.message ?? "the host refused"), Number(error.code)));
    else waiting.resolve(asObject(result));
  }

  async #reply(id: unknown, method: string, params: JsonObject): Promise<void> {
    const answer = this.#answers.get(method);
    if (!answer) {
      this.#send({ id, error: { code: METHOD_NOT_FOUND, message: `this view has no ${method}` } });
      return;
    }
    try {
      this.#send({ id, result: (await answer(params)) ?? {} });
    } catch (error) {
      this.#send({ id, error: { code: INTERNAL_ERROR, message: String(error) } });
    }
  }
}
