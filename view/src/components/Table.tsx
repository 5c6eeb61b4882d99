/** Table, with its rows and cells: known to ChatKit's TypeScript types only. */

import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { StageContext } from "../app/stage";
import { sides } from "../style/box";
import { FORMATS, localise } from "../style/cells";
import { ALIGNS, alignText } from "../style/direction";
import { insets, pixels } from "../style/units";
import { component } from "../tree/component";
import { Nodes } from "../tree/Nodes";
import { count, flag, nodes, oneOf, type Props, text } from "../tree/read";
import { useMeasure } from "./measure";

const VERTICAL = { start: "top", center: "middle", end: "bottom" } as const;
/** Shares of the table's width. */
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
  format: oneOf(FORMATS, undefined),
  currency: text,
};

const HeaderContext = createContext(false);

function Table({ children }: Props<typeof tableSchema>) {
  const heads = children.filter(({ header }) => header === true);
  const rows = children.filter(({ header }) => header !== true);
  const [scroller, hidden] = useMeasure(findHidden, { before: false, after: false });
  return (
    <div
      ref={scroller}
      class="table-scroll"
      data-before={hidden.before || undefined}
      data-after={hidden.after || undefined}
      {...((hidden.before || hidden.after) && {
        tabIndex: 0,
        role: "region",
        "aria-label": "Table",
      })}
    >
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

/** Tells beyond which edges of a scroller there is more of its content. */
function findHidden({ scrollLeft, scrollWidth, clientWidth }: Element) {
  // Scrolled to the right is positive, and to the left, where lines begin at the right, negative.
  const before = Math.abs(scrollLeft);
  return { before: before > 1, after: scrollWidth - clientWidth - before > 1 };
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
  const { locale } = useContext(StageContext);
  const { format, currency } = props;
  const children = props.children.map((node) =>
    format && typeof node.value === "string"
      ? { ...node, value: localise(node.value, format, currency, locale) }
      : node,
  );
  const Tag = useContext(HeaderContext) ? "th" : "td";
  const style = {
    width: props.width ?? (props.colSize && COLUMN_SIZES[props.colSize]),
    textAlign: alignText(props.align),
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
      <Nodes of={children} />
    </Tag>
  );
}

export const TABLE = [
  component("Table", tableSchema, Table),
  component("Table.Row", rowSchema, Row),
  component("Table.Cell", cellSchema, Cell),
];
