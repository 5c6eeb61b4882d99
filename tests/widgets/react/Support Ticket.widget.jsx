import { Badge, Card, Col, Divider, Markdown, Row, Spacer, Text, Title } from "@openai/chatkit";

const schema = {
  type: "object",
  properties: {
    ticket: {
      type: "object",
      properties: {
        id: { type: "number" },
        subject: { type: "string" },
        priority: { type: "string", enum: ["low", "normal", "urgent"] },
        assignee: { type: "object", properties: { name: { type: "string" }, avatar: { type: "string" } } },
        meta: { type: "object", additionalProperties: { type: ["string", "number", "null"] } },
        comments: {
          type: "array",
          items: {
            type: "object",
            properties: { author: { type: "string" }, body: { type: "string" }, internal: { type: "boolean" } },
            required: ["author", "body"],
          },
        },
      },
      required: ["id", "subject"],
    },
  },
  required: ["ticket"],
};

const sample = {
  ticket: {
    id: 481,
    subject: "Invoice shows the wrong VAT",
    priority: "urgent",
    assignee: { name: "mira okafor" },
    meta: { plan: "Pro", seats: 12, region: null },
    comments: [
      { author: "Ann", body: "It says **19 %** instead of 7 %." },
      { author: "Mira", body: "Looking into it.", internal: true },
    ],
  },
};

const PRIORITY = { low: { color: "secondary" }, normal: { color: "info", variant: "soft" }, urgent: { color: "danger", variant: "solid" } };

const capitalize = (word = "") => word.charAt(0).toUpperCase() + word.slice(1);

const Field = ({ label, value, ...rest }) => (
  <Row gap={2} {...rest}>
    <Text color="secondary" size="sm">{label}</Text>
    <Spacer />
    <Text size="sm" {...rest}>{String(value)}</Text>
  </Row>
);

export default function SupportTicket({ ticket: { id, subject, priority = "normal", assignee, meta = {}, comments = [] } }) {
  const visible = comments.filter(({ internal }) => !internal);
  const fields = Object.entries(meta).filter(([, value]) => value != null);
  const badge = PRIORITY[priority] ?? PRIORITY.normal;
  const who = assignee?.name
    ?.split(" ")
    .map((part) => capitalize(part))
    .join(" ");

  return (
    <Card>
      <Row>
        <Title size="sm">{`#${id} ${subject}`}</Title>
        <Spacer />
        <Badge label={capitalize(priority)} {...badge} />
      </Row>
      <Text color="secondary">{who ? `Assigned to ${who}` : "Nobody yet"}</Text>
      {fields.length > 0 && (
        <>
          <Divider />
          {fields.map(([key, value], i) => (
            <Field key={`${key}-${i}`} label={capitalize(key)} value={value} />
          ))}
        </>
      )}
      {visible.length ? (
        visible.map((comment, index) => (
          <Col key={index} gap={1}>
            <Text weight="semibold">{comment.author}</Text>
            <Markdown value={comment.body} />
          </Col>
        ))
      ) : (
        <Text color="tertiary">No comments</Text>
      )}
    </Card>
  );
}
