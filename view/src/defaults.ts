/**
 * Every default that ChatKit leaves unsaid, in one place, so that a designer can calibrate them.
 *
 * Sources: OpenAI's own templates (which write `gap: 0` where they want none), the tokens of
 * apps-sdk-ui, and what other renderers agree on. None of it is documented.
 */

export const DEFAULTS = {
  /** In spacing units. */
  gap: { Row: 2, Col: 2, Box: 0, Form: 2, Basic: 2, ListViewItem: 3 },
  /** ChatKit has no words for spacing, yet authors write those it has for sizes. */
  spacingWords: { none: 0, "2xs": 0.5, xs: 1, sm: 2, md: 3, lg: 4, xl: 6, "2xl": 8 },
  align: { Row: "center", Col: "stretch", ListViewItem: "center" },

  card: { size: "md", padding: 4 },
  /** In pixels; `full` takes the width there is. */
  cardWidth: { sm: "360px", md: "440px", lg: "560px", full: "100%" },
  listView: { width: "440px", auto: 5 },

  text: { size: "md", weight: "normal" },
  title: { size: "md", weight: "semibold" },
  caption: { size: "md", color: "var(--color-text-secondary)" },
  label: { size: "sm", weight: "medium" },
  icon: { size: "md" },
  badge: { color: "secondary", variant: "soft", size: "sm", pill: false },
  /** `inRow` is the side of a picture in a row that states no size: an avatar, a thumbnail. */
  image: { fit: "cover", position: "center", radius: "md", alt: "", inRow: "40px" },
  divider: { color: "default", size: "1px", spacing: 0 },

  button: { style: "primary", size: "lg", pill: true },
  control: { size: "md", variant: "outline" },
  textarea: { rows: 3, maxRows: 12 },
  /** A longer list of options can be searched. */
  searchable: 15,
  datePicker: { side: "bottom", align: "start" },

  chart: {
    height: "200px",
    showYAxis: false,
    showLegend: true,
    showTooltip: true,
    barGap: 4,
    barCategoryGap: 16,
    curve: "monotone",
    /** In the order in which ChatKit lists its chart colours. */
    palette: ["blue", "purple", "orange", "green", "red", "yellow", "pink"],
    shade: 400,
  },

  /** The meaning of `loadingBehavior: "auto"` for each kind of trigger. */
  loading: {
    button: "self",
    submit: "self",
    item: "self",
    change: "none",
    confirm: "container",
    cancel: "container",
  },
} as const;
