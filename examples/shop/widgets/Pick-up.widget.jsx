const schema = {
  type: "object",
  properties: {
    basket: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, count: { type: "integer" }, price: { type: "integer" } },
        required: ["name", "count", "price"],
        additionalProperties: false,
      },
    },
    total: { type: "integer" },
    code: { type: "string" },
    day: { type: "string" },
  },
  required: ["basket", "total"],
  additionalProperties: false,
};

<Card size="md">
  <Row>
    <Title value={code ? "Receipt" : "Check out"} />
    <Spacer />
    {code && <Badge label={`Booked as ${code}`} color="success" />}
  </Row>
  {basket.map((line) => (
    <Row key={line.name}>
      <Text value={`${line.count} × ${line.name}`} />
      <Spacer />
      <Text value={`${line.price} €`} />
    </Row>
  ))}
  <Divider />
  <Row>
    <Text value="Total" weight="semibold" />
    <Spacer />
    <Text value={`${total} €`} weight="semibold" />
  </Row>
  {code && <Caption value={`Ready for pick-up on ${day}. You pay in the shop.`} />}
  {!code && basket.length === 0 && <Caption value="The basket is empty. Write “show me the shop” to fill it." />}
  {!code && basket.length > 0 && (
    <Form onSubmitAction={{ type: "pickup.book" }}>
      <Label value="Name" fieldName="name" />
      <Input name="name" required />
      <Label value="Day" fieldName="day" />
      <Input name="day" required placeholder="Friday" />
      <Button label="Book the pick-up" submit />
    </Form>
  )}
</Card>
