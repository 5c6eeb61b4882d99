const schema = {
  type: "object",
  properties: {
    question: { type: "string" },
    options: {
      type: "array",
      items: {
        type: "object",
        properties: { id: { type: "string" }, text: { type: "string" }, votes: { type: "integer" } },
        required: ["id", "text"],
      },
    },
    closed: { type: "boolean" },
    voted: { type: "string" },
  },
  required: ["question", "options"],
};
const sample = {
  question: "Where shall we eat?",
  options: [
    { id: "thai", text: "Thai", votes: 4 },
    { id: "pizza", text: "Pizza", votes: 9 },
    { id: "salad", text: "Salad" },
  ],
  closed: false,
};

function PollOption({ option, total, isLeader, disabled = false }) {
  const { id, text, votes = 0 } = option;
  const share = total > 0 ? Math.round((votes / total) * 100) : 0;
  const bar = "█".repeat(Math.round(share / 10)).padEnd(10, "░");
  return (
    <Row align="center">
      <Button
        label={text}
        variant={isLeader ? "solid" : "outline"}
        iconStart={id === voted ? "check" : undefined}
        disabled={disabled || !!voted}
        onClickAction={{ type: "poll.vote", payload: { option: id }, loadingBehavior: "self" }}
      />
      <Spacer />
      <Caption value={`${bar} ${share}%`} />
    </Row>
  );
}

const total = options.reduce((n, { votes }) => n + (votes ?? 0), 0);
const leader = options.reduce((best, o) => ((o.votes || 0) > (best.votes || 0) ? o : best), options[0]);

<Card status={closed && { text: "Closed", icon: "lock" }}>
  <Title value={question} size="sm" />
  {options.map((option) => (
    <PollOption key={option.id} {...{ option, total }} isLeader={leader?.id === option.id && total > 0} disabled={closed} />
  ))}
  <Caption>
    {total} {total === 1 ? "vote" : "votes"}
    {voted != null && <> · you chose {options.find((o) => o.id === voted)?.text}</>}
  </Caption>
</Card>
