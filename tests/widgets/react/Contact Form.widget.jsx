const schema = {
  type: "object",
  properties: {
    heading: { type: "string" },
    topics: { type: "array", items: { type: "string" } },
    email: { type: "string" },
    sent: { type: "boolean" },
  },
  required: ["topics"],
};
const sample = { heading: "Write to us", topics: ["Billing", "Bug", "Other"], sent: false };

export default function ContactForm({ heading = "Contact", topics, email, sent }) {
  if (sent) {
    return (
      <Card>
        <Text>Thanks, we got your message.</Text>
      </Card>
    );
  }

  const options = topics.map((topic) => ({ label: topic, value: topic.toLowerCase() }));

  return (
    <Card>
      <Form onSubmitAction={{ type: "contact.submit" }}>
        <Title>{heading}</Title>
        <Label fieldName="email">Email</Label>
        <Input
          name="email"
          inputType="email"
          placeholder="you@example.com"
          defaultValue={email ?? ""}
          required
        />
        <Label fieldName="topic" value="Topic" />
        <Select name="topic" options={options} defaultValue={options[0]?.value} />
        <Textarea name="message" rows={4} required />
        <Button submit style="primary">
          Send
        </Button>
      </Form>
    </Card>
  );
}
