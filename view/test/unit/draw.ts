/** Draws a tree to HTML without a browser. */

import { h } from "preact";
import { renderToString } from "preact-render-to-string";
import { type Stage, StageContext } from "../../src/app/stage";
import { REGISTRY } from "../../src/components/registry";
import { readIcons } from "../../src/style/icons";
import { type Component, SurroundingsContext } from "../../src/tree/component";
import { Nodes, RegistryContext } from "../../src/tree/Nodes";
import type { WidgetNode } from "../../src/tree/node";
import type { Theme } from "../../src/tree/read";

export interface Options {
  readonly theme?: Theme;
  readonly locale?: string;
  readonly icons?: unknown;
}

export function draw(node: WidgetNode, options: Options = {}): string {
  return drawWith([], node, options);
}

/** Draws with a few more components than the view has. */
export function drawWith(
  extra: readonly Component[],
  node: WidgetNode,
  { theme = "light", locale = "en", icons }: Options = {},
): string {
  const registry = new Map([...REGISTRY, ...extra.map((each) => [each.type, each] as const)]);
  const stage: Stage = {
    locale,
    icons: readIcons(icons),
    labelled: new Set(),
    can: () => true,
    isLocal: () => false,
    act: async () => ({}),
    openLink: () => undefined,
  };
  const nodes = h(Nodes, { of: [node] });
  const surrounded = h(SurroundingsContext.Provider, { value: { theme }, children: nodes });
  const staged = h(StageContext.Provider, { value: stage, children: surrounded });
  return renderToString(h(RegistryContext.Provider, { value: registry, children: staged }));
}
