/** The colours of buttons and badges: a semantic colour in a variant. */

import type { CSSProperties } from "preact";

/** Returns the custom properties that style a control: `--bg`, `--bg-hover`, `--fg`, `--edge`. */
export function tone(color: string, variant: string): CSSProperties {
  const name = (role: string, state = "") => `--color-${role}-${color}-${variant}${state}`;
  const soft = variant === "soft";
  const filled = (state: string) =>
    `var(--color-background-${color}-${soft ? "soft-alpha" : variant}${state})`;
  return {
    "--bg": variant === "solid" || soft ? filled("") : "transparent",
    "--bg-hover": filled("-hover"),
    // Where a colour has none, it is that of hovering.
    "--bg-active": filled("-active").replace(")", `, ${filled("-hover")})`),
    // Those of `ghost` are those of `outline`.
    "--fg": `var(${name("text").replace("ghost", "outline")})`,
    "--edge": variant === "outline" ? `var(${name("border")})` : "transparent",
  } as CSSProperties;
}
