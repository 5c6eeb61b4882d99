/** Draws components by looking up their type, and holds their place from one tree to the next. */

import { createContext, type FunctionComponent, Component as Parent } from "preact";
import { useContext } from "preact/hooks";
import type { Component } from "./component";
import { LAST, nodesIn, type WidgetNode } from "./node";

export type Registry = ReadonlyMap<string, Component>;

export const RegistryContext = createContext<Registry>(new Map());

/** Their `name` says which field they are, wherever the next tree puts them. */
const FIELDS = new Set(["Input", "Textarea", "Select", "DatePicker", "Checkbox", "RadioGroup"]);

export function Nodes({ of }: { of: readonly WidgetNode[] }) {
  const registry = useContext(RegistryContext);
  return (
    <>
      {of.map((node) => {
        const Draw = registry.get(node.type)?.Draw ?? Unknown;
        return (
          <Marked key={identity(node)} type={node.type} isLast={node[LAST] === true}>
            <Draw node={node} />
          </Marked>
        );
      })}
    </>
  );
}

/** Writes on a component's element which it is, for tests, and whether later ones may move. */
class Marked extends Parent<{ type: string; isLast: boolean }> {
  override componentDidMount = () => this.#mark();
  override componentDidUpdate = () => this.#mark();
  override render = () => this.props.children;

  #mark(): void {
    if (!(this.base instanceof Element)) return;
    this.base.setAttribute("data-component", this.props.type);
    this.base.toggleAttribute(LAST, this.props.isLast);
  }
}

function identity(node: WidgetNode): string | undefined {
  const given = node.key ?? node.id ?? (FIELDS.has(node.type) ? node.name : undefined);
  return given === undefined || given === null ? undefined : `${node.type} ${given}`;
}

/** Shows the name of an unknown component, and its children. */
const Unknown: FunctionComponent<{ node: WidgetNode }> = ({ node }) => (
  <div class="unknown" role="group" aria-label={`Unknown component ${node.type}`}>
    <span class="unknown-name">Unknown component: {node.type}</span>
    <Nodes of={nodesIn(node.children)} />
  </div>
);
