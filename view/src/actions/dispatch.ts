/**
 * Takes an action to the host, by the best way the host has.
 *
 * A server action calls the tool `widget_action`; then the model hears of it, as a turn where the
 * action streams, else as context. A client action opens its link or becomes context. A host
 * without tools is told in a message.
 */

import { type ActionOutcome, type ActionRequest, NO_PROBLEMS } from "../app/stage";
import type { Notice } from "../app/view";
import { type Ability, Failure, type Host } from "../host/host";
import type { Rendered } from "../host/result";
import { RpcError } from "../host/rpc";
import { isWebAddress } from "../style/url";
import { isObject, type JsonObject } from "../tree/node";
import type { Action } from "./action";

export const ACTION_TOOL = "widget_action";
const REMEMBERED = 20;
/** Letters of a label that are quoted. */
const LONGEST = 40;
const MISFIT = "something in it is missing or does not fit";

export interface Surface {
  /** By which the server knows what is shown; without it the server cannot be called. */
  renderId(): string | undefined;
  /** What is shown, as JSON: another picture is another one. */
  picture(): string;
  /** The render's version that is shown. */
  version(): number;
  /** What goes along with each action: the local state, and the secret of the render's page. */
  extras(): JsonObject;
  /** Tells whether each press takes the action again. */
  repeats(type: string): boolean;
  show(result: Rendered): void;
  /** Tells the user how an action fares. */
  say(notice: Notice): void;
  /** Asks the user; resolves to whether they agree. */
  ask(question: string): Promise<boolean>;
}

/** One thing that the user does, however often they press for it. */
interface Deed {
  readonly what: string;
  readonly key: string;
  underWay: Promise<ActionOutcome> | undefined;
  tries: number;
  told: boolean;
}

type Route = "tool" | "message" | "link" | "context" | "none";

