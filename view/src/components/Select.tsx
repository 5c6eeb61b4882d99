import { useRef, useState } from "preact/hooks";
import { action } from "../actions/action";
import { type Trigger, useTrigger } from "../actions/trigger";
import { DEFAULTS } from "../defaults";
import { useChoice } from "../form/choice";
import { nameWith, toWords, useField } from "../form/field";
import { CONTROL_SIZES, CONTROL_VARIANTS, look } from "../style/control";
import { component } from "../tree/component";
import { flag, listOf, oneOf, optionalText, type Props, record, text } from "../tree/read";
import { Glyph } from "./Glyph";
import { Options } from "./Options";

const selectOption = record({
  value: text,
  label: text,
  disabled: flag(false),
  description: optionalText,
});
export type SelectOption = Props<typeof selectOption.schema>;

/** What is read of whatever opens to choose from. */
export const PICKER = {
  name: text,
  onChangeAction: action,
  placeholder: optionalText,
  variant: oneOf(CONTROL_VARIANTS, DEFAULTS.control.variant),
  size: oneOf(CONTROL_SIZES, DEFAULTS.control.size),
  pill: flag(false),
  block: flag(false),
  clearable: flag(false),
  disabled: flag(false),
};
const schema = {
  ...PICKER,
  options: listOf(selectOption),
  defaultValue: optionalText,
  searchable: (value: unknown) => (typeof value === "boolean" ? value : undefined),
};
type SelectProps = Props<typeof schema>;

/** The properties of both kinds of select. */
interface SelectParts extends SelectProps {
  readonly value: string;
  readonly field: ReturnType<typeof useField>;
  readonly mark: Trigger["mark"];
  choose(value: string): void;
}

function Select(props: SelectProps) {
  const field = useField(props.name, props.placeholder);
  const [value, setValue] = useChoice(props.defaultValue ?? "");
  const change = useTrigger("change", props.onChangeAction, toWords(props.name));
  const choose = (next: string): void => {
    setValue(next);
    change.fire(new Map([[props.name, next]]));
  };
  const disabled = props.disabled || !change.possible;
  const parts = { ...props, disabled, value, field, choose, mark: change.mark };
  return (
    <div class="field" {...field.listeners}>
      <div class={`picker ${props.block ? "block" : ""}`}>
        {isRich(props) ? <Menu {...parts} /> : <Native {...parts} />}
        {props.clearable && value && !disabled && <ClearButton onPress={() => choose("")} />}
      </div>
      {field.problem}
    </div>
  );
}

/** The browser's own menu shows no second line and has no search. */
function isRich({ options, searchable }: SelectProps): boolean {
  const many = searchable ?? options.length > DEFAULTS.searchable;
  return many || options.some(({ description }) => description);
}

function Native({ field, name, value, choose, options, placeholder, ...props }: SelectParts) {
  const known = options.some((option) => option.value === value);
  return (
    <>
      <select
        {...look(props)}
        id={field.id}
        name={name}
        value={known ? value : ""}
        disabled={props.disabled}
        data-empty={!known}
        {...props.mark}
        {...field.attributes}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {!known && (
          <option value="" disabled hidden>
            {placeholder ?? ""}
          </option>
        )}
        {options.map((option) => (
          <option key={option.value} value={option.value} disabled={option.disabled}>
            {option.label}
          </option>
        ))}
      </select>
      <Glyph name="chevron-down" class="picker-arrow" />
    </>
  );
}

/** A menu drawn inside the page: a floating one would be cut off at the frame's edge. */
function Menu(props: SelectParts) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const chosen = props.options.find(({ value }) => value === props.value);
  const close = (): void => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <div class="menu">
      <input type="hidden" name={props.name} value={props.value} />
      <button
        ref={button}
        type="button"
        {...look(props)}
        id={props.field.id}
        aria-haspopup="listbox"
        aria-expanded={open}
        disabled={props.disabled}
        data-empty={!chosen}
        {...props.mark}
        {...nameWith(props.field, chosen?.label)}
        onClick={() => setOpen(!open)}
      >
        <span class="truncated">{chosen?.label ?? props.placeholder ?? ""}</span>
      </button>
      <Glyph name="chevron-down" class="picker-arrow" />
      {open && (
        <Options
          {...props}
          id={`${props.field.id}-options`}
          searched={props.searchable ?? props.options.length > DEFAULTS.searchable}
          choose={(value) => {
            props.choose(value);
            close();
          }}
          close={close}
        />
      )}
    </div>
  );
}

/** Takes a choice back. */
export function ClearButton({ onPress }: { onPress(): void }) {
  return (
    <button type="button" class="clear" aria-label="Clear" onClick={onPress}>
      <Glyph name="x" />
    </button>
  );
}

export const SELECT = component("Select", schema, Select);
