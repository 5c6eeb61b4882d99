/** The frame of a card or list, and the line above it that says what is going on. */

import type { ComponentChildren, CSSProperties } from "preact";
import { picture } from "../style/url";
import { flag, oneOf, optionalText, type Props, record, text } from "../tree/read";
import { Glyph } from "./Glyph";
import { THEMES, Themed } from "./layout";

/** Reads a status; a bare text is one too. */
export const status = record(
  { text, icon: optionalText, favicon: picture, frame: flag(false) },
  { short: "text", needed: "text" },
);

export const FRAME = { status, theme: oneOf(THEMES, undefined) };

interface FrameProps extends Props<typeof FRAME> {
  readonly widest: string;
  readonly children?: ComponentChildren;
}

export function Frame({ status, theme, widest, children }: FrameProps) {
  const style = { "--widest": widest } as CSSProperties;
  return (
    <Themed theme={theme}>
      <div class="framed-root" data-theme={theme} style={style}>
        {status && <Status {...status} />}
        {children}
      </div>
    </Themed>
  );
}

function Status({ text, icon, favicon, frame }: Props<typeof status.schema>) {
  return (
    <div class="status">
      {favicon && <img class={frame ? "favicon framed" : "favicon"} src={favicon} alt="" />}
      {!favicon && icon && <Glyph name={icon} />}
      <span>{text}</span>
    </div>
  );
}
