const schema = {
  type: "object",
  properties: {
    title: { type: "string", default: "Timeline" },
    events: {
      type: "array",
      items: {
        type: "object",
        properties: {
          date: { type: "string", format: "date" },
          kind: { type: "string" },
          title: { type: "string" },
          details: { type: "array", items: { type: "string" } },
        },
        required: ["date", "title"],
      },
    },
  },
  required: ["events"],
};
const sample = {
  events: [
    { date: "2026-03-02", kind: "launch", title: "Beta" },
    { date: "2026-01-15", kind: "meeting", title: "Kick-off", details: ["Scope", "Budget"] },
    { date: "2026-03-20", title: "Review" },
  ],
};

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

function formatDate(iso) {
  const [year, month, day] = iso.split("-").map(Number);
  return `${day} ${MONTHS[month - 1]} ${year}`;
}

const icons = { launch: "sparkle", meeting: "user" };

const sorted = events.slice().sort((a, b) => a.date.localeCompare(b.date));

const groups = sorted.reduce((acc, event) => {
  const key = event.date.slice(0, 7);
  (acc[key] ||= []).push(event);
  return acc;
}, {});

const renderEvent = (event, i, list) => (
  <React.Fragment key={event.title}>
    <Row gap={3}>
      <Icon name={icons[event.kind] ?? "circle-question"} />
      <Col>
        <Text weight="medium">{event.title}</Text>
        <Caption>{formatDate(event.date)}</Caption>
        {event.details?.map((d, j) => <Text key={j} size="sm">• {d}</Text>)}
      </Col>
    </Row>
    {i < list.length - 1 && <Divider />}
  </React.Fragment>
);

<ListView>
  {Object.entries(groups).map(([month, items]) => (
    <ListViewItem key={month}>
      <Col>
        <Title size="sm">{title} {month}</Title>
        {items.map(renderEvent)}
      </Col>
    </ListViewItem>
  ))}
</ListView>
