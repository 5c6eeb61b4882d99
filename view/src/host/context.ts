/** The host's description of the view's surroundings. */

import { asObject, isObject, type JsonObject } from "../tree/node";
import { number, oneOf, optionalText, readProps } from "../tree/read";

export type HostContext = ReturnType<typeof readContext>;

const inset = (value: unknown): number => Math.max(0, number(value, AROUND) ?? 0);
const AROUND = { theme: "light" } as const;
const INSETS = { top: inset, right: inset, bottom: inset, left: inset };
const theme = oneOf(["light", "dark"], undefined);

/** Reads a host context; what a host leaves out has a plain default. */
export function readContext(context: JsonObject) {
  const tool = at(context, "toolInfo", "tool");
  return {
    theme: theme(context.theme, AROUND),
    locale: canonicalize(optionalText(context.locale, AROUND)),
    displayMode: optionalText(context.displayMode, AROUND) ?? "inline",
    /** Style variables, by name. */
    variables: at(context, "styles", "variables"),
    title: optionalText(at(tool, "title") ?? at(tool, "name"), AROUND),
    /** The host's name of the tool whose result is shown. */
    tool: optionalText(at(tool, "name"), AROUND),
    insets: readProps(INSETS, asObject(context.safeAreaInsets), AROUND),
  };
}

export function at(value: unknown, ...path: readonly string[]): unknown {
  return path.reduce((inner, key) => (isObject(inner) ? inner[key] : undefined), value);
}

/** A locale that `Intl` refuses would break every number. */
function canonicalize(locale: string | undefined): string | undefined {
  try {
    return locale && Intl.getCanonicalLocales(locale)[0];
  } catch {
    return undefined;
  }
}
