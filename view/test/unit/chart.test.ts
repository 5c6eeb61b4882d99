import { expect, test } from "vitest";
import { placeLabels, stride } from "../../src/chart/axes";
import { bar } from "../../src/chart/marks";
import { axis, buildChartModel, type SeriesProps, series } from "../../src/chart/model";
import { bands, verticalScale } from "../../src/chart/scale";

const AROUND = { theme: "light" } as const;

function model(rows: Record<string, unknown>[], ...given: unknown[]) {
  const all = given.flatMap((each) => series(each, AROUND) ?? []) as SeriesProps[];
  return buildChartModel(rows, all, axis({ dataKey: "x", labels: { a: "First" } }, AROUND), AROUND);
}

test("series of one stack pile up, others do not", () => {
  const { series, high } = model(
    [{ x: "a", v: 2, w: 3, u: 4 }],
    { type: "bar", dataKey: "v", stack: "s" },
    { type: "bar", dataKey: "w", stack: "s" },
    { type: "line", dataKey: "u" },
  );
  expect(series.map(({ extents }) => extents[0])).toEqual([
    [0, 2],
    [2, 5],
    [0, 4],
  ]);
  expect(high).toBe(5);
});

test("negative values pile up downwards", () => {
  const { series, low, high } = model(
    [{ x: "a", v: -2, w: 3, u: -1 }],
    ...["v", "w", "u"].map((dataKey) => ({ type: "bar", dataKey, stack: "s" })),
  );
  expect(series.map(({ extents }) => extents[0])).toEqual([
    [0, -2],
    [0, 3],
    [-2, -3],
  ]);
  expect([low, high]).toEqual([-3, 3]);
});

test("a value that is missing or no number leaves a gap, one in quotes counts", () => {
  const { series } = model([{ x: "a" }, { x: "b", v: "n/a" }, { x: "c", v: "7" }], {
    type: "line",
    dataKey: "v",
  });
  expect(series[0]?.extents).toEqual([null, null, [0, 7]]);
});

test("series without a colour take the palette in turn", () => {
  const { series } = model(
    [],
    { type: "bar", dataKey: "v" },
    { type: "bar", dataKey: "w", color: "pink" },
    { type: "bar", dataKey: "u" },
  );
  expect(series.map(({ color }) => color)).toEqual([
    "var(--blue-400)",
    "var(--pink-400)",
    "var(--orange-400)",
  ]);
});

test("an axis may rename its categories", () => {
  expect(model([{ x: "a" }, { x: "b" }]).categories).toEqual(["First", "b"]);
});

test.each([
  [0, 2800, [0, 1000, 2000, 3000]],
  [0, 0.7, [0, 0.2, 0.4, 0.6, 0.8]],
  [-5, 12, [-5, 0, 5, 10, 15]],
  [0, 0, [0, 0.25, 0.5, 0.75, 1]],
])("from %d to %d the ticks are %j", (low, high, ticks) => {
  expect(verticalScale(low, high, 100, 4).ticks).toEqual(ticks);
});

test("the scale turns upside down: the highest tick is at the top", () => {
  const y = verticalScale(0, 100, 200, 4);
  expect([y(0), y(50), y(100)]).toEqual([200, 100, 0]);
});

test("a bar has round corners where it ends, up or down", () => {
  expect(bar(0, 20, 100, 40, true)).toBe("M0,100V44Q0,40 4,40H16Q20,40 20,44V100Z");
  expect(bar(0, 20, 100, 140, true)).toBe("M0,100V136Q0,140 4,140H16Q20,140 20,136V100Z");
  expect(bar(0, 20, 100, 40, false)).toBe("M0,100V40Q0,40 0,40H20Q20,40 20,40V100Z");
});

test("labels that have no room are left out evenly", () => {
  expect(stride(["Jan", "Feb"], 60)).toBe(1);
  expect(stride(["January", "February"], 20)).toBe(3);
  expect(bands(4, 100).centers).toEqual([12.5, 37.5, 62.5, 87.5]);
});

const DAYS = Array.from({ length: 30 }, (_, day) => `2026-03-${String(day + 1).padStart(2, "0")}`);
test.each([
  ["short ones", ["W11", "W12", "W13", "W14", "W15", "W16"]],
  ["days", DAYS],
  ["long ones", DAYS.map((day) => `${day} and what was noted on it`)],
  ["some longer than others", DAYS.map((day, index) => (index % 3 ? day : `${day}, a Sunday`))],
])("no label of a chart touches the next or leaves the plot: %s", (_what, labels) => {
  for (const width of [120, 256, 336, 700]) {
    const found = placeLabels(labels, width / labels.length);
    expect(found.length).toBeGreaterThan(0);
    let from = 0;
    for (const label of found) {
      expect(label.x - label.width / 2).toBeGreaterThanOrEqual(from);
      from = label.x + label.width / 2 + 8;
    }
    expect(from - 8).toBeLessThanOrEqual(width);
    expect(found[0]?.words.slice(0, 2)).toBe(labels[0]?.slice(0, 2));
  }
});

test("labels that have room at all are fewer at an edge, not cut", () => {
  const words = placeLabels(DAYS, 256 / DAYS.length).map((label) => label.words);
  expect(words.length).toBeGreaterThan(1);
  for (const each of words) expect(DAYS).toContain(each);
});
