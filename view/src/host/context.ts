/** The host's description of the view's surroundings. */

import { isObject, type JsonObject } from "../tree/node";
import { number, oneOf, optionalText, record, type Theme } from "../tree/read";

export interface HostContext {
  readonly theme: Theme | undefined;
  readonly locale: string | undefined;
  readonly displayMode: string;
  /** Style variables, by name. */
  readonly variables: unknown;
  readonly title: string | undefined;
  /** The host's name of the tool whose result is shown. */
  readonly tool: string | undefined;
  readonly insets: {
    readonly top: number;
    readonly right: number;
    readonly bottom: number;
    readonly left: number;
  };
}

const inset = (value: unknown): number => Math.max(0, number(value, AROUND) ?? 0);
const AROUND = { theme: "light" } as const;
const insets = record({ top: inset, right: inset, bottom: inset, left: inset });
const theme = oneOf(["light", "dark"], undefined);

/** Reads a host context; what a host leaves out has a plain default. */
export function readContext(context: JsonObject): HostContext {
  return {
    theme: theme(context.theme, AROUND),
    locale: canonicalize(optionalText(context.locale, AROUND)),
    displayMode: optionalText(context.displayMode, AROUND) ?? "inline",
    variables: at(context, "styles", "variables"),
    title: optionalText(
      at(context, "toolInfo", "tool", "title") ?? at(context, "toolInfo", "tool", "name"),
      AROUND,
    ),
    tool: optionalText(at(context, "toolInfo", "tool", "name"), AROUND),
    insets: insets(context.safeAreaInsets ?? {}, AROUND) ?? NO_INSETS,
  };
}

const NO_INSETS = { top: 0, right: 0, bottom: 0, left: 0 };

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
