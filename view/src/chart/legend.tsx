/** The explanation of colours and places: legend, tooltip, and the same numbers as a table. */

import type { CSSProperties } from "preact";
import { useContext } from "preact/hooks";
import { StageContext } from "../app/stage";
import type { ChartModel, Series } from "./model";

const swatch = (color: string) => ({ "--swatch": color }) as CSSProperties;

export function Legend({ series }: { series: readonly Series[] }) {
  return (
    <ul class="legend" aria-hidden="true">
      {series.map(({ label, color }) => (
        <li key={label} style={swatch(color)}>
          {label}
        </li>
      ))}
    </ul>
  );
}

interface TooltipProps {
  readonly model: ChartModel;
  /** The category's index. */
  readonly at: number;
  /** Its middle and the whole width, in pixels. */
  readonly x: number;
  readonly room: number;
}

/** Stands beside its category, on the side where there is more room. */
export function Tooltip({ model, at, x, room }: TooltipProps) {
  const { locale } = useContext(StageContext);
  const style = x < room / 2 ? { left: `${x + 12}px` } : { right: `${room - x + 12}px` };
  return (
    <div class="tooltip" style={style} aria-hidden="true">
      <strong>{model.categories[at]}</strong>
      {model.series.map(({ label, color, values }) => (
        <div key={label} class="tooltip-row" style={swatch(color)}>
          <span>{label}</span>
          <span>{values[at]?.toLocaleString(locale) ?? "–"}</span>
        </div>
      ))}
    </div>
  );
}

/** The chart for those who cannot see it. */
export function DataTable({ model }: { model: ChartModel }) {
  const { locale } = useContext(StageContext);
  return (
    <table class="hidden">
      <thead>
        <tr>
          <td />
          {model.series.map(({ label }) => (
            <th key={label} scope="col">
              {label}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {model.categories.map((category, index) => (
          <tr>
            <th scope="row">{category}</th>
            {model.series.map(({ label, values }) => (
              <td key={label}>{values[index]?.toLocaleString(locale) ?? "–"}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
