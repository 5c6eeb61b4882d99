/** The direction of a page: a language is written from the left or from the right. */

const FROM_THE_RIGHT = new Set(["Adlm", "Arab", "Hebr", "Mand", "Nkoo", "Rohg", "Syrc", "Thaa"]);

/** Returns the direction of a locale by its script, for browsers differ in what they tell of it. */
export function readDirection(locale: string): "ltr" | "rtl" {
  const { script } = new Intl.Locale(locale).maximize();
  return FROM_THE_RIGHT.has(script ?? "") ? "rtl" : "ltr";
}

export const ALIGNS = ["start", "center", "end"] as const;

/** An edge of the page, not of the words: English in an Arabic page ends a line where Arabic does. */
export const alignText = (edge: (typeof ALIGNS)[number] | undefined): string | undefined =>
  edge && EDGES[edge];

const EDGES = { start: "var(--start)", center: "center", end: "var(--end)" };
