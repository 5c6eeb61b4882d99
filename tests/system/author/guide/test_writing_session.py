"""A session in which an agent writes a table, a form and a chart in JSX through tools alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import orjson

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from widgetd.server.render.entry import CHARACTERS_OF_A_TOKEN

MOST_CALLS, MOST_TOKENS = 18, 14_000

TABLE = """const schema = {
  type: "object",
  properties: {
    month: { type: "string", description: "The month, as May 2026." },
    rows: {
      type: "array",
      description: "The expenses, in the order of their dates.",
      items: {
        type: "object",
        properties: {
          what: { type: "string", description: "What was bought." },
          amount: { type: "number", description: "In euros." },
          paid: { type: "boolean", description: "True once it is paid." },
        },
        required: ["what", "amount", "paid"],
        additionalProperties: false,
      },
    },
  },
  required: ["month", "rows"],
  additionalProperties: false,
};
const sample = {
  month: "May 2026",
  rows: [{ what: "Train", amount: 42.5, paid: true }, { what: "Hotel", amount: 180, paid: false }],
};

const total = rows.reduce((sum, row) => sum + row.amount, 0);

<Card>
  <Title value={`Expenses in ${month}`} size="sm" />
  <Table>
    <Table.Row header>
      <Table.Cell><Text value="What" /></Table.Cell>
      <Table.Cell align="end"><Text value="Amount" /></Table.Cell>
      <Table.Cell><Text value="State" /></Table.Cell>
    </Table.Row>
    {rows.map((row) => (
      <Table.Row>
        <Table.Cell><Text value={row.what} /></Table.Cell>
        <Table.Cell align="end"><Text value={`€ ${row.amount.toFixed(2)}`} /></Table.Cell>
        <Table.Cell>
          <Badge label={row.paid ? "Paid" : "Open"} color={row.paid ? "success" : "warning"} />
        </Table.Cell>
      </Table.Row>
    ))}
  </Table>
  <Text value={`Total: € ${total.toFixed(2)}`} weight="semibold" />
</Card>
"""
FORM = """const schema = {
  type: "object",
  properties: {
    city: { type: "string", description: "Where the trip goes." },
    classes: {
      type: "array",
      items: { type: "string" },
      description: "The classes that can be booked.",
    },
  },
  required: ["city", "classes"],
  additionalProperties: false,
};
const sample = { city: "Bergen", classes: ["Second", "First"] };

<Card>
  <Title value={`A trip to ${city}`} size="sm" />
  <Form onSubmitAction={{ type: "trip.book", payload: { city } }}>
    <Label fieldName="date" value="Date" />
    <DatePicker name="date" />
    <Label fieldName="class" value="Class" />
    <Select name="class" options={classes.map((name) => ({ label: name, value: name }))} />
    <Checkbox name="quiet" label="In a quiet carriage" />
    <Button submit label="Book" />
  </Form>
</Card>
"""
CHART = """const schema = {
  type: "object",
  properties: {
    title: { type: "string", description: "What is counted." },
    days: {
      type: "array",
      description: "A value for each day.",
      items: {
        type: "object",
        properties: {
          day: { type: "string", description: "As 'Mon'." },
          visits: { type: "number", description: "Visits on that day." },
        },
        required: ["day", "visits"],
        additionalProperties: false,
      },
    },
  },
  required: ["title", "days"],
  additionalProperties: false,
};
const sample = { title: "Visits", days: [{ day: "Mon", visits: 12 }, { day: "Tue", visits: 19 }] };

<Card>
  <Title value={title} size="sm" />
  <Chart
    data={days}
    series={[{ type: "bar", dataKey: "visits", label: title }]}
    xAxis={{ dataKey: "day" }}
  />
</Card>
"""
WIDGETS = {"Expenses": TABLE, "Trip": FORM, "Visits": CHART}
ARGUMENTS: dict[str, dict[str, Any]] = {
    "expenses": {"month": "June 2026", "rows": [{"what": "Bus", "amount": 3, "paid": True}]},
    "trip": {"city": "Oslo", "classes": ["Second"]},
    "visits": {"title": "Orders", "days": [{"day": "Wed", "visits": 7}]},
}
COMPONENTS = (
    *("Card", "Title", "Text", "Table", "Table.Row", "Table.Cell", "Badge"),
    *("Form", "Label", "DatePicker", "Select", "Checkbox", "Button", "Chart"),
)


def sidecar_of(name: str) -> str:
    return f'description = "Show {name.lower()}. Use it when the user asks for them."\n'


async def test_agent_writes_table_form_and_chart_in_few_calls_and_tokens(tmp_path: Path) -> None:
    transcript: list[tuple[str, int]] = []
    settings = {"toolset": "author", "allow_upload": True, "allow_unasked": True}
    async with serving(tmp_path, **settings) as url, connect_client(url, "legacy") as connection:

        async def call(tool: str, **arguments: Any) -> dict[str, Any]:
            with anyio.fail_after(PATIENCE_S):
                result = await connection.client.call_tool(tool, arguments)
            assert not result.is_error, result.content
            read = "".join(getattr(block, "text", "") for block in result.content)
            characters = len(orjson.dumps(arguments)) + len(read)
            transcript.append((tool, characters // CHARACTERS_OF_A_TOKEN))
            return dict(result.structured_content or {})

        await call("get_guide", names=["jsx"])
        await call("get_component_details", names=list(COMPONENTS))
        # A slip that models make: the vocabulary of another library.
        wrong = TABLE.replace("Badge label=", "Chip label=")
        slip = await call("try_widget", jsx=wrong, sidecar=sidecar_of("Expenses"))
        for name, jsx in WIDGETS.items():
            trial = await call("try_widget", jsx=jsx, sidecar=sidecar_of(name))
            assert trial["findings"] == [], trial["findings"]
        notifications = connection.notifications
        for name, jsx in WIDGETS.items():
            await call("save_widget", file=name, jsx=jsx, sidecar=sidecar_of(name))
        await connection.wait_for_more_than(notifications)
        trees = [await call(tool, **arguments) for tool, arguments in ARGUMENTS.items()]

    assert [one["code"] for one in slip["findings"]] == ["W1401"]
    assert [each["type"] for each in trees] == ["Card"] * 3
    assert "Total: \u20ac 3.00" in str(trees[0])
    assert "trip.book" in str(trees[1])
    assert "Chart" in str(trees[2])
    assert len(transcript) <= MOST_CALLS, transcript
    assert sum(tokens for _, tokens in transcript) <= MOST_TOKENS, transcript
