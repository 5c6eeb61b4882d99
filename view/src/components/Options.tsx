/** A list of options to choose from, searched by typing and walked by the arrow keys. */

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { Glyph } from "./Glyph";
import type { SelectOption } from "./Select";

interface OptionsProps {
  readonly id: string;
  readonly options: readonly SelectOption[];
  readonly value: string;
  readonly searched: boolean;
  choose(value: string): void;
  close(): void;
}

export function Options(props: OptionsProps) {
  const [query, setQuery] = useState("");
  const shown = props.options.filter((option) => matches(option, query));
  const start = shown.findIndex(({ value }) => value === props.value);
  const [active, setActive] = useState(Math.max(0, start));
  const current = shown[Math.min(active, shown.length - 1)];
  const entry = useRef<HTMLInputElement>(null);
  // Before the next key: one typed in between would go to the button, and a space would close the list.
  useLayoutEffect(() => entry.current?.focus({ preventScroll: true }), []);

  const onKeyDown = (event: KeyboardEvent): void => {
    const to = MOVES[event.key]?.(active, shown.length - 1);
    if (to !== undefined) setActive(Math.max(0, Math.min(to, shown.length - 1)));
    else if (event.key === "Escape") props.close();
    else if (event.key === "Enter") current && !current.disabled && props.choose(current.value);
    else return;
    event.preventDefault();
  };
  return (
    <div class="options">
      <input
        ref={entry}
        class={props.searched ? "control control-sm soft block" : "hidden"}
        role="combobox"
        aria-label="Search options"
        aria-expanded="true"
        aria-controls={props.id}
        aria-activedescendant={current && optionId(props.id, current)}
        readOnly={!props.searched}
        placeholder="Search"
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setActive(0);
        }}
        onKeyDown={onKeyDown}
      />
      <div role="listbox" id={props.id} aria-label="Options" class="option-list">
        {shown.map((option) => (
          // Reached by pointer, or through the search field's keys: it takes no focus of its own.
          // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are heard by the search field
          <div
            key={option.value}
            id={optionId(props.id, option)}
            role="option"
            tabIndex={-1}
            class={option === current ? "option active" : "option"}
            aria-selected={option.value === props.value}
            aria-disabled={option.disabled || undefined}
            onPointerDown={(event) => event.preventDefault()}
            onClick={() => !option.disabled && props.choose(option.value)}
          >
            <span class="option-text">
              <span>{option.label}</span>
              {option.description && <span class="option-description">{option.description}</span>}
            </span>
            {option.value === props.value && <Glyph name="check" />}
          </div>
        ))}
      </div>
      {shown.length === 0 && <p class="no-options">No matches</p>}
    </div>
  );
}

const MOVES: Record<string, (at: number, last: number) => number> = {
  ArrowDown: (at) => at + 1,
  ArrowUp: (at) => at - 1,
  Home: () => 0,
  End: (_at, last) => last,
};

const optionId = (id: string, option: SelectOption) => `${id}-${option.value.replace(/\s+/g, "_")}`;

function matches({ label, description }: SelectOption, query: string): boolean {
  return `${label} ${description ?? ""}`.toLowerCase().includes(query.trim().toLowerCase());
}
