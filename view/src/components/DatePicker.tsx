import { useContext, useRef, useState } from "preact/hooks";
import { useTrigger } from "../actions/trigger";
import { StageContext } from "../app/stage";
import { DEFAULTS } from "../defaults";
import { useChoice } from "../form/choice";
import { formatDay, readDay } from "../form/dates";
import { nameWith, toWords, useField } from "../form/field";
import { look } from "../style/control";
import { component } from "../tree/component";
import { oneOf, optionalText, type Props, type Reader } from "../tree/read";
import { Calendar } from "./Calendar";
import { Glyph } from "./Glyph";
import { ClearButton, PICKER } from "./Select";

const day: Reader<string | undefined> = (value, around) => readDay(optionalText(value, around));

const schema = {
  ...PICKER,
  defaultValue: day,
  min: day,
  max: day,
  side: oneOf(["top", "bottom", "left", "right"], DEFAULTS.datePicker.side),
  align: oneOf(["start", "center", "end"], DEFAULTS.datePicker.align),
};

/** The calendar opens inside the page: a floating one would be cut off at the frame's edge. */
function DatePicker(props: Props<typeof schema>) {
  const { locale } = useContext(StageContext);
  const field = useField(props.name, props.placeholder);
  const change = useTrigger("change", props.onChangeAction, toWords(props.name));
  const [value, setValue] = useChoice(props.defaultValue ?? "");
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const disabled = props.disabled || !change.possible;

  const choose = (next: string): void => {
    setValue(next);
    setOpen(false);
    button.current?.focus();
    change.fire(new Map([[props.name, next]]));
  };
  const words = value ? formatDay(value, locale, { dateStyle: "medium" }) : props.placeholder;
  return (
    <div class="field" {...field.listeners}>
      <div class={`date side-${props.side} align-${props.align}`}>
        <div class={`picker ${props.block ? "block" : ""}`}>
          <input type="hidden" name={props.name} value={value} disabled={disabled} />
          <button
            ref={button}
            type="button"
            {...look(props)}
            id={field.id}
            aria-expanded={open}
            data-empty={!value}
            {...change.mark}
            disabled={disabled}
            {...nameWith(field, words)}
            onClick={() => setOpen(!open)}
          >
            <span class="date-words">
              <span class="truncated">{words ?? "Choose a date"}</span>
              <Glyph name="calendar" />
            </span>
          </button>
          {props.clearable && value && !disabled ? (
            <ClearButton onPress={() => choose("")} />
          ) : (
            <Glyph name="chevron-down" class="picker-arrow" />
          )}
        </div>
        {open && <Calendar {...props} value={value} choose={choose} close={() => setOpen(false)} />}
      </div>
      {field.problem}
    </div>
  );
}

export const DATE_PICKER = component("DatePicker", schema, DatePicker);
