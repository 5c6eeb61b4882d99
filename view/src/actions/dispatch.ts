/**
 * Takes an action to the host, by the best way the host has.
 *
 * A server action calls the tool `widget_action`; then the model hears of it, as a turn where the
 * action streams, else as context. A client action opens its link or becomes context. A host
 * without tools gets a message.
 */

import { type ActionRequest, NO_PROBLEMS, type Problems } from "../app/stage";
import type { Notice } from "../app/view";
import { type Ability, Failure, type Host } from "../host/host";
import type { Rendered } from "../host/result";
import { RpcError } from "../host/rpc";
import { isWebAddress } from "../style/url";
import { isObject, type JsonObject } from "../tree/node";
import type { Action } from "./action";
import { readJournal, writeJournal } from "./journal";

export const ACTION_TOOL = "widget_action";
const REMEMBERED = 20;
/** Letters of a label that are quoted. */
const LONGEST = 40;
const MISFIT = "something in it is missing or does not fit";

export interface Surface {
  /** The id of the render that is shown; without it the server cannot be called. */
  renderId(): string | undefined;
  /** Returns the render, its version and its tree as JSON. */
  picture(): string;
  /** The render's version that is shown. */
  version(): number;
  /** Returns arguments of each action: the local state, and the secret of the render's page. */
  extras(): JsonObject;
  /** Tells whether each press takes the action again. */
  repeats(type: string): boolean;
  show(result: Rendered): void;
  /** Tells the user how an action fares. */
  say(notice: Notice): void;
  /** Asks the user; resolves to whether they agree. */
  ask(question: string): Promise<boolean>;
}

/** One action of the user, which several presses may ask for. */
interface Task {
  readonly what: string;
  readonly key: string;
  underWay: Promise<Problems> | undefined;
  tries: number;
  /** The model has heard of it. */
  isReported: boolean;
}

type Route = "tool" | "message" | "link" | "context" | "none";

export class Dispatcher {
  readonly #host: Host;
  readonly #surface: Surface;
  readonly #taken: JsonObject[] = [];
  /** The latest last, by what was done. */
  readonly #tasks = new Map<string, Task>();
  #isRefused = false;

  constructor(host: Host, surface: Surface) {
    this.#host = host;
    this.#surface = surface;
  }

  /** Tells whether the host has any way to take this action. */
  can(action: Action): boolean {
    return this.#route(action) !== "none";
  }

