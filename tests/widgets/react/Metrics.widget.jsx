/** A dashboard with a trend. */
const schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    kpis: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, value: { type: "number" }, previous: { type: "number" }, unit: { type: "string" } },
        required: ["name", "value"],
      },
    },
    series: { type: "array", items: { type: "object", properties: { day: { type: "string" }, visits: { type: "number" }, orders: { type: "number" } }, required: ["day"] } },
  },
  required: ["title", "kpis"],
};
const sample = {
  title: "This week",
  kpis: [
    { name: "Visits", value: 12840, previous: 11200 },
    { name: "Conversion", value: 3.1, previous: 3.4, unit: "%" },
    { name: "Orders", value: 398 },
  ],
  series: [
    { day: "Mon", visits: 1800, orders: 50 },
    { day: "Tue", visits: 1930, orders: 61 },
    { day: "Wed", visits: 2100, orders: 58 },
  ],
};

const compact = (n) => (n >= 1_000_000 ? (n / 1e6).toFixed(1) + "M" : n >= 1000 ? (n / 1000).toFixed(1) + "k" : `${n}`);

const Trend = ({ value, previous }) => {
  if (previous === undefined || previous === null) return null;
  const change = ((value - previous) / previous) * 100;
  const up = change >= 0;
  const props = { size: "sm", weight: "medium", color: up ? "success" : "danger" };
  return <Text {...props}>{up ? "▲" : "▼"} {Math.abs(change).toFixed(1)}%</Text>;
};

const Kpi = ({ kpi: { name, value, unit = "", ...kpi } }) => (
  <Box flex={1} padding={3} radius="lg" background="surface-secondary">
    <Caption>{name}</Caption>
    <Title size="md">{compact(value)}{unit}</Title>
    <Trend value={value} previous={kpi.previous} />
  </Box>
);

const rows = Array.from({ length: Math.ceil(kpis.length / 2) }, (_, i) => kpis.slice(i * 2, i * 2 + 2));

<Card>
  <Title size="sm">{title.toUpperCase()}</Title>
  {rows.map((row, index) => (
    <Row key={index} gap={2}>
      {row.map((kpi) => <Kpi key={kpi.name} kpi={kpi} />)}
    </Row>
  ))}
  {series && series.length > 1 && (
    <Chart
      data={series}
      series={["visits", "orders"].map((key) => ({ type: "line", dataKey: key, label: key[0].toUpperCase() + key.substring(1) }))}
      xAxis="day"
      showYAxis={false}
    />
  )}
</Card>
