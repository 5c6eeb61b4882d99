const schema = {
  type: "object",
  properties: {
    age: { type: "integer", default: 30 },
    score: { type: "number", default: 95.5 },
  },
};

const sample = {};

<Card>
  <Form onSubmitAction={{ type: "profile.save" }}>
    <Input name="name" defaultValue="John Doe" />
    <Input name="age" inputType="number" defaultValue={String(age)} />
    <Input name="score" inputType="number" defaultValue={String(score)} />
    <Select
      name="status"
      defaultValue="active"
      options={["active", "inactive", "pending"].map((status) => ({ value: status, label: status }))}
    />
    <Checkbox name="verified" label="Verified" defaultChecked />
    <Button label="Save" submit />
  </Form>
</Card>
