import type { CSSProperties } from "preact";
import { useContext } from "preact/hooks";
import { action } from "../actions/action";
import { type Trigger, useTrigger } from "../actions/trigger";
import { DEFAULTS } from "../defaults";
import { toWords } from "../form/field";
import { FormContext } from "../form/form";
import { CONTROL_SIZES, CONTROL_VARIANTS } from "../style/control";
import { tone } from "../style/tone";
import { component } from "../tree/component";
import { flag, oneOf, optionalText, type Props } from "../tree/read";
import { Glyph } from "./Glyph";

const COLORS = [
  "primary",
  "secondary",
  "info",
  "discovery",
  "success",
  "caution",
  "warning",
  "danger",
] as const;

const schema = {
  label: optionalText,
  onClickAction: action,
  submit: flag(false),
  iconStart: optionalText,
  iconEnd: optionalText,
  iconSize: oneOf(["sm", "md", "lg", "xl", "2xl"], undefined),
  style: oneOf(["primary", "secondary"], undefined),
  color: oneOf(COLORS, undefined),
  variant: oneOf(CONTROL_VARIANTS, undefined),
  size: oneOf(CONTROL_SIZES, DEFAULTS.button.size),
  pill: flag(DEFAULTS.button.pill),
  uniform: flag(false),
  block: flag(false),
  disabled: flag(false),
};

function Button(props: Props<typeof schema>) {
  const form = useContext(FormContext);
  const sends = props.onClickAction ?? (props.submit ? form?.submitAction : undefined);
  const name = props.label || toWords(props.iconStart ?? props.iconEnd ?? "button");
  const trigger = useTrigger(props.submit ? "submit" : "button", sends, name);
  return <PushButton {...props} {...chooseLook(props)} name={name} trigger={trigger} />;
}

/** The style preset says both colour and variant, unless they are given themselves. */
function chooseLook({ style, color, variant }: Props<typeof schema>) {
  const secondary = (style ?? DEFAULTS.button.style) === "secondary";
  return {
    color:
      color ??
      (secondary || variant === "outline" || variant === "ghost" ? "secondary" : "primary"),
    variant: variant ?? (secondary ? "outline" : "solid"),
  };
}

interface PushButtonProps extends Partial<Props<typeof schema>> {
  readonly name?: string;
  readonly color: (typeof COLORS)[number];
  readonly variant: (typeof CONTROL_VARIANTS)[number];
  readonly trigger: Pick<Trigger, "pending" | "possible" | "mark" | "fire">;
}

/** A button that fires a trigger. */
export function PushButton({ trigger, pill = true, ...props }: PushButtonProps) {
  const classes = ["button", `control-${props.size}`, props.variant];
  if (pill) classes.push("pill");
  if (props.uniform || !props.label) classes.push("uniform");
  if (props.block) classes.push("block");
  if (trigger.pending) classes.push("pending");
  return (
    <button
      type="button"
      class={classes.join(" ")}
      style={{ ...tone(props.color, props.variant), ...iconStyle(props.iconSize) }}
      disabled={props.disabled || !trigger.possible}
      aria-label={props.label ? undefined : props.name}
      aria-busy={trigger.pending || undefined}
      {...trigger.mark}
      onClick={() => trigger.fire()}
    >
      {props.iconStart && <Glyph name={props.iconStart} />}
      {props.label && <span class="button-label">{props.label}</span>}
      {props.iconEnd && <Glyph name={props.iconEnd} />}
      {trigger.pending && <span class="spinner" />}
    </button>
  );
}

const iconStyle = (size: string | undefined) =>
  (size ? { "--icon": `var(--control-icon-size-${size})` } : {}) as CSSProperties;

export const BUTTON = component("Button", schema, Button);
