/** Text, Title, Caption and Label: words in a size, a weight and a colour. */

import { type CSSProperties, h } from "preact";
import { DEFAULTS } from "../defaults";
import { makeLabelId, useFieldId } from "../form/field";
import { color } from "../style/color";
import { ALIGNS, alignText } from "../style/direction";
import { pixels } from "../style/units";
import { markLongWords } from "../style/words";
import { component } from "../tree/component";
import { count, flag, oneOf, type Props, text } from "../tree/read";
import { EditableText, editable } from "./EditableText";
import { useFresh } from "./streaming";

const WEIGHTS = ["normal", "medium", "semibold", "bold"] as const;
const TEXT_SIZES = ["xs", "sm", "md", "lg", "xl"] as const;
const TITLE_SIZES = ["sm", "md", "lg", "xl", "2xl", "3xl", "4xl", "5xl"] as const;
const CAPTION_SIZES = ["sm", "md", "lg"] as const;

const WORDS = {
  value: text,
  color: color("text"),
  weight: oneOf(WEIGHTS, undefined),
  textAlign: oneOf(ALIGNS, undefined),
  truncate: flag(false),
  maxLines: count(1),
};

const textSchema = {
  ...WORDS,
  size: oneOf(TEXT_SIZES, DEFAULTS.text.size),
  width: pixels,
  minLines: count(1),
  italic: flag(false),
  lineThrough: flag(false),
  streaming: flag(false),
  editable,
};
const titleSchema = { ...WORDS, size: oneOf(TITLE_SIZES, DEFAULTS.title.size) };
const captionSchema = { ...WORDS, size: oneOf(CAPTION_SIZES, DEFAULTS.caption.size) };
const labelSchema = {
  value: text,
  fieldName: text,
  size: oneOf(TEXT_SIZES, DEFAULTS.label.size),
  weight: oneOf(WEIGHTS, DEFAULTS.label.weight),
  textAlign: oneOf(ALIGNS, undefined),
  color: color("text"),
};

function Text(props: Props<typeof textSchema>) {
  const [settled, fresh] = useFresh(props.value, props.streaming);
  const style: CSSProperties = {
    ...wordsStyle(props, DEFAULTS.text.weight),
    width: props.width,
    minHeight: props.minLines && `${props.minLines}lh`,
    fontStyle: props.italic ? "italic" : undefined,
    textDecoration: props.lineThrough ? "line-through" : undefined,
  };
  const classes = `words text-${props.size}`;
  if (props.editable) {
    const lines = props.maxLines ?? props.minLines ?? 1;
    return (
      <EditableText
        {...props.editable}
        value={props.value}
        lines={lines}
        class={classes}
        style={style}
      />
    );
  }
  return (
    <div
      class={`${classes} ${chooseClipping(props)}`}
      style={style}
      dir="auto"
      aria-busy={props.streaming || undefined}
    >
      {markLongWords(settled)}
      {fresh && <span class="fresh">{fresh}</span>}
    </div>
  );
}

function Title(props: Props<typeof titleSchema>) {
  const style = wordsStyle(props, DEFAULTS.title.weight);
  const classes = `words title-${props.size} ${chooseClipping(props)}`;
  return h(
    props.value.trim() ? "h2" : "div",
    { class: classes, style, dir: "auto" },
    markLongWords(props.value),
  );
}

function Caption(props: Props<typeof captionSchema>) {
  const style = wordsStyle({ ...props, color: props.color ?? DEFAULTS.caption.color }, undefined);
  return (
    <div class={`words caption-${props.size} ${chooseClipping(props)}`} style={style} dir="auto">
      {markLongWords(props.value)}
    </div>
  );
}

function Label(props: Props<typeof labelSchema>) {
  const id = useFieldId(props.fieldName);
  const style = wordsStyle({ ...props, truncate: false, maxLines: undefined }, undefined);
  return (
    <label class={`words text-${props.size}`} id={makeLabelId(id)} for={id} style={style}>
      {markLongWords(props.value)}
    </label>
  );
}

function wordsStyle(
  props: Omit<Props<typeof WORDS>, "value">,
  weight: string | undefined,
): CSSProperties {
  const given = props.weight ?? weight;
  return {
    color: props.color,
    fontWeight: given && `var(--font-weight-${given})`,
    textAlign: alignText(props.textAlign),
    WebkitLineClamp: props.maxLines ?? (props.truncate ? 1 : undefined),
  } as CSSProperties;
}

type Clipped = Pick<Props<typeof WORDS>, "truncate" | "maxLines" | "textAlign">;
function chooseClipping({ truncate, maxLines, textAlign }: Clipped): string {
  if (maxLines && maxLines > 1) return "clamped";
  if (maxLines) return (textAlign ?? "start") === "start" ? "clamped one-line" : "truncated";
  return truncate ? "clamped cut" : "";
}

export const TYPOGRAPHY = [
  component("Text", textSchema, Text),
  component("Title", titleSchema, Title),
  component("Caption", captionSchema, Caption),
  component("Label", labelSchema, Label),
];
