const schema = {
  type: "object",
  properties: {
    plans: {
      type: "array",
      items: {
        type: "object",
        properties: {
          name: { type: "string" },
          monthly: { type: "number" },
          features: { type: "object", additionalProperties: { type: "boolean" } },
          recommended: { type: "boolean" },
        },
        required: ["name", "monthly", "features"],
      },
    },
    yearly: { type: "boolean" },
  },
  required: ["plans"],
};
const sample = {
  plans: [
    { name: "Free", monthly: 0, features: { api: false, sso: false } },
    { name: "Team", monthly: 12.5, features: { api: true, sso: false }, recommended: true },
    { name: "Org", monthly: 40, features: { api: true, sso: true } },
  ],
  yearly: true,
};

const all = plans.flatMap((plan) => Object.keys(plan.features));
const features = [...new Set(all)];
const price = ({ monthly }) => {
  const amount = yearly ? monthly * 12 * 0.8 : monthly;
  return amount === 0 ? "Free" : `$${amount % 1 === 0 ? amount : amount.toFixed(2)}`;
};
const labels = { api: "API access", sso: "Single sign-on" };

export default () => (
  <Card size="lg">
    <Title>{yearly ? "Yearly" : "Monthly"} plans</Title>
    <Table>
      <Table.Row header>
        <Table.Cell><Text>Feature</Text></Table.Cell>
        {plans.map((plan) => (
          <Table.Cell key={plan.name} align="center">
            <Text weight={plan.recommended ? "bold" : "normal"}>{plan.name}</Text>
          </Table.Cell>
        ))}
      </Table.Row>
      {features.map((feature) => (
        <Table.Row key={feature}>
          <Table.Cell><Text>{labels[feature] || feature}</Text></Table.Cell>
          {plans.map((plan) => (
            <Table.Cell key={plan.name} align="center">
              {plan.features[feature] ? <Icon name="check" color="success" /> : <Text color="tertiary">–</Text>}
            </Table.Cell>
          ))}
        </Table.Row>
      ))}
      <Table.Row>
        <Table.Cell><Text>Price</Text></Table.Cell>
        {plans.map((plan) => <Table.Cell key={plan.name} align="center"><Text>{price(plan)}</Text></Table.Cell>)}
      </Table.Row>
    </Table>
  </Card>
);
