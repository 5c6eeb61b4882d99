/** Text that can be edited in place. */

import type { CSSProperties } from "preact";
import { useRef } from "preact/hooks";
import { TYPED, useEntry } from "../form/entry";
import { useField } from "../form/field";
import { optionalText, type Props, record } from "../tree/read";

export const editable = record({ ...TYPED, autoComplete: optionalText });

type EditableProps = Props<typeof editable.schema> & {
  readonly value: string;
  readonly lines: number;
  readonly class: string;
  readonly style: CSSProperties;
};

/** A textarea, because a long title wraps; with one line, Enter submits instead of breaking it. */
export function EditableText(props: EditableProps) {
  const { width, ...style } = props.style;
  const ref = useRef<HTMLTextAreaElement>(null);
  const field = useField(props.name, props.placeholder);
  const entry = useEntry(ref, { ...props, grows: true, maxRows: undefined });
  return (
    <div class="field editable" style={{ width, flex: width && "0 1 auto" }} {...field.listeners}>
      <textarea
        ref={ref}
        id={field.id}
        name={props.name}
        class={props.class}
        style={style}
        rows={1}
        data-lines={props.lines}
        defaultValue={props.value}
        placeholder={props.placeholder}
        dir="auto"
        required={props.required}
        {...field.attributes}
        {...entry}
      />
      {field.problem}
    </div>
  );
}
