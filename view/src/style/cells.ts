/** Numbers, amounts and days in columns, as the reader's locale writes them. */

import { formatDay } from "../form/dates";

export const FORMATS = ["text", "number", "date", "currency", "boolean"] as const;

const DAY = /^\d{4}-\d{2}-\d{2}(?=$|T)/;

/** Returns the value as it is where it is none of its column's. */
export function localise(
  value: string,
  format: (typeof FORMATS)[number] | undefined,
  currency: string,
  locale: string,
): string {
  try {
    if (format === "date") {
      const [day] = DAY.exec(value) ?? [];
      return day ? formatDay(day, locale, { dateStyle: "medium" }) : value;
    }
    const isNumber = value.trim() !== "" && Number.isFinite(Number(value));
    if (!isNumber || (format !== "number" && format !== "currency")) return value;
    const options: Intl.NumberFormatOptions =
      format === "currency" && currency
        ? { style: "currency", currency }
        : { maximumFractionDigits: 20 };
    return new Intl.NumberFormat(locale, options).format(Number(value));
  } catch {
    return value; // a day that does not exist, a currency that is no code
  }
}
