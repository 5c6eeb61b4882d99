const schema = {
  type: "object",
  properties: {
    hotel: { type: "string" },
    nights: { type: "integer" },
    rate: { type: "number" },
    guests: { type: "integer" },
    rooms: { type: "array", items: { type: "object", properties: { id: { type: "string" }, name: { type: "string" }, left: { type: "integer" } }, required: ["id", "name"] } },
    extras: { type: "array", items: { type: "string" } },
  },
  required: ["hotel", "nights", "rate", "rooms"],
};
const sample = {
  hotel: "Casa Azul",
  nights: 3,
  rate: 84.5,
  rooms: [{ id: "d", name: "Double", left: 2 }, { id: "s", name: "Suite" }],
  extras: ["Breakfast", "Parking"],
};

const plural = (n, one, many = `${one}s`) => `${n} ${n === 1 ? one : many}`;
const subtotal = nights * rate;
const tax = +(subtotal * 0.07).toFixed(2);
const lines = [
  { label: `${plural(nights, "night")} × ${rate}`, amount: subtotal },
  { label: "Tax", amount: tax },
];
const total = lines.map((l) => l.amount).reduce((sum, x) => sum + x);
const isPlural = guests > 1;
const roomOptions = rooms.map(({ id: value, name, left }) => ({
  value,
  label: left ? `${name} (${left} left)` : name,
  disabled: left === 0,
}));

<Card
  asForm
  confirm={{ label: "Book", action: { type: "booking.confirm", payload: { hotel, total } } }}
  cancel={{ label: "Not now", action: { type: "booking.cancel" } }}
>
  <Title>{hotel}</Title>
  {guests && <Caption>for {guests} guest{isPlural && "s"}</Caption>}
  <Select name="room" options={roomOptions} defaultValue={roomOptions[0].value} block />
  {(extras ?? []).map((extra) => (
    <Checkbox key={extra} name={`extras.${extra.toLowerCase()}`} label={extra} defaultChecked={extra === "Breakfast"} />
  ))}
  <Divider />
  {lines.map(({ label, amount }) =>
    amount ? (
      <Row key={label}>
        <Text>{label}</Text>
        <Spacer />
        <Text>${amount.toFixed(2)}</Text>
      </Row>
    ) : null,
  )}
  <Row>
    <Text weight="bold">Total</Text>
    <Spacer />
    <Text weight="bold">${total.toFixed(2)}</Text>
  </Row>
</Card>
