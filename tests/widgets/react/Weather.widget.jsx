const schema = {
  type: "object",
  properties: {
    city: { type: "string" },
    unit: { type: "string", enum: ["C", "F"] },
    days: {
      type: "array",
      items: {
        type: "object",
        properties: {
          day: { type: "string" },
          condition: { type: "string" },
          high: { type: "number" },
          low: { type: "number" },
        },
        required: ["day", "condition", "high", "low"],
      },
    },
  },
  required: ["city", "days"],
};
const sample = {
  city: "Lisbon",
  unit: "C",
  days: [
    { day: "Mon", condition: "sunny", high: 24.4, low: 15 },
    { day: "Tue", condition: "rain", high: 19, low: 12 },
    { day: "Wed", condition: "fog", high: 18, low: 11 },
  ],
};

const iconFor = (condition) => {
  switch (condition) {
    case "sunny":
      return "sparkle";
    case "rain":
    case "storm":
      return "bolt";
    default:
      return "circle-question";
  }
};

const format = (t) => `${Math.round(t)}°${unit || "C"}`;
const highs = days.map((d) => d.high);
const today = days[0];

<Card size="sm">
  <Title size="sm">{city}</Title>
  {today ? (
    <Row align="center" gap={4}>
      <Icon name={iconFor(today.condition)} size="3xl" />
      <Title size="3xl">{format(today.high)}</Title>
    </Row>
  ) : (
    <Text>No forecast.</Text>
  )}
  <Caption>Warmest: {format(Math.max(...highs))}</Caption>
  {days
    .filter((_, i) => i > 0)
    .map((d) => (
      <Row key={d.day}>
        <Text>{d.day}</Text>
        <Icon name={iconFor(d.condition)} />
        <Spacer />
        <Text>
          {format(d.low)} – {format(d.high)}
        </Text>
      </Row>
    ))}
</Card>
