/** Calendar days as `YYYY-MM-DD`, counted in UTC so that no time zone shifts them. */

export type Day = string;

const DAY_MS = 86_400_000;

/** Returns the day of an ISO date or datetime, `undefined` if it is none. */
export function readDay(value: string | undefined): Day | undefined {
  const day = value?.slice(0, 10) ?? "";
  return /^\d{4}-\d{2}-\d{2}$/.test(day) && !Number.isNaN(Date.parse(day)) ? day : undefined;
}

const makeDay = (utc_ms: number): Day => new Date(utc_ms).toISOString().slice(0, 10);

export function today(): Day {
  const now = new Date();
  return makeDay(Date.UTC(now.getFullYear(), now.getMonth(), now.getDate()));
}

export const addDays = (day: Day, count: number) => makeDay(Date.parse(day) + count * DAY_MS);

/** Returns the same day of another month, or that month's last day. */
export function addMonths(day: Day, count: number): Day {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  const last = new Date(Date.UTC(year, month - 1 + count + 1, 0)).getUTCDate();
  return makeDay(Date.UTC(year, month - 1 + count, Math.min(date, last)));
}

/** Returns the weeks that show a day's month, each of seven days from `firstWeekday` (0 is Sunday). */
export function listWeeks(day: Day, firstWeekday: number): Day[][] {
  const first = `${day.slice(0, 8)}01`;
  const lead = (new Date(first).getUTCDay() - firstWeekday + 7) % 7;
  const last = addDays(addMonths(first, 1), -1);
  const weeks: Day[][] = [];
  for (let start = addDays(first, -lead); start <= last; start = addDays(start, 7)) {
    weeks.push(Array.from({ length: 7 }, (_, index) => addDays(start, index)));
  }
  return weeks;
}

/** Returns the locale's first weekday; browsers that do not know it say Sunday. */
export function firstWeekday(locale: string): number {
  type WeekInfo = { readonly firstDay: number };
  const known = new Intl.Locale(locale) as Intl.Locale & {
    readonly weekInfo?: WeekInfo;
    getWeekInfo?(): WeekInfo;
  };
  const { firstDay = 7 } = known.getWeekInfo?.() ?? known.weekInfo ?? {};
  return firstDay % 7;
}

export function formatDay(day: Day, locale: string, options: Intl.DateTimeFormatOptions): string {
  return new Intl.DateTimeFormat(locale, { ...options, timeZone: "UTC" }).format(new Date(day));
}
