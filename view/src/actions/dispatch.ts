/**
 * Takes an action to the host, by the best way the host has.
 *
 * A server action calls the tool `widget_action`; then the model hears of it, as a turn where the
 * action streams, else as context. A client action opens its link or becomes context. A host
 * without tools is told in a message.
 */

import { type ActionOutcome, type ActionRequest, NO_PROBLEMS } from "../app/stage";
import type { Ability, Host } from "../host/host";
import type { Rendered } from "../host/result";
import { isWebAddress } from "../style/url";
import { isObject, type JsonObject } from "../tree/node";
import type { Action } from "./action";

export const ACTION_TOOL = "widget_action";
const REMEMBERED = 20;

export interface Surface {
  /** By which the server knows what is shown; without it the server cannot be called. */
  renderId(): string | undefined;
  show(result: Rendered): void;
  complain(problem: string): void;
}

type Route = "tool" | "message" | "link" | "context" | "none";

export class Dispatcher {
  readonly #host: Host;
  readonly #surface: Surface;
  readonly #taken: JsonObject[] = [];

  constructor(host: Host, surface: Surface) {
    this.#host = host;
    this.#surface = surface;
  }

  /** Tells whether the host has any way to take this action. */
  can(action: Action): boolean {
    return this.#route(action) !== "none";
  }

  /** Sends the action; whatever goes wrong is shown, and never thrown. */
  async send(request: ActionRequest): Promise<ActionOutcome> {
    try {
      return await this.#send(request);
    } catch (error) {
      this.#surface.complain(`“${request.label}” did not go through: ${words(error)}`);
      return NO_PROBLEMS;
    }
  }

  async #send(request: ActionRequest): Promise<ActionOutcome> {
    const route = this.#route(request.action);
    if (route === "link") await this.#host.openLink(linkOf(request.action) ?? "");
    else if (route === "message") await this.#host.say(this.#sentence(request));
    else if (route === "context") await this.#tellModel(request);
    else if (route === "tool") return this.#call(request);
    return NO_PROBLEMS;
  }

  async #call(request: ActionRequest): Promise<ActionOutcome> {
    const { action, payload } = request;
    const result = await this.#host.callTool(ACTION_TOOL, {
      render_id: this.#surface.renderId(),
      action: action.type,
      payload: payload ?? {},
      idempotency_key: freshKey(),
    });
    if (result.tree) this.#surface.show(result);
    const problems = Object.keys(result.problems).length > 0;
    if (result.isError && !problems) throw new Error(result.text || "the server refused it");
    if (!problems && !result.isError) await this.#tell(request);
    return { problems: result.problems };
  }

  /** The action has been taken: a turn for the model, or only something to know. */
  async #tell(request: ActionRequest): Promise<void> {
    const turn = request.action.streaming && !request.isChange;
    if (turn && this.#host.can("message")) await this.#host.say(this.#sentence(request));
    else await this.#tellModel(request);
  }

  /** The host keeps only the latest context, so all that has been done is in it. */
  async #tellModel(request: ActionRequest): Promise<void> {
    const { action, shownPayload, label } = request;
    this.#host.log("info", { action: action.type, handler: action.handler });
    this.#taken.push({ action: action.type, label, payload: shownPayload ?? {} });
    if (this.#taken.length > REMEMBERED) this.#taken.shift();
    if (!this.#host.can("updateModelContext")) return;
    await this.#host.updateModel(this.#sentence(request), {
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
    if (can("serverTools") && this.#surface.renderId()) return "tool";
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

/** `crypto.randomUUID` is missing where the page has no secure origin. */
function freshKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function words(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
