import { expect, test } from "vitest";
import { action } from "../../src/actions/action";
import { CURVE_NAMES } from "../../src/chart/curves";
import { axis, series } from "../../src/chart/model";
import { editable } from "../../src/components/EditableText";
import { REGISTRY } from "../../src/components/registry";
import { status } from "../../src/components/Status";
import { border } from "../../src/style/border";
import { findIcon } from "../../src/style/icons";
import { insets } from "../../src/style/units";
import type { Schema } from "../../src/tree/read";
import vocabulary from "../../vocabulary.json";
import { draw } from "./draw";
import { BASE, BEHAVIOUR, SAMPLES } from "./samples";

type Declared = Record<string, Record<string, string[]>>;
const components = vocabulary.components as Declared;
const records = vocabulary.records as Declared;

const properties = Object.entries(components).flatMap(([type, declared]) =>
  Object.entries(declared).map(([name, values]) => ({ type, name, values })),
);

/** The schema of each record; those of options and card actions are found in their component. */
const READ_BY: Record<string, Schema> = {
  ActionConfig: action.schema,
  AreaSeries: series.schema,
  BarSeries: series.schema,
  Border: border.edge,
  Borders: border.schema,
  EditableProps: editable.schema,
  LineSeries: series.schema,
  Spacing: insets.schema,
  WidgetStatusWithFavicon: status.schema,
  WidgetStatusWithIcon: status.schema,
  XAxisConfig: axis.schema,
  CardAction: findSchema("Card", "confirm"),
  RadioOption: findSchema("RadioGroup", "options"),
  SelectOption: findSchema("Select", "options"),
};

type Nested = { schema: Schema } | { of: { schema: Schema } };

function findSchema(type: string, property: string): Schema {
  const reader = REGISTRY.get(type)?.schema[property] as unknown as Nested;
  return "of" in reader ? reader.of.schema : reader.schema;
}

test("every component of chatkit is drawn", () => {
  expect([...REGISTRY.keys()]).toEqual(expect.arrayContaining(Object.keys(components)));
});

test.each(properties)("$type reads $name", ({ type, name }) => {
  expect(Object.keys(REGISTRY.get(type)?.schema ?? {})).toContain(name);
});

test.each(Object.keys(records))("every property of the record %s is read", (name) => {
  const read = Object.keys(READ_BY[name] ?? {});
  const ofSeries = name.endsWith("Series") ? ["type"] : [];
  expect([...read, ...ofSeries]).toEqual(expect.arrayContaining(Object.keys(records[name] ?? {})));
});

test.each(properties.filter(({ values }) => values.length > 1 && values[0] !== "icon"))(
  "$type.$name: each of its values looks different",
  ({ type, name, values }) => {
    const drawn = values.map((value) =>
      draw({ type, ...BASE[type], ...themed(name), [name]: value }),
    );
    expect(new Set(drawn).size).toBe(new Set(values).size);
  },
);

/** A theme shows in what is coloured by theme. */
const themed = (name: string) =>
  name === "theme"
    ? { children: [{ type: "Text", value: "x", color: { light: "red", dark: "blue" } }] }
    : {};

test.each(
  properties.filter(
    ({ type, name, values }) => values.length < 2 && !(`${type}.${name}` in BEHAVIOUR),
  ),
)("$type.$name changes what is drawn", ({ type, name }) => {
  const [one, other] = SAMPLES[`${type}.${name}`] ?? SAMPLES[name] ?? [];
  const picture = (value: unknown) => draw({ type, ...BASE[type], [name]: value });
  expect(picture(one)).not.toBe(picture(other));
});

test("every behaviour that no picture shows belongs to a property that exists", () => {
  const known = properties.map(({ type, name }) => `${type}.${name}`);
  expect(known).toEqual(expect.arrayContaining(Object.keys(BEHAVIOUR)));
});

test.each(vocabulary.icons)("the icon %s is built in", (name) => {
  expect(findIcon(name, {}).outlined).toBe(false);
});

test("every curve type is known", () => {
  expect([...CURVE_NAMES].sort()).toEqual([...(records.LineSeries?.curveType ?? [])].sort());
});