  /**
   * Sends the action; failures are shown, and never thrown.
   *
   * As long as neither the version nor what is filled in changes, another press is the same
   * action: it is not sent while the first is under way, and later with the key of the first. The
   * key is made of these alone, so that a view which is mounted again cannot take it twice.
   */
  send(request: ActionRequest): Promise<Problems> {
    const task = this.#findTask(request);
    task.underWay ??= this.#attempt(request, task).finally(() => {
      task.underWay = undefined;
    });
    return task.underWay;
  }

  #findTask({ action, payload, isChange }: ActionRequest): Task {
    const what = JSON.stringify([this.#surface.picture(), action, payload]);
    const known = isChange ? undefined : this.#tasks.get(what);
    const isRepeated = isChange || this.#surface.repeats(action.type);
    if (known && (known.underWay || !isRepeated || !known.isReported)) return known;
    const key = isRepeated
      ? makeKey()
      : digest([this.#surface.renderId(), this.#surface.version(), action.type, payload]);
    const task: Task = { what, key, underWay: undefined, tries: 0, isReported: isReported(key) };
    if (!isChange) this.#remember(task);
    return task;
  }

  #remember(task: Task): void {
    this.#tasks.delete(task.what);
    this.#tasks.set(task.what, task);
    const [oldest] = this.#tasks.keys();
    if (this.#tasks.size > REMEMBERED && oldest !== undefined) this.#tasks.delete(oldest);
  }

  async #attempt(request: ActionRequest, task: Task): Promise<Problems> {
    const route = this.#route(request.action);
    const quiet = request.isChange || route === "link";
    if (!quiet) this.#sayBusy(request);
    try {
      const problems = await this.#dispatch(route, request, task);
      if (Object.keys(problems).length) this.#fail(request, MISFIT);
      else if (!quiet && route !== "tool") this.#confirm(request);
      return problems;
    } catch (error) {
      const known = error instanceof Failure;
      const detail = String(known ? (error.cause ?? error.message) : error);
      this.#host.log("warning", { action: request.action.type, detail });
      this.#fail(request, known ? error.message : "");
      return NO_PROBLEMS;
    }
  }

  #sayBusy({ action, label }: ActionRequest): void {
    const text = findText(action, "loadingText") ?? `Sending ${quote(label)}…`;
    this.#surface.say({ kind: "busy", text });
  }

  #confirm({ action, label }: ActionRequest): void {
    const text = findText(action, "successText") ?? `${quote(label)} was sent.`;
    this.#surface.say({ kind: "sent", text });
  }

  #fail(request: ActionRequest, reason: string): void {
    const text = `${quote(request.label)} did not go through${reason && `: ${reason}`}.`;
    this.#surface.say({ kind: "problem", text });
  }

  async #dispatch(route: Route, request: ActionRequest, task: Task): Promise<Problems> {
    if (route === "link") await this.#host.openLink(findLink(request.action) ?? "");
    else if (route === "tool") return this.#callWithFallback(request, task);
    else if (!task.isReported && route === "message") await this.#sendMessage(request, task);
    else if (!task.isReported && route === "context")
      await this.#updateContext(request, this.#describeRequest(request));
    task.isReported = true;
    return NO_PROBLEMS;
  }

  /** Calls the tool; a host that refuses that hears a message, as one without tools. */
  async #callWithFallback(request: ActionRequest, task: Task): Promise<Problems> {
    try {
      return await this.#call(request, task);
    } catch (error) {
      const isRefusal = error instanceof RpcError ? !error.isUncertain : error instanceof Refusal;
      if (!isRefusal || !this.#host.can("message")) throw error;
      this.#isRefused = true;
      if (!task.isReported) await this.#sendMessage(request, task);
      task.isReported = true;
      if (!request.isChange) this.#confirm(request);
      return NO_PROBLEMS;
    }
  }

  /** Sends a message to the model, and remembers that for a view that is mounted again. */
  async #sendMessage(request: ActionRequest, { key }: Task): Promise<void> {
    await this.#host.say(this.#describeRequest(request));
    const renderId = this.#surface.renderId();
    const { type } = request.action;
    if (renderId) writeJournal({ key, renderId, version: this.#surface.version(), type });
  }

  async #call(request: ActionRequest, task: Task, token = ""): Promise<Problems> {
    const { action, payload } = request;
    task.tries += 1;
    const result = await this.#host.callTool(ACTION_TOOL, {
      render_id: this.#surface.renderId(),
      // Replicas that have seen different versions take the press for the same one.
      version: this.#surface.version(),
      action: action.type,
      payload: payload ?? {},
      ...this.#surface.extras(),
      ...(token && { token }),
      idempotency_key: task.key,
    });
    if (result.tree) this.#surface.show(result);
    const { problems } = result;
    if (result.token) {
      const agreed = await this.#surface.ask(result.question);
      if (!agreed) return NO_PROBLEMS;
      this.#sayBusy(request);
      return this.#call(request, task, result.token);
    }
    if (Object.keys(problems).length > 0) return problems;
    if (result.isForeign) throw new Refusal(result.reason, { cause: result.text });
    if (result.isError) throw new Failure(result.reason, { cause: result.text });
    // Before the model hears of it: the host may take long for that.
    if (!request.isChange) this.#confirm(request);
    // Another mount of the view has told the model.
    const isKnown = result.repeated && task.tries === 1;
    const line = result.line ?? this.#describeRequest(request);
    if (!task.isReported && !isKnown) await this.#reportResult(request, line);
    task.isReported = true;
    return NO_PROBLEMS;
  }

  /** Reports an action that the server has taken: as a turn of the model, or as its context. */
  async #reportResult(request: ActionRequest, line: string): Promise<void> {
    const turn = request.action.streaming && !request.isChange;
    if (turn && this.#host.can("message")) await this.#host.say(line);
    else await this.#updateContext(request, line);
  }

  async #updateContext(request: ActionRequest, line: string): Promise<void> {
    const { action, shownPayload, label } = request;
    this.#host.log("info", { action: action.type, handler: action.handler });
    await this.report(line, { action: action.type, label, payload: shownPayload ?? {} });
  }

  /** The host keeps only the latest context, so all that has been done or changed is in it. */
  async report(line: string, taken: JsonObject = { change: line }): Promise<void> {
    this.#taken.push(taken);
    if (this.#taken.length > REMEMBERED) this.#taken.shift();
    if (!this.#host.can("updateModelContext")) return;
    await this.#host.updateModel(line, {
      renderId: this.#surface.renderId() ?? null,
      actions: this.#taken,
    });
  }

  #route(action: Action): Route {
    const can = (ability: Ability) => this.#host.can(ability);
    if (action.handler === "client") {
      if (findLink(action) && can("openLinks")) return "link";
      return can("updateModelContext") ? "context" : can("message") ? "message" : "none";
    }
    const isCallable = can("serverTools") && !this.#isRefused;
    if (isCallable && this.#surface.renderId()) return "tool";
    return can("message") ? "message" : "none";
  }

  #describeRequest({ action, shownPayload, label }: ActionRequest): string {
    const renderId = this.#surface.renderId();
    const lines = [`The user chose “${label}” in the widget.`, `Action: ${action.type}`];
    if (shownPayload !== undefined) lines.push(`Payload: ${JSON.stringify(shownPayload)}`);
    if (renderId) lines.push(`Render: ${renderId}`);
    return lines.join("\n");
  }
}

/** Returns the address a client action is about, such as `open_url` with `{"url": …}`. */
/** Returns the author's own words in a payload for how the action fares. */
function findText({ payload }: Action, key: string): string | undefined {
  const text = isObject(payload) ? payload[key] : undefined;
  return typeof text === "string" && text ? text : undefined;
}

function findLink({ type, payload }: Action): string | undefined {
  if (!/url|link|open|navigate|visit/i.test(type) || !isObject(payload)) return undefined;
  return [payload.url, payload.href, payload.link].find(
    (value): value is string => typeof value === "string" && isWebAddress(value),
  );
}

const isReported = (key: string) => readJournal().some((entry) => entry.key === key);

/** The host or a gateway refuses the call itself. */
class Refusal extends Failure {}

const BASIS = 0x6c62272e07bb014262b821756295c58dn;
const PRIME = 0x1000000000000000000013bn;

/**
 * Returns 128 bits of a value, as hexadecimal digits: FNV-1a.
 *
 * `crypto.subtle` is missing where the page has no secure origin. This withstands no attacker, who
 * would have the render's id and could act under any key.
 */
function digest(value: unknown): string {
  let hash = BASIS;
  for (const byte of new TextEncoder().encode(JSON.stringify(value))) {
    hash = BigInt.asUintN(128, (hash ^ BigInt(byte)) * PRIME);
  }
  return hash.toString(16).padStart(32, "0");
}

/** `crypto.randomUUID` is missing where the page has no secure origin. */
export function makeKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Quotes the label of a control, shortened: a row of a list has a long one. */
export function quote(label: string): string {
  if (!label) return "It";
  const letters = [...label];
  return `“${letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : label}”`;
}
