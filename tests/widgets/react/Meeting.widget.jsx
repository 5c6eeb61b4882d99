import { Card, Col, Row, Spacer, Text, Title, Caption, Badge, Divider } from "@openai/chatkit";

const schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    start: { type: "string", format: "date-time" },
    agenda: {
      type: "array",
      items: {
        type: "object",
        properties: { topic: { type: "string" }, minutes: { type: "integer" } },
        required: ["topic", "minutes"],
      },
    },
    guests: { type: "array", items: { type: "string" } },
  },
  required: ["title", "start", "agenda", "guests"],
};
const sample = {
  title: "Planning",
  start: "2026-05-04T09:30:00Z",
  agenda: [
    { topic: "Review", minutes: 20 },
    { topic: "Next steps", minutes: 25 },
  ],
  guests: ["Ada", "Bo", "Cy", "Dee"],
};

const MAX = 3;
const [date, clock] = start.split("T");
const shown = guests.slice(0, MAX);
const extra = Math.max(0, guests.length - MAX);
const isLong = agenda.map((a) => a.minutes).reduce((a, b) => a + b, 0) > 60;
const rows = agenda.map((item, i) => ({ ...item, number: String(i + 1).padStart(2, "0") }));

<Card>
  <Row>
    <Col>
      <Title>{title}</Title>
      <Caption>
        {date} at {clock.substring(0, 5)}
      </Caption>
    </Col>
    <Spacer />
    {isLong ? <Badge label="long" color="warning" /> : <Badge label="short" color="success" />}
  </Row>
  <Divider />
  {rows.map(({ number, topic, minutes }) => (
    <Row key={number}>
      <Text color="tertiary">{number}</Text>
      <Text>{topic}</Text>
      <Spacer />
      <Text>{minutes} min</Text>
    </Row>
  ))}
  <Divider />
  <Text>
    {shown.join(", ")}
    {extra ? ` and ${extra} more` : ""}
  </Text>
  {guests.includes("Ada") && <Caption>Ada is coming.</Caption>}
</Card>
