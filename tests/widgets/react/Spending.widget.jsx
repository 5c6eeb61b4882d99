const schema = {
  type: "object",
  properties: {
    month: { type: "string" },
    budget: { type: "number" },
    spending: { type: "object", additionalProperties: { type: "number" } },
  },
  required: ["month", "budget", "spending"],
};

const sample = {
  month: "May",
  budget: 1500,
  spending: { Rent: 900, Food: 310, Travel: 120 },
};

const entries = Object.entries(spending);
const total = Object.values(spending).reduce((a, b) => a + b, 0);
const left = budget - total;
const isOver = left < 0;

<Card>
  <Row>
    <Title>{month}</Title>
    <Spacer />
    <Badge label={isOver ? "Over budget" : "On track"} color={isOver ? "danger" : "success"} />
  </Row>
  <Chart
    data={entries.map(([category, amount]) => ({ category, amount }))}
    series={[{ type: "bar", dataKey: "amount", label: "Amount" }]}
    xAxis={{ dataKey: "category" }}
  />
  {entries
    .sort(([, a], [, b]) => b - a)
    .map(([category, amount]) => (
      <Row key={category}>
        <Text>{category}</Text>
        <Spacer />
        <Text>
          {amount} ({Math.round((amount / total) * 100)}%)
        </Text>
      </Row>
    ))}
  <Caption>
    {isOver ? `${Math.abs(left)} over` : `${left} left`} of {budget}
  </Caption>
</Card>
