/** Box, Row, Col, Spacer, Divider, Transition and the bare root Basic. */

import type { ComponentChildren, CSSProperties, VNode } from "preact";
import { useContext, useLayoutEffect, useRef } from "preact/hooks";
import { DEFAULTS } from "../defaults";
import {
  ALIGNMENTS,
  alignment,
  BOX,
  boxStyle,
  flexJustify,
  justification,
  sides,
} from "../style/box";
import { color } from "../style/color";
import { insets, pixels, spacing } from "../style/units";
import { component, SurroundingsContext } from "../tree/component";
import { Nodes } from "../tree/Nodes";
import { flag, nodes, oneOf, type Props } from "../tree/read";

export const DIRECTIONS = ["row", "col"] as const;
export const THEMES = ["light", "dark"] as const;

const boxSchema = { ...BOX, direction: oneOf(DIRECTIONS, "col") };
const rowSchema = { ...BOX, direction: () => "row" as const };
const colSchema = { ...BOX, direction: () => "col" as const };
const spacerSchema = { minSize: pixels };
const dividerSchema = { color: color("border"), size: pixels, spacing, flush: flag(false) };
const transitionSchema = { children: nodes };
const basicSchema = {
  children: nodes,
  theme: oneOf(THEMES, undefined),
  direction: oneOf(DIRECTIONS, "col"),
  gap: spacing,
  padding: insets,
  align: oneOf(ALIGNMENTS, undefined),
  justify: justification,
};

const units = (count: number) => `${count * 4}px`;

/** Returns the style of a container whose gap and alignment fall back to its kind's defaults. */
export function flexStyle(props: Props<typeof BOX>, gap: number, align?: string): CSSProperties {
  return boxStyle({
    ...props,
    gap: props.gap ?? units(gap),
    align: props.align ?? (align as never),
  });
}

const makeFlex = (gap: number, align?: string) => (props: Props<typeof boxSchema>) => (
  <div class={`box ${props.direction}`} style={flexStyle(props, gap, align)}>
    <Nodes of={props.children} />
  </div>
);

function Spacer({ minSize }: Props<typeof spacerSchema>) {
  return <div class="spacer" style={{ flexBasis: minSize }} />;
}

function Divider(props: Props<typeof dividerSchema>) {
  const style = {
    "--line": props.size ?? DEFAULTS.divider.size,
    "--line-color": props.color ?? "var(--color-border)",
    "--space": props.spacing ?? units(DEFAULTS.divider.spacing),
  } as CSSProperties;
  return <hr class={`divider ${props.flush ? "flush" : ""}`} style={style} />;
}

function Transition({ children }: Props<typeof transitionSchema>) {
  const ref = useRef<HTMLDivElement>(null);
  const height = useRef<number>();
  useLayoutEffect(() => {
    const to = ref.current?.scrollHeight ?? 0;
    const from = height.current ?? to;
    height.current = to;
    if (from === to || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    const frames = { height: [`${from}px`, `${to}px`], overflow: ["hidden", "hidden"] };
    ref.current?.animate(frames, { duration: 200, easing: "ease-out" });
  });
  const child = children[0];
  return (
    <div class="transition" ref={ref}>
      <div class="entering" key={child && `${child.type} ${child.key ?? child.id ?? ""}`}>
        <Nodes of={children} />
      </div>
    </div>
  );
}

/** Shows its children in one theme, independent of the theme around it. */
export function Themed(props: {
  theme: "light" | "dark" | undefined;
  children: ComponentChildren;
}): VNode {
  const around = useContext(SurroundingsContext);
  if (!props.theme) return <>{props.children}</>;
  return (
    <SurroundingsContext.Provider value={{ ...around, theme: props.theme }}>
      {props.children}
    </SurroundingsContext.Provider>
  );
}

function Basic(props: Props<typeof basicSchema>) {
  const style = {
    gap: props.gap ?? units(DEFAULTS.gap.Basic),
    ...sides("padding", props.padding),
    ...alignment(props.align),
    justifyContent: flexJustify(props.justify),
  };
  return (
    <Themed theme={props.theme}>
      <div class={`basic box ${props.direction}`} data-theme={props.theme} style={style}>
        <Nodes of={props.children} />
      </div>
    </Themed>
  );
}

export const LAYOUT = [
  component("Box", boxSchema, makeFlex(DEFAULTS.gap.Box)),
  component("Row", rowSchema, makeFlex(DEFAULTS.gap.Row, DEFAULTS.align.Row)),
  component("Col", colSchema, makeFlex(DEFAULTS.gap.Col, DEFAULTS.align.Col)),
  component("Spacer", spacerSchema, Spacer),
  component("Divider", dividerSchema, Divider),
  component("Transition", transitionSchema, Transition),
  component("Basic", basicSchema, Basic),
];
