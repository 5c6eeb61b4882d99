const schema = {
  type: "object",
  properties: {
    products: {
      type: "array",
      items: {
        type: "object",
        properties: {
          sku: { type: "string" },
          name: { type: "string" },
          price: { type: "number" },
          oldPrice: { type: "number" },
          colors: { type: "array", items: { type: "string" } },
          stock: { type: "integer" },
        },
        required: ["sku", "name", "price"],
      },
    },
    currency: { type: "string" },
  },
  required: ["products"],
};
const sample = {
  products: [
    { sku: "s1", name: "Trail shoe", price: 80, oldPrice: 100, colors: ["red", "black"], stock: 2 },
    { sku: "s2", name: "Road shoe", price: 95, stock: 0 },
  ],
  currency: "€",
};

const money = (value) => (currency || "$") + value.toFixed(2);

const discount = (p) => {
  if (!p.oldPrice || p.oldPrice <= p.price) return null;
  return Math.round((1 - p.price / p.oldPrice) * 100);
};

const stockLabel = ({ stock }) =>
  stock === undefined ? "Ask us" : stock === 0 ? "Sold out" : stock < 5 ? `Only ${stock} left` : "In stock";

<ListView>
  {products.map((p) => {
    const off = discount(p);
    return (
      <ListViewItem key={p.sku} onClickAction={{ type: "product.open", payload: { sku: p.sku } }}>
        <Col gap={1}>
          <Text weight="semibold">{p.name}</Text>
          <Row>
            <Text>{money(p.price)}</Text>
            {off && <Badge color="danger">{`-${off}%`}</Badge>}
            {p.oldPrice && <Text lineThrough>{money(p.oldPrice)}</Text>}
          </Row>
          <Caption>
            {stockLabel(p)}
            {p.colors && p.colors.length > 0 && ` in ${p.colors.join(", ")}`}
          </Caption>
        </Col>
      </ListViewItem>
    );
  })}
</ListView>
