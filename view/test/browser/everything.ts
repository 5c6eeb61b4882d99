/** Cards that between them hold every component in every look. */

const COLORS = [
  "primary",
  "secondary",
  "info",
  "discovery",
  "success",
  "caution",
  "warning",
  "danger",
];
const VARIANTS = ["solid", "soft", "outline", "ghost"];
const BADGES = ["secondary", "success", "danger", "warning", "info", "discovery"];
const ACTION = { type: "do.it" };
const ROWS = [
  { m: "Jan", d: 1200, p: 800, t: 950 },
  { m: "Feb", d: 1900, p: 700, t: 1250 },
];

const card = (name: string, children: unknown[], more: object = {}) => ({
  name,
  widget: { type: "Card", children, ...more },
});
const row = (...children: unknown[]) => ({ type: "Row", wrap: "wrap", children });

export const EVERYTHING = [
  card(
    "buttons",
    [
      ...VARIANTS.map((variant) =>
        row(
          ...COLORS.map((color) => ({
            type: "Button",
            label: color,
            color,
            variant,
            onClickAction: ACTION,
          })),
        ),
      ),
      row(
        { type: "Button", iconStart: "play", uniform: true },
        { type: "Button", label: "Off", disabled: true },
      ),
    ],
    { status: { text: "Working", icon: "sparkle" } },
  ),
  card("badges and words", [
    ...VARIANTS.slice(0, 3).map((variant) =>
      row(...BADGES.map((color) => ({ type: "Badge", label: color, color, variant }))),
    ),
    ...["secondary", "tertiary", "success", "warning", "danger"].map((color) => ({
      type: "Text",
      value: color,
      color,
      size: "sm",
    })),
    { type: "Title", value: "A title" },
    { type: "Caption", value: "A caption" },
    { type: "Divider", flush: true },
    row(
      { type: "Icon", name: "star" },
      { type: "Icon", name: "lucide:unknown" },
      { type: "Spacer" },
    ),
    { type: "Image", src: "/local.png", alt: "A cat" },
  ]),
  card(
    "fields",
    [
      { type: "Label", value: "Name", fieldName: "name" },
      { type: "Input", name: "name", placeholder: "Jane", required: true },
      { type: "Textarea", name: "notes", variant: "soft" },
      {
        type: "Select",
        name: "kind",
        placeholder: "Pick one",
        options: [{ value: "a", label: "Alpha" }],
      },
      { type: "Label", value: "Plan", fieldName: "plan" },
      {
        type: "Select",
        name: "plan",
        clearable: true,
        defaultValue: "b",
        options: [{ value: "b", label: "Basic", description: "Free" }],
      },
      { type: "DatePicker", name: "day", defaultValue: "2026-01-26", clearable: true },
      { type: "Checkbox", name: "agree", label: "I agree" },
      {
        type: "RadioGroup",
        name: "size",
        ariaLabel: "Size",
        options: [
          { label: "S", value: "s" },
          { label: "M", value: "m", disabled: true },
        ],
      },
      { type: "Text", value: "Edit me", editable: { name: "title", required: true } },
      { type: "Form", children: [{ type: "Button", label: "Send", submit: true }] },
    ],
    {
      asForm: true,
      confirm: { label: "Save", action: ACTION },
      cancel: { label: "Cancel", action: ACTION },
    },
  ),
  card("charts", [
    {
      type: "Chart",
      data: ROWS,
      xAxis: "m",
      showYAxis: true,
      series: [
        { type: "bar", dataKey: "d", label: "Desktop", stack: "a" },
        { type: "bar", dataKey: "p", label: "Mobile", stack: "a" },
        { type: "line", dataKey: "t", label: "Target" },
      ],
    },
    {
      type: "Chart",
      data: ROWS,
      xAxis: { dataKey: "m" },
      series: [{ type: "area", dataKey: "d", label: "Desktop" }],
    },
  ]),
  card("Markdown and tables", [
    {
      type: "Markdown",
      value:
        "## Heading\n\n- [x] done\n\n`code` [link](https://example.org)\n\n```\nblock\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |",
    },
    {
      type: "Table",
      children: [
        {
          type: "Table.Row",
          header: true,
          children: [{ type: "Table.Cell", children: [{ type: "Text", value: "Item" }] }],
        },
        {
          type: "Table.Row",
          children: [{ type: "Table.Cell", children: [{ type: "Text", value: "Apples" }] }],
        },
      ],
    },
    { type: "Hologram", children: [{ type: "Text", value: "inside" }] },
  ]),
  card("a folded card", [{ type: "Title", value: "Sent" }], { collapsed: true }),
  {
    name: "a list",
    widget: {
      type: "ListView",
      limit: 1,
      status: { text: "2 flights" },
      children: [
        {
          type: "ListViewItem",
          onClickAction: ACTION,
          children: [
            { type: "Text", value: "First" },
            { type: "Button", label: "Go", onClickAction: ACTION },
          ],
        },
        { type: "ListViewItem", children: [{ type: "Text", value: "Second" }] },
      ],
    },
  },
  {
    name: "two themes in one",
    widget: {
      type: "Basic",
      direction: "row",
      children: ["light", "dark"].map((theme) => ({
        type: "Card",
        theme,
        children: [
          { type: "Text", value: theme, color: "secondary" },
          { type: "Button", label: `Press ${theme}` },
        ],
      })),
    },
  },
];
