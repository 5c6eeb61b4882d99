const schema = {
  type: "object",
  properties: {
    recipe: {
      type: "object",
      properties: {
        title: { type: "string" },
        image: { type: "string" },
        servings: { type: "integer" },
        time: {
          type: "object",
          properties: { prep: { type: "integer" }, cook: { type: "integer" } },
          required: ["prep", "cook"],
        },
        rating: { type: "number" },
        tags: { type: "array", items: { type: "string" } },
        steps: { type: "array", items: { type: "string" } },
      },
      required: ["title", "time", "steps"],
    },
  },
  required: ["recipe"],
};
const sample = {
  recipe: {
    title: "Lentil soup",
    servings: 4,
    time: { prep: 10, cook: 35 },
    rating: 3.6,
    tags: ["vegan", "winter"],
    steps: ["Rinse the lentils.", "Fry the onions.", "Simmer it all."],
  },
};

const {
  title,
  image,
  servings = 2,
  time: { prep, cook },
  rating,
  tags = [],
  steps,
} = recipe;
const minutes = prep + cook;
const duration = minutes >= 60 ? `${Math.floor(minutes / 60)} h ${minutes % 60} min` : `${minutes} min`;

<Card>
  {image ? <Image src={image} aspectRatio="16/9" /> : null}
  <Title>{title}</Title>
  <Row>
    <Icon name="clock" />
    <Text>{duration}</Text>
    <Icon name="user" />
    <Text>{servings} servings</Text>
  </Row>
  {typeof rating === "number" && (
    <Row gap={1}>
      {[1, 2, 3, 4, 5].map((n) => (
        <Icon key={n} name={n <= Math.round(rating) ? "star-filled" : "star"} />
      ))}
    </Row>
  )}
  {!!tags.length && (
    <Row>
      {tags.map((tag) => (
        <Badge key={tag} label={`#${tag}`} />
      ))}
    </Row>
  )}
  {/* The steps, numbered from one. */}
  {steps.map((step, i) => (
    <React.Fragment key={i}>
      <Divider />
      <Text>
        <>{i + 1}. {step}</>
      </Text>
    </React.Fragment>
  ))}
</Card>
