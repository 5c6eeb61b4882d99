/** Table, with its rows and cells: known to ChatKit's TypeScript types only. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { sides } from "../style/box";
import { aligned } from "../style/direction";
import { insets, pixels } from "../style/units";
import { component } from "../tree/component";
import { Nodes } from "../tree/Nodes";
import { count, flag, nodes, oneOf, type Props } from "../tree/read";

const ALIGNS = ["start", "center", "end"] as const;
const VERTICAL = { start: "top", center: "middle", end: "bottom" } as const;
/** As shares of the table's width. */
const COLUMN_SIZES = { xs: "10%", sm: "20%", md: "30%", lg: "40%", xl: "60%" } as const;

const tableSchema = { children: nodes };
const rowSchema = { children: nodes, header: flag(false) };
const cellSchema = {
  children: nodes,
  width: pixels,
  padding: insets,
  colSpan: count(1),
  rowSpan: count(1),
  align: oneOf(ALIGNS, undefined),
  vAlign: oneOf(ALIGNS, "center"),
  colSize: oneOf(["xs", "sm", "md", "lg", "xl"], undefined),
};

const HeaderContext = createContext(false);

function Table({ children }: Props<typeof tableSchema>) {
  const heads = children.filter(({ header }) => header === true);
  const rows = children.filter(({ header }) => header !== true);
  return (
    <div class="table-scroll">
      <table class="table">
        {heads.length > 0 && (
          <thead>
            <Nodes of={heads} />
          </thead>
        )}
        <tbody>
          <Nodes of={rows} />
        </tbody>
      </table>
    </div>
  );
}

function Row({ children, header }: Props<typeof rowSchema>) {
  return (
    <HeaderContext.Provider value={header}>
      <tr>
        <Nodes of={children} />
      </tr>
    </HeaderContext.Provider>
  );
}

function Cell(props: Props<typeof cellSchema>) {
  const Tag = useContext(HeaderContext) ? "th" : "td";
  const style = {
    width: props.width ?? (props.colSize && COLUMN_SIZES[props.colSize]),
    textAlign: aligned(props.align),
    "--cell-justify": props.align,
    verticalAlign: VERTICAL[props.vAlign],
    ...sides("padding", props.padding),
  };
  return (
    <Tag
      style={style as never}
      colSpan={props.colSpan}
      rowSpan={props.rowSpan}
      {...(Tag === "th" && { scope: "col" })}
    >
      <Nodes of={props.children} />
    </Tag>
  );
}

export const TABLE = [
  component("Table", tableSchema, Table),
  component("Table.Row", rowSchema, Row),
  component("Table.Cell", cellSchema, Cell),
];
