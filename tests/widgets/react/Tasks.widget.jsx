const schema = {
  type: "object",
  properties: {
    tasks: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "integer" },
          title: { type: "string" },
          done: { type: "boolean" },
          priority: { type: "string" },
          labels: { type: "array", items: { type: "string" } },
        },
        required: ["id", "title", "done"],
      },
    },
  },
  required: ["tasks"],
};
const sample = {
  tasks: [
    { id: 1, title: "Write the brief", done: true, priority: "high" },
    { id: 2, title: "Draw the card", done: false, priority: "high", labels: ["design", "ui"] },
    { id: 3, title: "Ship", done: false },
  ],
};

let open = tasks.filter((task) => !task.done);
let done = tasks.filter((task) => task.done);
const percent = tasks.length ? Math.round((done.length / tasks.length) * 100) : 0;
const byPriority = open.reduce((groups, task) => {
  const key = task.priority ?? "normal";
  return { ...groups, [key]: [...(groups[key] || []), task] };
}, {});

<Card>
  <Row>
    <Title>Tasks</Title>
    <Spacer />
    <Caption>
      {done.length}/{tasks.length} done, {percent}%
    </Caption>
  </Row>
  {Object.keys(byPriority).map((priority) => (
    <Col key={priority}>
      <Caption>{priority.charAt(0).toUpperCase() + priority.slice(1)}</Caption>
      {byPriority[priority].map(({ id, title, labels = [] }) => (
        <Row key={id}>
          <Checkbox name={`task-${id}`} label={title} />
          {labels.map((label) => (
            <Badge key={label} variant="outline">{label}</Badge>
          ))}
        </Row>
      ))}
    </Col>
  ))}
  {open.length === 0 && <Text>All done 🎉</Text>}
  {done.some((t) => t.priority === "high") && <Caption>Something important is done.</Caption>}
</Card>
