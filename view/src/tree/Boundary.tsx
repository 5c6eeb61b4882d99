import { Component } from "preact";
import type { WidgetNode } from "./node";

interface State {
  readonly error?: unknown;
  readonly failed?: WidgetNode;
}

/** A component that fails says so in its place, and its neighbours stand; its next tree is tried anew. */
export class Boundary extends Component<{ readonly node: WidgetNode }, State> {
  override componentDidCatch(error: unknown): void {
    this.setState({ error, failed: this.props.node });
  }

  override render() {
    const { node, children } = this.props;
    if (this.state.failed !== node) return children;
    return (
      <div class="unknown" role="note">
        {node.type}: {String(this.state.error)}
      </div>
    );
  }
}
