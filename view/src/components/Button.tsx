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
  return (
    <PushButton
      {...props}
      {...chooseLook(props)}
      label={props.label}
      name={name}
      pending={trigger.pending}
      disabled={props.disabled || !trigger.possible}
      mark={trigger.mark}
      onPress={() => trigger.fire()}
    />
  );
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

interface PushButtonProps {
  readonly label: string | undefined;
  readonly name?: string;
  readonly color: (typeof COLORS)[number];
  readonly variant: (typeof CONTROL_VARIANTS)[number];
  readonly size: (typeof CONTROL_SIZES)[number];
  readonly pill?: boolean;
  readonly uniform?: boolean;
  readonly block?: boolean;
  readonly iconStart?: string | undefined;
  readonly iconEnd?: string | undefined;
  readonly iconSize?: string | undefined;
  readonly pending: boolean;
  readonly disabled: boolean;
  readonly mark: Trigger["mark"];
  onPress(): void;
}

/** A button; its user handles the press. */
export function PushButton(props: PushButtonProps) {
  const { pill = true, uniform = false, block = false } = props;
  const classes = ["button", `control-${props.size}`, props.variant];
  if (pill) classes.push("pill");
  if (uniform || !props.label) classes.push("uniform");
  if (block) classes.push("block");
  if (props.pending) classes.push("pending");
  return (
    <button
      type="button"
      class={classes.join(" ")}
      style={{ ...tone(props.color, props.variant), ...iconStyle(props.iconSize) }}
      disabled={props.disabled}
      aria-label={props.label ? undefined : props.name}
      aria-busy={props.pending || undefined}
      {...props.mark}
      onClick={props.onPress}
    >
      {props.iconStart && <Glyph name={props.iconStart} />}
      {props.label && <span class="button-label">{props.label}</span>}
      {props.iconEnd && <Glyph name={props.iconEnd} />}
      {props.pending && <span class="spinner" />}
    </button>
  );
}

const iconStyle = (size: string | undefined) =>
  (size ? { "--icon": `var(--control-icon-size-${size})` } : {}) as CSSProperties;

export const BUTTON = component("Button", schema, Button);