export class Dispatcher {
  readonly #host: Host;
  readonly #surface: Surface;
  readonly #taken: JsonObject[] = [];
  /** The latest last, by what was done. */
  readonly #deeds = new Map<string, Deed>();
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
   * Sends the action; whatever goes wrong is shown, and never thrown.
   *
   * As long as neither the version nor what is filled in changes, another press is the same
   * action: it is not sent while the first is under way, and later with the key of the first. The
   * key is made of these alone, so that a view which is mounted again cannot take it twice.
   */
  send(request: ActionRequest): Promise<ActionOutcome> {
    const deed = this.#deedOf(request);
    deed.underWay ??= this.#attempt(request, deed).finally(() => {
      deed.underWay = undefined;
    });
    return deed.underWay;
  }

  #deedOf({ action, payload, isChange }: ActionRequest): Deed {
    const what = JSON.stringify([this.#surface.picture(), action, payload]);
    const known = isChange ? undefined : this.#deeds.get(what);
    const isRepeated = isChange || this.#surface.repeats(action.type);
    if (known && (known.underWay || !isRepeated || !known.told)) return known;
    const key = isRepeated
      ? freshKey()
      : digest([this.#surface.renderId(), this.#surface.version(), action.type, payload]);
    const deed: Deed = { what, key, underWay: undefined, tries: 0, told: false };
    if (!isChange) this.#remember(deed);
    return deed;
  }

  #remember(deed: Deed): void {
    this.#deeds.delete(deed.what);
    this.#deeds.set(deed.what, deed);
    const [oldest] = this.#deeds.keys();
    if (this.#deeds.size > REMEMBERED && oldest !== undefined) this.#deeds.delete(oldest);
  }

  async #attempt(request: ActionRequest, deed: Deed): Promise<ActionOutcome> {
    const route = this.#route(request.action);
    const quiet = request.isChange || route === "link";
    if (!quiet) this.#sayBusy(request);
    try {
      const outcome = await this.#take(route, request, deed);
      if (Object.keys(outcome.problems).length) this.#fail(request, MISFIT);
      else if (!quiet && route !== "tool") this.#confirm(request);
      return outcome;
    } catch (error) {
      const known = error instanceof Failure;
      const detail = String(known ? (error.cause ?? error.message) : error);
      this.#host.log("warning", { action: request.action.type, detail });
      this.#fail(request, known ? error.message : "");
      return NO_PROBLEMS;
    }
  }

  #sayBusy({ label }: ActionRequest): void {
    this.#surface.say({ kind: "busy", text: `Sending ${quoted(label)}…` });
  }

  #confirm(request: ActionRequest): void {
    this.#surface.say({ kind: "sent", text: `${quoted(request.label)} was sent.` });
  }

  #fail(request: ActionRequest, reason: string): void {
    const text = `${quoted(request.label)} did not go through${reason && `: ${reason}`}.`;
    this.#surface.say({ kind: "problem", text });
  }

  async #take(route: Route, request: ActionRequest, deed: Deed): Promise<ActionOutcome> {
    if (route === "link") await this.#host.openLink(linkOf(request.action) ?? "");
    else if (route === "tool") return this.#callOrSay(request, deed);
    else if (!deed.told && route === "message") await this.#host.say(this.#sentence(request));
    else if (!deed.told && route === "context") await this.#tellModel(request);
    deed.told = true;
    return NO_PROBLEMS;
  }

  /** Calls the tool; a host that refuses that hears a message, as one without tools. */
  async #callOrSay(request: ActionRequest, deed: Deed): Promise<ActionOutcome> {
    try {
      return await this.#call(request, deed);
    } catch (error) {
      const isRefusal = error instanceof RpcError ? !error.isUncertain : error instanceof Refusal;
      if (!isRefusal || !this.#host.can("message")) throw error;
      this.#isRefused = true;
      if (!deed.told) await this.#host.say(this.#sentence(request));
      deed.told = true;
      if (!request.isChange) this.#confirm(request);
      return NO_PROBLEMS;
    }
  }

  async #call(request: ActionRequest, deed: Deed, token = ""): Promise<ActionOutcome> {
    const { action, payload } = request;
    deed.tries += 1;
    const result = await this.#host.callTool(ACTION_TOOL, {
      render_id: this.#surface.renderId(),
      action: action.type,
      payload: payload ?? {},
      ...this.#surface.extras(),
      ...(token && { token }),
      idempotency_key: deed.key,
    });
    if (result.tree) this.#surface.show(result);
    const { problems } = result;
    if (result.token) {
      const agreed = await this.#surface.ask(result.question);
      if (!agreed) return NO_PROBLEMS;
      this.#sayBusy(request);
      return this.#call(request, deed, result.token);
    }
    if (Object.keys(problems).length > 0) return { problems };
    if (result.isForeign) throw new Refusal(result.reason, { cause: result.text });
    if (result.isError) throw new Failure(result.reason, { cause: result.text });
    // At once: how long the host takes to tell the model is not the user's business.
    if (!request.isChange) this.#confirm(request);
    // Another mount of the view has told the model.
    const isKnown = result.repeated && deed.tries === 1;
    if (!deed.told && !isKnown) await this.#tell(request, result.line);
    deed.told = true;
    return NO_PROBLEMS;
  }

  /** The action has been taken: a turn for the model, or only something to know. */
  async #tell(request: ActionRequest, line = this.#sentence(request)): Promise<void> {
    const turn = request.action.streaming && !request.isChange;
    if (turn && this.#host.can("message")) await this.#host.say(line);
    else await this.#tellModel(request, line);
  }

  async #tellModel(request: ActionRequest, line = this.#sentence(request)): Promise<void> {
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
      if (linkOf(action) && can("openLinks")) return "link";
      return can("updateModelContext") ? "context" : can("message") ? "message" : "none";
    }
    const isCallable = can("serverTools") && !this.#isRefused;
    if (isCallable && this.#surface.renderId()) return "tool";
    return can("message") ? "message" : "none";
  }

  #sentence({ action, shownPayload, label }: ActionRequest): string {
    const renderId = this.#surface.renderId();
    const lines = [`The user chose “${label}” in the widget.`, `Action: ${action.type}`];
    if (shownPayload !== undefined) lines.push(`Payload: ${JSON.stringify(shownPayload)}`);
    if (renderId) lines.push(`Render: ${renderId}`);
    return lines.join("\n");
  }
}

/** Returns the address a client action is about, such as `open_url` with `{"url": …}`. */
function linkOf({ type, payload }: Action): string | undefined {
  if (!/url|link|open|navigate|visit/i.test(type) || !isObject(payload)) return undefined;
  return [payload.url, payload.href, payload.link].find(
    (value): value is string => typeof value === "string" && isWebAddress(value),
  );
}

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
export function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** What was pressed, as it may be quoted: a whole row of a list is too much. */
export function quoted(label: string): string {
  if (!label) return "It";
  const letters = [...label];
  return `“${letters.length > LONGEST ? `${letters.slice(0, LONGEST - 1).join("")}…` : label}”`;
}
