import { expect, test } from "vitest";
import { draw } from "./draw";

const cell = (value: string, more: object, locale = "de-DE") =>
  draw({ type: "Table.Cell", children: [{ type: "Text", value }], ...more }, { locale })
    .replace(/<[^>]*>/g, "")
    .replace(/\s/g, " ");

test.each([
  ["a number", "1234.5", { format: "number" }, "1.234,5"],
  ["a number to its last digit", "0.123456789", { format: "number" }, "0,123456789"],
  ["an amount", "1234.5", { format: "currency", currency: "EUR" }, "1.234,50 €"],
  ["an amount in yen", "1234", { format: "currency", currency: "JPY" }, "1.234 ¥"],
  ["an amount without a currency", "1234.5", { format: "currency" }, "1.234,5"],
  ["a day", "2026-03-24", { format: "date" }, "24.03.2026"],
  ["a moment", "2026-03-24T09:00:00Z", { format: "date" }, "24.03.2026"],
])("%s is written as the reader's locale has it", (_case, value, more, words) => {
  expect(cell(value, more)).toBe(words);
});

test.each([
  ["no number", "–", { format: "number" }],
  ["a day that does not exist", "2026-13-45", { format: "date" }],
  ["a currency that is no code", "12", { format: "currency", currency: "crowns" }],
  ["a text", "1234.5", { format: "text" }],
  ["a number in a column of no type", "1234.5", {}],
])("%s stays as it is", (_case, value, more) => {
  expect(cell(value, more)).toBe(value);
});
