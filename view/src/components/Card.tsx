import type { CSSProperties } from "preact";
import { useState } from "preact/hooks";
import { action } from "../actions/action";
import { useContainer } from "../actions/busy";
import { type TriggerKind, useTrigger } from "../actions/trigger";
import { DEFAULTS } from "../defaults";
import { FormFrame } from "../form/FormFrame";
import { border } from "../style/border";
import { sides } from "../style/box";
import { background } from "../style/color";
import { insets, type Sides } from "../style/units";
import { component } from "../tree/component";
import { Nodes } from "../tree/Nodes";
import { type WidgetNode, walk } from "../tree/node";
import { flag, nodes, oneOf, type Props, record, text } from "../tree/read";
import { PushButton } from "./Button";
import { Glyph } from "./Glyph";
import { FRAME, Frame } from "./Status";

const cardAction = record({ label: text, action });
type CardAction = Props<typeof cardAction.schema>;

const schema = {
  children: nodes,
  asForm: flag(false),
  background,
  border,
  size: oneOf(["sm", "md", "lg", "full"], DEFAULTS.card.size),
  padding: insets,
  ...FRAME,
  collapsed: flag(false),
  confirm: cardAction,
  cancel: cardAction,
};
type CardProps = Props<typeof schema>;

function Card(props: CardProps) {
  const container = useContainer();
  return (
    <Frame {...props} widest={DEFAULTS.cardWidth[props.size]}>
      <div class="card" style={cardStyle(props)} {...container.attributes}>
        {container.wrap(props.collapsed ? <Folded {...props} /> : <Body {...props} />)}
      </div>
    </Frame>
  );
}

/** Returns the style of a card; children that are flush with its edge read the custom properties. */
function cardStyle(props: CardProps): CSSProperties {
  const padding = (side: keyof Sides) => props.padding?.[side] ?? `${DEFAULTS.card.padding * 4}px`;
  return {
    "--card-top": padding("top"),
    "--card-right": padding("right"),
    "--card-bottom": padding("bottom"),
    "--card-left": padding("left"),
    ...sides("border", props.border),
    background: props.background,
  } as CSSProperties;
}

function Body(props: CardProps) {
  if (!props.asForm) return <Content {...props} />;
  return (
    <FormFrame
      kind="confirm"
      action={props.confirm?.action}
      label={props.confirm?.label ?? ""}
      class="card-form"
    >
      <Content {...props} />
    </FormFrame>
  );
}

function Content({ children, confirm, cancel }: CardProps) {
  return (
    <>
      <div class="card-body box col">
        <Nodes of={children} />
      </div>
      {(confirm || cancel) && (
        <div class="card-footer">
          {confirm && <FooterButton {...confirm} kind="confirm" />}
          {cancel && <FooterButton {...cancel} kind="cancel" />}
        </div>
      )}
    </>
  );
}

function FooterButton({ kind, label, action }: CardAction & { kind: TriggerKind }) {
  const trigger = useTrigger(kind, action, label);
  const look = kind === "confirm" ? PRIMARY : SECONDARY;
  return <PushButton {...look} label={label} trigger={trigger} />;
}

const PRIMARY = { color: "primary", variant: "solid", size: "md" } as const;
const SECONDARY = { color: "secondary", variant: "outline", size: "md" } as const;

function Folded(props: CardProps) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button type="button" class="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Glyph name="check-circle-filled" />
        <span class="truncated">{findHeadline(props.children)}</span>
        <Glyph name="chevron-down" class="turning" />
      </button>
      {open && <Content {...props} confirm={undefined} cancel={undefined} />}
    </>
  );
}

function findHeadline(children: readonly WidgetNode[]): string {
  const within = children.flatMap((child) => [...walk(child)]);
  const title = within.find(({ type }) => type === "Title") ?? within.find(({ value }) => value);
  return String(title?.value ?? "Done");
}

export const CARD = component("Card", schema, Card);
