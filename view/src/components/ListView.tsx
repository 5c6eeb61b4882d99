import { useState } from "preact/hooks";
import { action } from "../actions/action";
import { useContainer } from "../actions/busy";
import { useTrigger } from "../actions/trigger";
import { DEFAULTS } from "../defaults";
import { ALIGNMENTS, alignment } from "../style/box";
import { spacing } from "../style/units";
import { component } from "../tree/component";
import { Nodes } from "../tree/Nodes";
import { plainText, type WidgetNode } from "../tree/node";
import { count, nodes, oneOf, type Props, type Reader } from "../tree/read";
import { Glyph } from "./Glyph";
import { FRAME, Frame } from "./Status";

const limit: Reader<number | undefined> = (value, around) =>
  value === "auto" ? DEFAULTS.listView.auto : count(1)(value, around);

/** Reads the children of a list; any other component becomes an item. */
const items: Reader<readonly WidgetNode[]> = (value, around) =>
  nodes(value, around).map((node) =>
    node.type === "ListViewItem" ? node : { type: "ListViewItem", key: node.key, children: [node] },
  );

const listSchema = { ...FRAME, children: items, limit };
const itemSchema = {
  children: nodes,
  onClickAction: action,
  gap: spacing,
  align: oneOf(ALIGNMENTS, DEFAULTS.align.ListViewItem),
};

function ListView({ children, limit, ...frame }: Props<typeof listSchema>) {
  const container = useContainer();
  const [all, setAll] = useState(false);
  const shown = all || !limit ? children : children.slice(0, limit);
  const hidden = children.length - shown.length;
  return (
    <Frame {...frame} widest={DEFAULTS.listView.width}>
      <div class="card list" {...container.attributes}>
        <ul>{container.wrap(<Nodes of={shown} />)}</ul>
        {hidden > 0 && (
          <button type="button" class="more" onClick={() => setAll(true)}>
            Show {hidden} more
            <Glyph name="chevron-down" />
          </button>
        )}
      </div>
    </Frame>
  );
}

function ListViewItem(props: Props<typeof itemSchema>) {
  const label = plainText(props.children);
  const trigger = useTrigger("item", props.onClickAction, label);
  const style = {
    gap: props.gap ?? `${DEFAULTS.gap.ListViewItem * 4}px`,
    ...alignment(props.align),
  };
  return (
    <li class="item box row" style={style} aria-busy={trigger.pending || undefined}>
      {props.onClickAction && (
        <button
          type="button"
          class="cover"
          aria-label={label}
          disabled={!trigger.possible}
          {...trigger.mark}
          onClick={() => trigger.fire()}
        />
      )}
      <Nodes of={props.children} />
    </li>
  );
}

export const LIST = [
  component("ListView", listSchema, ListView),
  component("ListViewItem", itemSchema, ListViewItem),
];
