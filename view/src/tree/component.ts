/** The definition of a component: the properties that it reads, and how it draws them. */

import { type ComponentType, createContext, type FunctionComponent, h } from "preact";
import { useContext } from "preact/hooks";
import { Boundary } from "./Boundary";
import type { WidgetNode } from "./node";
import { type Props, readProps, type Schema, type Surroundings } from "./read";

export const SurroundingsContext = createContext<Surroundings>({ theme: "light" });

export interface Component {
  readonly type: string;
  readonly schema: Schema;
  readonly Draw: FunctionComponent<{ node: WidgetNode }>;
}

/** Makes the component of that type; `View` receives its properties read, never the raw node. */
export function component<S extends Schema>(
  type: string,
  schema: S,
  View: ComponentType<Props<S>>,
): Component {
  function Draw({ node }: { node: WidgetNode }) {
    const props = readProps(schema, node, useContext(SurroundingsContext));
    return h(Boundary, { node }, h(View, props as never));
  }
  return { type, schema, Draw };
}
