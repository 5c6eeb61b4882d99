const schema = {
  type: "object",
  properties: {
    number: { type: "string" },
    from: {
      type: "object",
      properties: { code: { type: "string" }, time: { type: "string" } },
      required: ["code"],
    },
    to: {
      type: "object",
      properties: { code: { type: "string" }, time: { type: "string" } },
      required: ["code"],
    },
    stops: { type: "array", items: { type: "string" } },
    delayed: { type: "boolean" },
    progress: { type: "number" },
  },
  required: ["number", "from", "to"],
};
const sample = {
  number: "NF 221",
  from: { code: "LIS", time: "09:10" },
  to: { code: "OSL" },
  stops: ["MAD"],
  delayed: true,
};

const Endpoint = ({ place, align = "start" }) => (
  <Col align={align}>
    <Title size="lg" value={place.code} />
    <Text color="secondary">{place.time ?? "—"}</Text>
  </Col>
);

const route = [from.code, ...(stops ?? []), to.code].join(" → ");

<Card status={delayed ? { text: "Delayed", icon: "info" } : undefined}>
  <Row justify="between">
    <Endpoint place={from} />
    <Icon name="chevron-right" />
    <Endpoint place={to} align="end" />
  </Row>
  <Caption>{route}</Caption>
  {stops?.length > 0 && (
    <Text size="sm">
      {stops.length} stop{stops.length === 1 ? "" : "s"}
    </Text>
  )}
  {progress !== undefined && <Text value={`${(progress * 100).toFixed(0)}% flown`} />}
  <Button block onClickAction={{ type: "flight.follow", payload: { number: number.replace(" ", "") } }}>
    Follow {number}
  </Button>
</Card>
