import type { CSSProperties } from "preact";
import { useContext, useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { StageContext } from "../app/stage";
import { DEFAULTS } from "../defaults";
import { BLOCK, blockStyle } from "../style/block";
import { component, SurroundingsContext } from "../tree/component";
import { isObject, type JsonObject } from "../tree/node";
import { count, flag, listOf, type Props } from "../tree/read";
import { CategoryAxis, Grid, ValueAxis, widest } from "./axes";
import { DataTable, Legend, Tooltip } from "./legend";
import { Bars, Curve } from "./marks";
import { axis, type ChartModel, chartModel, series } from "./model";
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
  const model = chartModel(props.data, props.series, props.xAxis, useContext(SurroundingsContext));
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

/** The drawing itself, as wide and as high as the room it finds. */
function Plot(props: ChartProps & { model: ChartModel }) {
  const { model } = props;
  const { locale } = useContext(StageContext);
  const [ref, size] = useSize();
  const [at, setAt] = useState<number>();
  const format = (value: number) =>
    new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 1 }).format(value);

  const foot = props.xAxis.hide ? TOP_PX : AXIS_HEIGHT_PX;
  const height = Math.max(1, size.height - TOP_PX - foot);
  const y = verticalScale(model.low, model.high, height, TICKS);
  const left = props.showYAxis ? widest(y.ticks.map(format)) + 12 : 0;
  const width = Math.max(1, size.width - left);
  const plane = { bands: bands(model.categories.length, width), y };
  const bars = model.series.filter(({ type }) => type === "bar");
  const curves = model.series.filter(({ type }) => type !== "bar");

  const follow = (event: PointerEvent): void => {
    const from = ref.current?.getBoundingClientRect().left ?? 0;
    setAt(Math.floor((event.clientX - from - left) / plane.bands.step));
  };
  const shown = props.showTooltip && at !== undefined && at in model.categories ? at : undefined;
  return (
    <div
      class="plot"
      ref={ref}
      onPointerMove={follow}
      onPointerDown={follow}
      onPointerLeave={() => setAt(undefined)}
    >
      <svg width={size.width} height={size.height} aria-hidden="true">
        <g transform={`translate(${left},${TOP_PX})`}>
          <Grid y={y} width={width} />
          {props.showYAxis && <ValueAxis y={y} format={format} />}
          {!props.xAxis.hide && (
            <CategoryAxis bands={plane.bands} labels={model.categories} top={height + 18} />
          )}
          {shown !== undefined && (
            <rect
              class="hover"
              x={plane.bands.step * shown}
              width={plane.bands.step}
              height={height}
            />
          )}
          <Bars
            {...plane}
            series={bars}
            gap={props.barGap ?? DEFAULTS.chart.barGap}
            categoryGap={props.barCategoryGap ?? DEFAULTS.chart.barCategoryGap}
          />
          {curves.map((each) => (
            <Curve key={each.label} series={each} {...plane} />
          ))}
        </g>
      </svg>
      {shown !== undefined && (
        <Tooltip
          model={model}
          at={shown}
          x={left + (plane.bands.centers[shown] ?? 0)}
          room={size.width}
        />
      )}
    </div>
  );
}

/** Measures an element before it is painted, and again whenever it changes. */
function useSize() {
  const ref = useRef<HTMLDivElement>(null);
  const [size, setSize] = useState({ width: 320, height: 200 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = (): void => {
      const { clientWidth: width, clientHeight: height } = element;
      setSize((old) => (old.width === width && old.height === height ? old : { width, height }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [ref, size] as const;
}

export const CHART = component("Chart", schema, Chart);
