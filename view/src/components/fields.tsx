/** Input, Textarea, Checkbox and RadioGroup: the browser's own fields, dressed. */

import type { JSX } from "preact";
import { useRef } from "preact/hooks";
import { action } from "../actions/action";
import { useTrigger } from "../actions/trigger";
import { DEFAULTS } from "../defaults";
import { TYPED, useEntry } from "../form/entry";
import { type Field, toWords, useField } from "../form/field";
import { CONTROL_SIZES, FIELD_VARIANTS, GUTTER_SIZES, look } from "../style/control";
import { component } from "../tree/component";
import { count, flag, listOf, oneOf, optionalText, type Props, record, text } from "../tree/read";
import { DIRECTIONS } from "./layout";

const typedSchema = {
  ...TYPED,
  defaultValue: optionalText,
  disabled: flag(false),
  variant: oneOf(FIELD_VARIANTS, DEFAULTS.control.variant),
  size: oneOf(CONTROL_SIZES, DEFAULTS.control.size),
  gutterSize: oneOf(GUTTER_SIZES, undefined),
};
const inputSchema = {
  ...typedSchema,
  inputType: oneOf(["number", "email", "text", "password", "tel", "url"], "text"),
  /** Ours: ChatKit's inputs only belong to forms. */
  onChangeAction: action,
  pill: flag(false),
};
const textareaSchema = {
  ...typedSchema,
  rows: count(1),
  autoResize: flag(false),
  maxRows: count(1),
};
const checkboxSchema = {
  name: text,
  label: optionalText,
  defaultChecked: flag(false),
  onChangeAction: action,
  disabled: flag(false),
  required: flag(false),
};
const radioOption = record({ label: text, value: text, disabled: flag(false) });
const radioGroupSchema = {
  name: text,
  options: listOf(radioOption),
  ariaLabel: optionalText,
  onChangeAction: action,
  defaultValue: optionalText,
  direction: oneOf(DIRECTIONS, "col"),
  disabled: flag(false),
  required: flag(false),
};

const typedAttributes = (props: Props<typeof typedSchema>, field: Field) => ({
  id: field.id,
  name: props.name,
  defaultValue: props.defaultValue ?? "",
  placeholder: props.placeholder,
  dir: "auto" as const,
  required: props.required,
  disabled: props.disabled,
  ...field.attributes,
});

function Input(props: Props<typeof inputSchema>) {
  const ref = useRef<HTMLInputElement>(null);
  const field = useField(props.name, props.placeholder);
  const entry = useEntry(ref, { ...props, grows: false, maxRows: undefined });
  const label = props.placeholder ?? toWords(props.name);
  const change = useTrigger("change", props.onChangeAction, label);
  const reportChange = (event: JSX.TargetedEvent<HTMLInputElement>): void =>
    change.fire(new Map([[props.name, event.currentTarget.value]]));
  return (
    <div class="field" {...field.listeners}>
      <input
        ref={ref}
        {...look(props)}
        {...typedAttributes(props, field)}
        type={props.inputType}
        step={props.inputType === "number" ? "any" : undefined}
        pattern={props.pattern}
        {...change.mark}
        {...entry}
        // A server is told once the user leaves the field, not of each letter.
        {...(change.isLocal ? { onInput: reportChange } : { onChange: reportChange })}
      />
      {field.problem}
    </div>
  );
}

function Textarea(props: Props<typeof textareaSchema>) {
  const ref = useRef<HTMLTextAreaElement>(null);
  const field = useField(props.name, props.placeholder);
  const maxRows = props.maxRows ?? (props.autoResize ? DEFAULTS.textarea.maxRows : undefined);
  const { style, ...entry } = useEntry(ref, { ...props, grows: props.autoResize, maxRows });
  const looks = look(props);
  return (
    <div class="field" {...field.listeners}>
      <textarea
        ref={ref}
        class={`${looks.class} textarea`}
        style={{ ...looks.style, ...style }}
        {...typedAttributes(props, field)}
        rows={props.rows ?? (props.autoResize ? 1 : DEFAULTS.textarea.rows)}
        {...entry}
      />
      {field.problem}
    </div>
  );
}

function Checkbox(props: Props<typeof checkboxSchema>) {
  const field = useField(props.name, props.label);
  const change = useTrigger("change", props.onChangeAction, props.label ?? toWords(props.name));
  return (
    <div class="field" {...field.listeners}>
      <label class="choice">
        <input
          type="checkbox"
          class="tick"
          id={field.id}
          name={props.name}
          defaultChecked={props.defaultChecked}
          required={props.required}
          disabled={props.disabled || !change.possible}
          {...field.attributes}
          {...change.mark}
          onChange={(event) => change.fire(new Map([[props.name, event.currentTarget.checked]]))}
        />
        {props.label && <span>{props.label}</span>}
      </label>
      {field.problem}
    </div>
  );
}

function RadioGroup(props: Props<typeof radioGroupSchema>) {
  const field = useField(props.name, props.ariaLabel);
  const change = useTrigger("change", props.onChangeAction, toWords(props.name));
  const disabled = props.disabled || !change.possible;
  const named = props.ariaLabel
    ? { "aria-label": props.ariaLabel, "aria-labelledby": undefined }
    : {};
  return (
    <div class="field" {...field.listeners}>
      <div
        class={`choices ${props.direction}`}
        role="radiogroup"
        {...change.mark}
        id={field.id}
        aria-required={props.required || undefined}
        {...field.attributes}
        {...named}
      >
        {props.options.map((option) => (
          <label class="choice" key={option.value}>
            <input
              type="radio"
              class="dot"
              name={props.name}
              value={option.value}
              defaultChecked={option.value === props.defaultValue}
              required={props.required}
              disabled={disabled || option.disabled}
              onChange={() => change.fire(new Map([[props.name, option.value]]))}
            />
            <span>{option.label}</span>
          </label>
        ))}
      </div>
      {field.problem}
    </div>
  );
}

export const FIELDS = [
  component("Input", inputSchema, Input),
  component("Textarea", textareaSchema, Textarea),
  component("Checkbox", checkboxSchema, Checkbox),
  component("RadioGroup", radioGroupSchema, RadioGroup),
];
