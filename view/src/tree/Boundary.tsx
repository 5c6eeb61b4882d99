import { Component } from "preact";
import type { WidgetNode } from "./node";

type State = { readonly error?: unknown; readonly failed?: WidgetNode };

/** Shows the error of a component that fails, in its place; tries again with its next tree. */
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
