const schema = {
  type: "object",
  properties: {
    goods: {
      type: "array",
      items: {
        type: "object",
        properties: {
          sku: { type: "string" },
          name: { type: "string" },
          price: { type: "integer" },
          left: { type: "integer" },
        },
        required: ["sku", "name", "price", "left"],
        additionalProperties: false,
      },
    },
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
  },
  required: ["goods", "basket", "total"],
  additionalProperties: false,
};

const pictures = {
  bread: "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2048%2048'%3E%3Crect%20width='48'%20height='48'%20fill='%23fdf3e1'/%3E%3Cpath%20d='M8%2027c0-8%207-12%2016-12s16%204%2016%2012c0%203-2%205-5%205H13c-3%200-5-2-5-5z'%20fill='%23c98a3f'/%3E%3Cpath%20d='M17%2019l3%206M24%2018l3%206M31%2019l3%206'%20stroke='%23fdf3e1'%20stroke-width='2'%20stroke-linecap='round'/%3E%3C/svg%3E",
  honey: "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2048%2048'%3E%3Crect%20width='48'%20height='48'%20fill='%23fff6d6'/%3E%3Crect%20x='13'%20y='16'%20width='22'%20height='22'%20rx='5'%20fill='%23e8a317'/%3E%3Crect%20x='15'%20y='10'%20width='18'%20height='6'%20rx='2'%20fill='%237a4b12'/%3E%3Crect%20x='13'%20y='23'%20width='22'%20height='8'%20fill='%23fff6d6'/%3E%3C/svg%3E",
  mug: "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2048%2048'%3E%3Crect%20width='48'%20height='48'%20fill='%23e6f0fa'/%3E%3Crect%20x='11'%20y='15'%20width='20'%20height='22'%20rx='4'%20fill='%233b6ea8'/%3E%3Cpath%20d='M31%2020h3a5%205%200%200%201%200%2011h-3'%20fill='none'%20stroke='%233b6ea8'%20stroke-width='4'/%3E%3C/svg%3E",
  tea: "data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'%20viewBox='0%200%2048%2048'%3E%3Crect%20width='48'%20height='48'%20fill='%23e8f5e9'/%3E%3Cpath%20d='M24%2038c-9%200-13-7-11-16%208-1%2014%203%2014%2010%200-9%203-16%209-19%204%2013%200%2025-12%2025z'%20fill='%233f8f4f'/%3E%3C/svg%3E",
};

<Card size="md">
  <Row>
    <Title value="Shop" />
    <Spacer />
    <Badge label={`${total} € in the basket`} color={total > 0 ? "success" : "secondary"} />
  </Row>
  {goods.map((item) => (
    <Row key={item.sku} gap={3}>
      {pictures[item.sku] && <Image src={pictures[item.sku]} alt="" size={48} radius="md" />}
      <Col gap={0}>
        <Text value={item.name} weight="semibold" color={item.left > 0 ? undefined : "tertiary"} />
        <Caption value={item.left > 0 ? `${item.price} €, ${item.left} left` : `${item.price} €, sold out`} />
      </Col>
      <Spacer />
      <Button
        label={`Add ${item.name}`}
        size="sm"
        style="secondary"
        disabled={item.left === 0}
        onClickAction={{ type: "basket.add", payload: { sku: item.sku } }}
      />
    </Row>
  ))}
  <Divider />
  {basket.map((line) => (
    <Row key={line.name}>
      <Text value={`${line.count} × ${line.name}`} size="sm" />
      <Spacer />
      <Text value={`${line.price} €`} size="sm" />
    </Row>
  ))}
  {basket.length > 0 ? (
    <Row>
      <Text value="Total" weight="semibold" />
      <Spacer />
      <Text value={`${total} €`} weight="semibold" />
    </Row>
  ) : (
    <Caption value="The basket is empty." />
  )}
  {basket.length > 0 && <Caption value="Write “check out” to book the pick-up." />}
</Card>
