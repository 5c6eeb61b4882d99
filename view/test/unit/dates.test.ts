import { expect, test } from "vitest";
import { addDays, addMonths, firstWeekday, listWeeks, readDay } from "../../src/form/dates";
import { toWords } from "../../src/form/field";

test.each([
  ["2026-01-26", "2026-01-26"],
  ["2026-01-26T23:30:00-08:00", "2026-01-26"],
  ["2026-13-01", undefined],
  ["soon", undefined],
  [undefined, undefined],
])("the day of %j is %j", (value, day) => {
  expect(readDay(value)).toBe(day);
});

test("days and months are counted over their ends", () => {
  expect(addDays("2026-02-28", 1)).toBe("2026-03-01");
  expect(addDays("2026-01-01", -1)).toBe("2025-12-31");
  expect(addMonths("2026-01-31", 1)).toBe("2026-02-28");
  expect(addMonths("2026-03-31", -13)).toBe("2025-02-28");
});

test("a month shows whole weeks, from the locale's first weekday", () => {
  const weeks = listWeeks("2026-02-10", 1);
  expect(weeks[0]?.[0]).toBe("2026-01-26");
  expect(weeks.at(-1)?.at(-1)).toBe("2026-03-01");
  expect(weeks.every((week) => week.length === 7)).toBe(true);
});

test("the week starts as the locale has it", () => {
  expect(firstWeekday("de")).toBe(1);
  expect(firstWeekday("en-US")).toBe(0);
});

test.each([
  ["task.dueDate", "Due date"],
  ["first_name", "First name"],
  ["email", "Email"],
])("the field %j is called %j", (name, words) => {
  expect(toWords(name)).toBe(words);
});
