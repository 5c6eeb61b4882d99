/** One month of days to choose from, walked by the arrow keys. */

import { useContext, useLayoutEffect, useRef, useState } from "preact/hooks";
import { StageContext } from "../app/stage";
import {
  addDays,
  addMonths,
  type Day,
  firstWeekday,
  formatDay,
  listWeeks,
  today,
} from "../form/dates";
import { readDirection } from "../style/direction";
import { Glyph } from "./Glyph";

interface CalendarProps {
  readonly value: Day;
  readonly min: Day | undefined;
  readonly max: Day | undefined;
  choose(day: Day): void;
  close(): void;
}

export function Calendar({ value, min, max, choose, close }: CalendarProps) {
  const { locale } = useContext(StageContext);
  const within = (day: Day): Day => (min && day < min ? min : max && day > max ? max : day);
  const [at, setAt] = useState(within(value || today()));
  const grid = useRef<HTMLTableElement>(null);
  const follow = useRef(true);
  // The focus follows the arrow keys, and stays on the month buttons when those are pressed.
  useLayoutEffect(() => {
    if (follow.current) focusDay(grid.current, at);
    follow.current = false;
  }, [at]);

  const onKeyDown = (event: KeyboardEvent): void => {
    const move = MOVES[mirrorArrow(event.key, locale)];
    if (event.key === "Escape") close();
    else if (move) {
      follow.current = true;
      setAt(within(move(at)));
    } else return;
    event.preventDefault();
  };
  const turn = (months: number): void => setAt(within(addMonths(at, months)));
  const weeks = listWeeks(at, firstWeekday(locale));
  return (
    <div class="calendar" role="group" aria-label="Calendar" onKeyDown={onKeyDown}>
      <div class="calendar-head">
        <MonthButton name="chevron-left" label="Previous month" onPress={() => turn(-1)} />
        <span aria-live="polite">{formatDay(at, locale, { month: "long", year: "numeric" })}</span>
        <MonthButton name="chevron-right" label="Next month" onPress={() => turn(1)} />
      </div>
      <table ref={grid}>
        <thead>
          <tr>
            {weeks[0]?.map((day) => (
              <th key={day} scope="col" abbr={formatDay(day, locale, { weekday: "long" })}>
                {formatDay(day, locale, { weekday: "narrow" })}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week[0]}>
              {week.map((day) => (
                <td key={day}>
                  <DayButton
                    day={day}
                    at={at}
                    chosen={day === value}
                    disabled={day !== within(day)}
                    onPress={() => choose(day)}
                  />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface DayProps {
  readonly day: Day;
  /** The day at which the arrow keys are; its month is shown. */
  readonly at: Day;
  readonly chosen: boolean;
  readonly disabled: boolean;
  onPress(): void;
}

function DayButton({ day, at, chosen, disabled, onPress }: DayProps) {
  const { locale } = useContext(StageContext);
  return (
    <button
      type="button"
      class={day.slice(0, 7) === at.slice(0, 7) ? "day" : "day outside"}
      tabIndex={day === at ? 0 : -1}
      data-day={day}
      aria-label={formatDay(day, locale, { dateStyle: "full" })}
      aria-pressed={chosen}
      aria-current={day === today() ? "date" : undefined}
      disabled={disabled}
      onClick={onPress}
    >
      {Number(day.slice(8))}
    </button>
  );
}

function MonthButton(props: { name: string; label: string; onPress(): void }) {
  return (
    <button type="button" class="month" aria-label={props.label} onClick={props.onPress}>
      <Glyph name={props.name} />
    </button>
  );
}

function focusDay(grid: HTMLElement | null, day: Day): void {
  grid?.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus({ preventScroll: true });
}

/** Returns the direction of an arrow key; lines that run from the right reverse it. */
function mirrorArrow(key: string, locale: string): string {
  if (readDirection(locale) === "ltr") return key;
  return { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft" }[key] ?? key;
}

const MOVES: Record<string, (day: Day) => Day> = {
  ArrowLeft: (day) => addDays(day, -1),
  ArrowRight: (day) => addDays(day, 1),
  ArrowUp: (day) => addDays(day, -7),
  ArrowDown: (day) => addDays(day, 7),
  PageUp: (day) => addMonths(day, -1),
  PageDown: (day) => addMonths(day, 1),
};
