const schema = {
  type: "object",
  properties: { message: { type: "string" } },
  required: ["message"],
};

const sample = { message: "Who are you?" };

<Card>
  <Form onSubmitAction={{ type: "profile.save" }}>
    <Title value={message} />
    <Input name="username" placeholder="Name" required />
    <Input name="email" inputType="email" placeholder="Email address" required />
    <Button label="Save" submit />
  </Form>
</Card>
