"""Actions bound to upstreams: done once, confirmed by a person, reported to all readers."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp_types import CallToolResult, TextContent

from tests.support.booking import (
    GIVEN,
    SIDECAR,
    Airline,
    airport,
    answer_of,
    code_of,
    host,
    mark,
    press,
    shown,
)
from tests.support.patience import PATIENCE_S
from widgetd.base.errors import CallError
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import LOCAL, ClientInfo
from widgetd.server.mcp.http_calls import caller_for, take_action
from widgetd.server.mcp.server import Server
from widgetd.server.observe.observer import ActionRecord, Observer
from widgetd.server.render.action_callers import ActionAnswer, DryRun
from widgetd.server.store.factory import Store


@dataclass
class Actions(Observer):
    """An observer that keeps the records of actions."""

    records: list[ActionRecord] = field(default_factory=list)
    differences: list[Widget] = field(default_factory=list)

    def on_action(self, action: ActionRecord) -> None:
        """Keep the record."""
        self.records.append(action)

    def on_difference(self, widget: Widget) -> None:
        """Keep the widget."""
        self.differences.append(widget)


@pytest.fixture
def airline() -> Airline:
    return Airline()


@pytest.fixture
def observer() -> Actions:
    return Actions()


@pytest.fixture
def airline_server(airline: Airline, store: Store, observer: Actions) -> Server:
    return airport(airline, store, observers=(observer,))


@pytest.fixture
async def airline_client(airline_server: Server) -> AsyncIterator[Client]:
    async with host(airline_server) as connected:
        yield connected


async def test_press_calls_the_upstream_and_redraws_the_widget(
    airline_client: Client, airline: Airline, observer: Actions
) -> None:
    render = await shown(airline_client)

    pressed = await press(airline_client, render, idempotency_key="k1")

    assert answer_of(pressed) == {
        "status": "done",
        "note": "Done.",
        "line": "The user's action seat.book was done. Flight PA 845: 12A",
    }
    assert airline.requests == [({"flight": "PA 845", "seat": "12A"}, "")]
    after = mark(pressed)
    assert (after["version"], after["state"], after["note"]) == (2, "done", "Done.")
    assert after["press"] == render["press"]
    assert pressed.meta is not None
    assert "12A" in json.dumps(pressed.meta["widgetd/widget"])
    [record] = observer.records
    assert (record.widget, record.upstream, record.tool, record.outcome) == (
        *("seats", "airline", "book_seat"),
        "done",
    )


async def test_waiting_model_and_followers_hear_of_it_once(
    airline_client: Client, store: Store
) -> None:
    render = await shown(airline_client)
    followed: list[CallToolResult] = []

    async def follow() -> None:
        query = {"render_id": render["id"], "after": 1, "timeout_s": PATIENCE_S}
        followed.append(await airline_client.call_tool("follow_render", query))

    async with anyio.create_task_group() as tasks:
        for _ in range(3):
            tasks.start_soon(follow)
        for _ in range(2):
            await press(airline_client, render, idempotency_key="k1")

    assert [mark(one)["version"] for one in followed] == [2, 2, 2]
    waiting = await store.actions.read(render["id"], timeout_s=0)
    assert [(one.action, one.outcome) for one in waiting.actions] == [("seat.book", "done")]
    query = {"render_id": render["id"], "timeout_s": 0}
    [item] = answer_of(await airline_client.call_tool("await_widget_action", query))["actions"]
    assert item["outcome"] == "done"


async def test_only_the_page_of_a_render_can_press(
    airline_server: Server, airline: Airline
) -> None:
    async with host(airline_server) as drawing, host(airline_server, draws=False) as plain:
        result = await drawing.call_tool("seats", GIVEN)
        render = mark(result)
        texts = [block.text for block in result.content if isinstance(block, TextContent)]
        resource = await plain.read_resource(f"widgetd://renders/{render['id']}")
        again = await plain.call_tool("show_render", {"render_id": render["id"]})
        refused = [
            await press(plain, {"id": render["id"], "press": secret}) for secret in ("", "guess")
        ]

    assert render["press"]
    assert render["press"] not in json.dumps([texts, result.structured_content])
    assert render["press"] not in resource.model_dump_json()
    assert "press" not in mark(again)
    assert [code_of(one) for one in refused] == ["W5012", "W5012"]
    assert not airline.calls


async def test_secret_is_for_the_page_of_the_renders_owner_alone(
    airline_client: Client, airline_server: Server, airline: Airline, observer: Actions
) -> None:
    render = await shown(airline_client)
    query = {"render_id": render["id"], "after": 1, "timeout_s": 0, "differed": True}
    secret = {"press": render["press"]}
    apps = ClientInfo(name="claude-ai", apps=True)
    owner = replace(caller_for(airline_server, LOCAL), client=apps)
    other = replace(owner, principal=replace(LOCAL, name="other"))
    pressing = {"render_id": render["id"], "action": "seat.book", "payload": {"seat": "12A"}}

    results = [
        await airline_server.call("show_render", {"render_id": render["id"]}, caller)
        for caller in (owner, other)
    ]
    for caller, more in ((other, secret), (other, {}), (owner, {}), (owner, secret)):
        await airline_server.call("follow_render", {**query, **more}, caller)
    refused = await airline_server.call("widget_action", {**pressing, **secret}, other)

    assert [render["press"].encode() in result.meta for result in results] == [True, False]
    assert [widget.tool for widget in observer.differences] == ["seats"]
    assert refused.code == "W5012"
    assert not airline.calls


async def test_widget_without_bound_actions_has_no_secret(airline: Airline) -> None:
    async with host(airport(airline, sidecar='summary = "x"')) as airline_client:
        assert "press" not in await shown(airline_client)


async def test_person_is_asked_before_and_the_token_is_for_this_press_alone(
    airline: Airline, airline_client: Client
) -> None:
    airline.confirms = True
    render, other = await shown(airline_client), await shown(airline_client)

    answer = answer_of(await press(airline_client, render))
    text = "Book 12A?\nseat: 12A\nflight: PA 845"
    assert answer == {"status": "confirm", "text": text, "token": answer["token"]}
    stolen = await press(airline_client, other, token=answer["token"])
    changed = await press(airline_client, render, token=answer["token"], payload={"seat": "30F"})
    assert not airline.calls
    assert [code_of(one) for one in (stolen, changed)] == ["W5015", "W5015"]

    answer = answer_of(await press(airline_client, render))
    assert answer_of(await press(airline_client, render, token=answer["token"]))["status"] == "done"
    assert airline.calls.total() == 1


async def test_question_about_a_tool_shows_its_arguments_without_secrets(airline: Airline) -> None:
    airline.confirms = True
    sidecar = SIDECAR.replace('confirm = "Book {{ payload.seat }}?"\n', "").replace(
        'seat = "payload.seat"', 'seat = "payload.seat"\npin = "payload.pin"\npass = "passport"'
    )
    async with host(airport(airline, sidecar=sidecar)) as airline_client:
        render = await shown(airline_client)
        answer = answer_of(await press(airline_client, render))
        await press(airline_client, render, token=answer["token"])

    assert answer["text"] == "Book a seat?\nseat: 12A\nflight: PA 845"
    [(request, _)] = airline.requests
    assert request == {"flight": "PA 845", "seat": "12A", "pin": "1234", "pass": "C01X00T47"}


async def test_press_is_refused_without_the_operators_permission_and_the_widget_stays(
    store: Store,
) -> None:
    async with host(airport(store=store)) as airline_client:
        render = await shown(airline_client)
        refused = await press(airline_client, render)

    assert code_of(refused) == "W5011"
    render_now = await store.renders.get(render["id"])
    assert render_now is not None
    assert render_now.version == 1


async def test_failure_has_the_upstreams_reason_and_can_be_tried_again(
    airline_client: Client, airline: Airline
) -> None:
    render = await shown(airline_client)
    airline.answer = ActionAnswer(is_done=False, words="Seat 12A is taken.")

    failed = answer_of(await press(airline_client, render))
    again = await press(airline_client, render, idempotency_key="k2")
    airline.answer = None
    done = answer_of(await press(airline_client, render, idempotency_key="k3"))

    assert (failed["status"], failed["note"]) == ("failed", "Seat 12A is taken.")
    assert (mark(again)["state"], mark(again)["note"]) == ("failed", "Seat 12A is taken.")
    assert done["status"] == "done"


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (
            CallError("W5002", "secret", recoverable=True),
            "Nothing was done: airline cannot be reached. Try again later.",
        ),
        (CallError("W5005", "secret"), "Nothing was done: airline does not take this."),
    ],
)
async def test_unsent_press_is_reported_as_not_done(
    airline_client: Client, airline: Airline, error: CallError, note: str
) -> None:
    airline.error = error

    failed = answer_of(await press(airline_client, await shown(airline_client)))

    assert (failed["status"], failed["note"]) == ("failed", note)


async def test_time_out_after_sending_is_never_repeated(
    airline_client: Client, airline: Airline
) -> None:
    airline.error = CallError("W5013", "no answer")
    render = await shown(airline_client)

    first = answer_of(await press(airline_client, render, idempotency_key="k1"))
    airline.error = None
    again = answer_of(await press(airline_client, render, idempotency_key="k1"))

    note = "This may have been done: airline did not answer. Look there before you try again."
    assert (first["status"], first["note"]) == ("unsure", note)
    assert (again["status"], again["note"], again["repeated"]) == ("unsure", note, True)
    assert airline.calls.total() == 1


async def test_action_with_an_invalid_answer_is_still_done(
    airline_client: Client, airline: Airline, observer: Actions
) -> None:
    airline.answer = ActionAnswer(is_done=True, value={"seat": {"code": "too long"}})

    done = answer_of(await press(airline_client, await shown(airline_client)))

    assert done["status"] == "done"
    assert done["note"] == "It was done, but this widget cannot show what came of it."
    assert [one.code for one in observer.records] == ["W5014"]


async def test_press_in_a_crashed_process_is_reported_as_unsure(
    airline: Airline, store: Store
) -> None:
    """The first server stores its claim, and is gone before the upstream has answered."""
    airline.gate = anyio.Event()
    airline.patience = -1e9
    async with anyio.create_task_group() as tasks, host(airport(airline, store)) as first:
        render = await shown(first)
        tasks.start_soon(partial(press, first, render, idempotency_key="k1"))
        while not airline.calls:
            await anyio.lowlevel.checkpoint()
        async with host(airport(airline, store)) as second:
            with anyio.fail_after(PATIENCE_S):
                again = answer_of(await press(second, render, idempotency_key="k1"))
        airline.gate.set()

    assert again["status"] == "unsure"
    assert airline.calls.total() == 1


async def test_press_under_way_is_awaited_by_every_other(
    airline_client: Client, airline: Airline
) -> None:
    airline.gate = anyio.Event()
    render = await shown(airline_client)
    answers: list[dict[str, Any]] = []

    async def push(**more: Any) -> None:
        answers.append(answer_of(await press(airline_client, render, **more)))

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            for key in ("k1", "k1", "k2"):
                tasks.start_soon(partial(push, idempotency_key=key))
            tasks.start_soon(push)
            while not airline.calls:
                await anyio.lowlevel.checkpoint()
            airline.gate.set()

    assert [one["status"] for one in answers] == ["done"] * 4
    assert sum("repeated" in one for one in answers) == 3
    assert airline.calls.total() == 1


async def test_repeatable_action_is_done_once_for_each_key(airline: Airline) -> None:
    sidecar = SIDECAR.replace('tool = "book_seat"', 'tool = "book_seat"\nrepeat = true')
    async with host(airport(airline, sidecar=sidecar)) as airline_client:
        render = await shown(airline_client)
        for key in ("k1", "k2", "k2"):
            await press(airline_client, render, idempotency_key=key)

    assert airline.calls.total() == 2


async def test_dry_run_shows_the_result_and_changes_nothing(
    airline_server: Server, airline: Airline, store: Store, airline_client: Client
) -> None:
    render = await shown(airline_client)
    dry = DryRun({"airline": {"book_seat": {"answer": {"seat": {"code": "7C"}}}}})
    caller = caller_for(airline_server, LOCAL)
    arguments = {"render_id": render["id"], "action": "seat.book", "payload": {"seat": "7C"}}

    preview = await take_action(airline_server, arguments, caller, dry_run=dry)
    token = preview["structuredContent"]["token"]
    result = await take_action(airline_server, {**arguments, "token": token}, caller, dry_run=dry)

    assert result["structuredContent"]["note"] == "Dry run: airline.book_seat was not called."
    assert result["_meta"]["widgetd/render"]["version"] == 2
    assert "7C" in json.dumps(result["_meta"]["widgetd/widget"])
    render_now = await store.renders.get(render["id"])
    assert render_now is not None
    assert (render_now.version, airline.calls.total()) == (1, 0)
    assert (await store.actions.read(render["id"], timeout_s=0)).actions == ()
