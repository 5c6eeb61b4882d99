/** For every property ChatKit declares, two values that must not look the same. */

const TEXT = { type: "Text", value: "inside" };
const OTHER = { type: "Title", value: "other" };
const ACTION = { type: "do.it" };

/** Without these a component shows nothing that a property could change. */
export const BASE: Record<string, Record<string, unknown>> = {
  Badge: { label: "new" },
  Basic: { children: [TEXT] },
  Box: { children: [TEXT] },
  Button: { label: "Press", iconStart: "plus" },
  Caption: { value: "words" },
  Card: { children: [TEXT], confirm: { label: "Yes", action: ACTION } },
  Chart: {
    data: [
      { x: "a", v: 1, w: 2 },
      { x: "b", v: 3, w: 1 },
    ],
    xAxis: "x",
    series: [
      { type: "bar", dataKey: "v", label: "V" },
      { type: "bar", dataKey: "w", label: "W" },
    ],
  },
  Checkbox: { name: "agree" },
  Col: { children: [TEXT] },
  DatePicker: { name: "day", defaultValue: "2026-01-26" },
  Form: { children: [TEXT] },
  Icon: { name: "star" },
  Image: { src: "https://example.org/a.png", alt: "A" },
  Input: { name: "city" },
  Label: { value: "City", fieldName: "city" },
  ListView: {
    children: [1, 2, 3].map((n) => ({
      type: "ListViewItem",
      children: [{ ...TEXT, value: `${n}` }],
    })),
  },
  ListViewItem: { children: [TEXT] },
  Markdown: { value: "**bold**" },
  RadioGroup: {
    name: "size",
    options: [
      { label: "S", value: "s" },
      { label: "M", value: "m" },
    ],
  },
  Row: { children: [TEXT] },
  Select: {
    name: "size",
    options: [
      { label: "S", value: "s" },
      { label: "M", value: "m" },
    ],
    defaultValue: "s",
  },
  Spacer: {},
  Text: { value: "words" },
  Textarea: { name: "notes" },
  Title: { value: "words" },
  Transition: { children: TEXT },
};

const LENGTHS = [10, "2em"];
const FLAGS = [true, false];
const WORDS = ["one", "two"];
const DAYS = ["2026-01-02", "2026-02-03"];

/** Samples by property name; `Component.property` goes before the name alone. */
export const SAMPLES: Record<string, readonly unknown[]> = {
  align: ["start", "end"],
  alt: WORDS,
  ariaLabel: WORDS,
  aspectRatio: [1, "16/9"],
  background: ["surface", "red-100"],
  barCategoryGap: [0, 60],
  barGap: [0, 20],
  border: [1, { x: { size: 2, color: "red-100", style: "dashed" } }],
  children: [[TEXT], [OTHER]],
  color: ["red-100", { light: "blue-100", dark: "blue-900" }],
  data: [[{ x: "a", v: 1 }], [{ x: "a", v: 2 }]],
  defaultValue: ["s", "m"],
  editable: [false, { name: "title" }],
  fieldName: WORDS,
  flex: [1, "none"],
  gap: [1, "1em"],
  iconEnd: ["star", "bug"],
  iconStart: ["star", "bug"],
  label: WORDS,
  limit: [1, 2],
  margin: [1, { x: 2 }],
  max: DAYS,
  maxLines: [1, 2],
  maxRows: [4, 5],
  min: DAYS,
  minLines: [1, 2],
  name: WORDS,
  options: [
    [{ label: "S", value: "s" }],
    [
      { label: "S", value: "s" },
      { label: "L", value: "l" },
    ],
  ],
  padding: [1, { y: 2 }],
  pattern: ["a", "b"],
  placeholder: WORDS,
  rows: [2, 5],
  series: [
    [{ type: "line", dataKey: "v", label: "V" }],
    [{ type: "area", dataKey: "v", label: "V" }],
  ],
  size: LENGTHS,
  spacing: [1, "1em"],
  src: ["https://example.org/a.png", "https://example.org/b.png"],
  status: [
    { text: "One", icon: "star" },
    { text: "Two", favicon: "https://example.org/f.ico" },
  ],
  value: WORDS,
  xAxis: ["x", { dataKey: "x", hide: true }],
  height: LENGTHS,
  width: LENGTHS,
  minHeight: LENGTHS,
  minWidth: LENGTHS,
  minSize: LENGTHS,
  maxHeight: LENGTHS,
  maxWidth: LENGTHS,
  maxSize: LENGTHS,
  confirm: [
    { label: "Yes", action: ACTION },
    { label: "Sure", action: ACTION },
  ],
  cancel: [
    { label: "No", action: ACTION },
    { label: "Never", action: ACTION },
  ],
  onClickAction: [ACTION, null],
  "DatePicker.defaultValue": DAYS,
  "Input.defaultValue": WORDS,
  "Textarea.defaultValue": WORDS,
  "Icon.name": ["star", "bug"],
};

for (const flag of [
  "allowAutofillExtensions",
  "asForm",
  "autoResize",
  "block",
  "clearable",
  "collapsed",
  "defaultChecked",
  "disabled",
  "flush",
  "frame",
  "italic",
  "lineThrough",
  "pill",
  "required",
  "searchable",
  "showLegend",
  "showYAxis",
  "streaming",
  "truncate",
  "uniform",
]) {
  SAMPLES[flag] = FLAGS;
}

/** Properties that no picture shows: the browser test of that name proves each. */
export const BEHAVIOUR: Record<string, string> = {
  "Button.onClickAction": "a press calls the server with the fields around it",
  "Button.submit": "a form that is not complete is not sent, and says why",
  "Chart.showTooltip": "a chart says its values under the pointer",
  "Checkbox.onChangeAction": "a changed field carries its value",
  "DatePicker.max": "a date is chosen by keyboard within its bounds",
  "DatePicker.min": "a date is chosen by keyboard within its bounds",
  "DatePicker.onChangeAction": "a date is chosen by keyboard within its bounds",
  "Form.onSubmitAction": "a form that is not complete is not sent, and says why",
  "Input.autoFocus": "a field that asks for it has the focus, with its text selected",
  "Input.autoSelect": "a field that asks for it has the focus, with its text selected",
  "RadioGroup.onChangeAction": "a changed field carries its value",
  "Select.onChangeAction": "a changed field carries its value",
  "Textarea.autoFocus": "a field that asks for it has the focus, with its text selected",
  "Textarea.autoSelect": "a field that asks for it has the focus, with its text selected",
  "Textarea.pattern": "a pattern holds for a textarea too",
};
