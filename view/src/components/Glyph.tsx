import { h } from "preact";
import { useContext } from "preact/hooks";
import { StageContext } from "../app/stage";
import { findIcon } from "../style/icons";

/** One icon, as large as the text around it unless `class` or the stylesheet says otherwise. */
export function Glyph({ name, class: className = "" }: { name: string; class?: string }) {
  const { shapes, outlined, pointing } = findIcon(name, useContext(StageContext).icons);
  return (
    <svg
      class={`glyph ${outlined ? "outlined" : ""} ${pointing ? "pointing" : ""} ${className}`}
      viewBox="0 0 24 24"
      aria-hidden="true"
    >
      {shapes.map(([tag, attributes]) => h(tag, attributes))}
    </svg>
  );
}
