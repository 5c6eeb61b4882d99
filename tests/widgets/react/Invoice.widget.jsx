const schema = {
  type: "object",
  properties: {
    number: { type: "string" },
    customer: { type: "string" },
    currency: { type: "string", default: "EUR" },
    items: {
      type: "array",
      items: {
        type: "object",
        properties: {
          id: { type: "string" },
          name: { type: "string" },
          price: { type: "number" },
          quantity: { type: "integer" },
        },
        required: ["id", "name", "price", "quantity"],
        additionalProperties: false,
      },
    },
  },
  required: ["number", "customer", "items"],
  additionalProperties: false,
};

const sample = {
  number: "2041",
  customer: "Ada Lovelace",
  currency: "EUR",
  items: [
    { id: "a", name: "Desk lamp", price: 40, quantity: 2 },
    { id: "b", name: "Shade", price: 12.5, quantity: 1 },
  ],
};

const total = items.reduce((sum, item) => sum + item.price * item.quantity, 0);

<Card size="md">
  <Title>Invoice {number}</Title>
  <Caption>{customer}</Caption>
  <Divider />
  {items.map(({ id, name, price, quantity }) => (
    <Row key={id}>
      <Text>
        {quantity} × {name}
      </Text>
      <Spacer />
      <Text>{(price * quantity).toFixed(2)}</Text>
    </Row>
  ))}
  <Divider />
  <Row>
    <Text weight="semibold">Total</Text>
    <Spacer />
    <Text weight="semibold">
      {total.toFixed(2)} {currency}
    </Text>
  </Row>
</Card>
