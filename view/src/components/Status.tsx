/** The line above a card or list that says what is going on. */

import { picture } from "../style/url";
import { isObject } from "../tree/node";
import { flag, optionalText, type Props, type Reader, record, text } from "../tree/read";
import { Glyph } from "./Glyph";

const statusRecord = record({
  text,
  icon: optionalText,
  favicon: picture,
  frame: flag(false),
});

export type StatusProps = Props<typeof statusRecord.schema>;

/** Reads a status; a bare text is one too. */
export const status = Object.assign(
  ((value, around) => {
    const given = statusRecord(isObject(value) ? value : { text: value }, around);
    return given?.text ? given : undefined;
  }) satisfies Reader<StatusProps | undefined>,
  { schema: statusRecord.schema },
);

export function Status({ text, icon, favicon, frame }: StatusProps) {
  return (
    <div class="status">
      {favicon && <img class={frame ? "favicon framed" : "favicon"} src={favicon} alt="" />}
      {!favicon && icon && <Glyph name={icon} />}
      <span>{text}</span>
    </div>
  );
}
