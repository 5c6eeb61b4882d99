import type { CSSProperties } from "preact";
import { useContext, useId, useState } from "preact/hooks";
import { StageContext } from "../app/stage";
import { useMeasure } from "../components/measure";
import { DEFAULTS } from "../defaults";
import { BLOCK, blockStyle } from "../style/block";
import { component, SurroundingsContext } from "../tree/component";
import { isObject, type JsonObject } from "../tree/node";
import { count, flag, listOf, type Props } from "../tree/read";
import { CategoryAxis, Grid, ValueAxis, widest } from "./axes";
import { DataTable, Legend, Tooltip } from "./legend";
import { Bars, Curve } from "./marks";
import { axis, buildChartModel, type ChartModel, series } from "./model";
import { bands, verticalScale } from "./scale";

const schema = {
  ...BLOCK,
  data: listOf<JsonObject>((row) => (isObject(row) ? row : undefined)),
  series: listOf(series),
  xAxis: axis,
  showYAxis: flag(DEFAULTS.chart.showYAxis),
  showLegend: flag(DEFAULTS.chart.showLegend),
  showTooltip: flag(DEFAULTS.chart.showTooltip),
  barGap: count(0),
  barCategoryGap: count(0),
};
type ChartProps = Props<typeof schema>;

const AXIS_HEIGHT_PX = 24;
const TOP_PX = 8;
const TICKS = 4;

function Chart(props: ChartProps) {
  const around = useContext(SurroundingsContext);
  const model = buildChartModel(props.data, props.series, props.xAxis, around);
  const block = blockStyle(props);
  const sized = block.height ?? block.minHeight ?? block.aspectRatio;
  const style: CSSProperties = {
    ...block,
    height: block.height ?? (sized ? undefined : DEFAULTS.chart.height),
  };
  const name = useId();
  return (
    <figure class="chart" style={style} aria-labelledby={name}>
      <figcaption class="hidden" id={name}>
        Chart of {model.series.map(({ label }) => label).join(", ")}
      </figcaption>
      <Plot {...props} model={model} />
      {props.showLegend && <Legend series={model.series} />}
      <DataTable model={model} />
    </figure>
  );
}

/** Fills the room there is, and says the values of the category under the pointer. */
function Plot(props: ChartProps & { model: ChartModel }) {
  const { locale } = useContext(StageContext);
  const [ref, size] = useMeasure(readSize, { width: 320, height: 200 });
  const [at, setAt] = useState<number>();
  const frame = makeFrame(props, size, locale);
  const { left, bands } = frame;
  const empty = props.model.series.every(({ values }) => values.every(isNothing));

  const follow = (event: PointerEvent): void => {
    const from = ref.current?.getBoundingClientRect().left ?? 0;
    setAt(Math.floor((event.clientX - from - left) / bands.step));
  };
  const hovered =
    props.showTooltip && !empty && at !== undefined && at in props.model.categories
      ? at
      : undefined;
  return (
    <div
      class="plot"
      ref={ref}
      onPointerMove={follow}
      onPointerDown={follow}
      onPointerLeave={() => setAt(undefined)}
    >
      {empty ? (
        <p class="no-data">No data</p>
      ) : (
        <svg width={size.width} height={size.height} aria-hidden="true">
          <g transform={`translate(${left},${TOP_PX})`}>
            <Drawing {...props} frame={frame} hovered={hovered} />
          </g>
        </svg>
      )}
      {hovered !== undefined && (
        <Tooltip
          model={props.model}
          at={hovered}
          x={left + (bands.centers[hovered] ?? 0)}
          room={size.width}
        />
      )}
    </div>
  );
}

const isNothing = (value: unknown) => value === undefined;

interface DrawingProps extends ChartProps {
  readonly model: ChartModel;
  readonly frame: Frame;
  readonly hovered: number | undefined;
}

/** Axes behind, bars above them, curves in front. */
function Drawing({ model, frame, hovered, ...props }: DrawingProps) {
  const { bands, y, width, height, format } = frame;
  const bars = model.series.filter(({ type }) => type === "bar");
  const curves = model.series.filter(({ type }) => type !== "bar");
  return (
    <>
      <Grid y={y} width={width} />
      {props.showYAxis && <ValueAxis y={y} format={format} />}
      {!props.xAxis?.hide && (
        <CategoryAxis step={bands.step} labels={model.categories} top={height + 18} />
      )}
      {hovered !== undefined && (
        <rect class="hover" x={bands.step * hovered} width={bands.step} height={height} />
      )}
      <Bars
        bands={bands}
        y={y}
        series={bars}
        gap={props.barGap ?? DEFAULTS.chart.barGap}
        categoryGap={props.barCategoryGap ?? DEFAULTS.chart.barCategoryGap}
      />
      {curves.map((each, index) => (
        <Curve key={index} series={each} bands={bands} y={y} />
      ))}
    </>
  );
}

type Frame = ReturnType<typeof makeFrame>;

function makeFrame(props: ChartProps & { model: ChartModel }, size: Size, locale: string) {
  const { model, showYAxis, xAxis } = props;
  const { format } = new Intl.NumberFormat(locale, {
    notation: "compact",
    maximumSignificantDigits: 3,
  });
  const height = Math.max(1, size.height - TOP_PX - (xAxis?.hide ? TOP_PX : AXIS_HEIGHT_PX));
  const y = verticalScale(model.low, model.high, height, TICKS);
  const left = showYAxis ? widest(y.ticks.map((tick) => format(tick))) + 12 : 0;
  const width = Math.max(1, size.width - left);
  return { left, width, height, bands: bands(model.categories.length, width), y, format };
}

type Size = ReturnType<typeof readSize>;

const readSize = ({ clientWidth: width, clientHeight: height }: Element) => ({ width, height });

export const CHART = component("Chart", schema, Chart);
