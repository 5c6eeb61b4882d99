/**
 * Fetches the widget of a result that the host delivered without it.
 *
 * Some hosts strip `structuredContent` and `_meta`, some replay an empty result, and a large tree
 * is never in a result.
 *
 * Source: modelcontextprotocol/ext-apps#696, openai/openai-apps-sdk-examples#195.
 */

import type { JsonObject } from "../tree/node";
import { FOLLOW_TOOL } from "./follow";
import type { Ability, Host } from "./host";
import type { Rendered } from "./result";

const SHOW_TOOL = "show_render";

/** Returns the widget of `stripped`, by its id, else by calling the tool again with `args`. */
export async function recover(
  host: Host,
  stripped: Rendered,
  args: JsonObject | undefined,
): Promise<Rendered | undefined> {
  const { renderId } = stripped;
  const stored = renderId ? await fetchRender(host, renderId) : undefined;
  if (stored) return stored;
  const canCall = args !== undefined && host.can("serverTools");
  const again = canCall && (await host.callAgain(args).catch(() => undefined));
  if (!again || again.isError) return undefined;
  const drawn = again.tree || !again.renderId ? again : await fetchRender(host, again.renderId);
  // An action of the first render must not be taken again in this one: without an id, the
  // controls are off until the host sends a result.
  return drawn && { ...drawn, renderId: undefined, follow: false };
}

async function fetchRender(host: Host, renderId: string): Promise<Rendered | undefined> {
  const newest = { render_id: renderId, after: 0, timeout_s: 0 };
  const ways: readonly (readonly [Ability, () => Promise<Rendered>])[] = [
    ["serverTools", () => host.callTool(FOLLOW_TOOL, newest)],
    ["serverTools", () => host.callTool(SHOW_TOOL, { render_id: renderId })],
    ["serverResources", () => host.readRender(renderId)],
  ];
  for (const [ability, ask] of ways) {
    // A host that cannot do it may never answer.
    const found = host.can(ability) ? await ask().catch(() => undefined) : undefined;
    if (found?.tree) return found;
  }
  return undefined;
}
