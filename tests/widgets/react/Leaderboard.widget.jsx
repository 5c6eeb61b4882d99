const schema = {
  type: "object",
  properties: {
    game: { type: "string" },
    players: {
      type: "array",
      items: {
        type: "object",
        properties: { name: { type: "string" }, score: { type: "number" } },
        required: ["name", "score"],
      },
    },
  },
  required: ["game", "players"],
};
const sample = {
  game: "Chess club",
  players: [
    { name: "Bo", score: 12 },
    { name: "Ann", score: 30 },
    { name: "Cy", score: 21 },
    { name: "Dee", score: 4 },
  ],
};

const medals = ["🥇", "🥈", "🥉"];
const ranked = [...players].sort((a, b) => b.score - a.score);
const [winner, ...others] = ranked;
const best = Math.max(...players.map((p) => p.score));

export default (
  <Card>
    <Title>{game}</Title>
    {winner && (
      <Caption>
        {winner.name} leads with {best} points, {others.length} behind
      </Caption>
    )}
    <>
      {ranked.slice(0, 3).map((player, index) => {
        const medal = medals[index];
        const behind = best - player.score;
        return (
          <Row key={index}>
            <Text>{`${medal} ${player.name}`}</Text>
            <Spacer />
            <Text>{player.score}</Text>
            {behind > 0 && <Caption>-{behind}</Caption>}
          </Row>
        );
      })}
    </>
    {ranked.length > 3 ? <Caption>and {ranked.length - 3} more</Caption> : null}
  </Card>
);
