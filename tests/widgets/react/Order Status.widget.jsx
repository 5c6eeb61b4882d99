const schema = {
  type: "object",
  properties: {
    order: {
      type: "object",
      properties: {
        id: { type: "string" },
        status: { type: "string", enum: ["placed", "packed", "shipped", "delivered"] },
        carrier: { type: "string" },
        eta: { type: "string" },
      },
      required: ["id", "status"],
    },
  },
  required: ["order"],
};
const sample = { order: { id: "A-17", status: "packed", carrier: "DHL", eta: "Friday" } };

const STEPS = [
  { key: "placed", label: "Placed", icon: "check-circle" },
  { key: "packed", label: "Packed", icon: "suitcase" },
  { key: "shipped", label: "Shipped", icon: "maps" },
  { key: "delivered", label: "Delivered", icon: "home" },
];

const OrderStatus = ({ order }) => {
  const { id, status, carrier, eta } = order;
  const current = STEPS.findIndex((step) => step.key === status);
  const isDone = (index) => index <= current;

  return (
    <Card>
      <Title>Order {id}</Title>
      {STEPS.map((step, index) => (
        <Row key={step.key}>
          <Icon name={step.icon} color={isDone(index) ? "success" : "secondary"} />
          <Text color={isDone(index) ? "emphasis" : "tertiary"}>{step.label}</Text>
        </Row>
      ))}
      {carrier && eta && (
        <Caption>
          With {carrier}, arriving {eta}
        </Caption>
      )}
      {status !== "delivered" && (
        <Button
          label="Track"
          onClickAction={{ type: "order.track", payload: { id } }}
        />
      )}
    </Card>
  );
};

export default OrderStatus;
