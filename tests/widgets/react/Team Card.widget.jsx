const schema = {
  type: "object",
  properties: {
    team: { type: "string" },
    members: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          role: { type: "string" },
          status: { type: "string", enum: ["online", "away", "offline"] },
        },
        required: ["name", "role", "status"],
      },
    },
  },
  required: ["team", "members"],
};

const sample = {
  team: "Platform",
  members: [
    { name: "Grace Hopper", role: "Compilers", status: "online" },
    { name: "Alan Turing", role: "Machines", status: "away" },
  ],
};

const STATUS_COLOR = {
  online: "success",
  away: "warning",
  offline: "secondary",
};

const initials = (name) =>
  name
    .split(" ")
    .map((word) => word[0])
    .join("")
    .toUpperCase();

function Member({ name, role, status }) {
  return (
    <Row gap={3} align="center">
      <Box background="surface-secondary" radius="full" padding={2}>
        <Text>{initials(name)}</Text>
      </Box>
      <Col>
        <Text weight="semibold">{name}</Text>
        <Caption>{role}</Caption>
      </Col>
      <Spacer />
      <Badge color={STATUS_COLOR[status]}>{status}</Badge>
    </Row>
  );
}

export default function TeamCard({ team, members }) {
  return (
    <Card>
      <Title size="sm">{team}</Title>
      {members.map((member) => (
        <Member key={member.name} {...member} />
      ))}
    </Card>
  );
}
