"""Forms asked by clients without a view, in both eras of the protocol."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client
from mcp.client import ClientRequestContext
from mcp.server.connection import Connection
from mcp_types import ElicitRequestFormParams, ElicitResult, Implementation

from tests.support.clients import over_stdio
from tests.support.daemons import PATIENCE_S, serving
from tests.support.widgets import build_widget, snapshot_of, widget_file
from tests.system.server.mcp.booking import Airline
from widgetd.base.errors import CallError
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.elicitation import CONFIRMED, CONSENT
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store

ERAS = ("legacy", "auto")

FORM = {
    "type": "Card",
    "children": [
        {
            "type": "Form",
            "onSubmitAction": {"type": "task.create", "payload": {"list": "WHO"}},
            "children": [
                {"type": "Label", "value": "Title", "fieldName": "task.title"},
                {"type": "Input", "name": "task.title", "required": True, "defaultValue": "Tea"},
                {"type": "Input", "name": "count", "inputType": "number", "placeholder": "Count"},
                {"type": "Checkbox", "name": "urgent", "label": "Urgent", "defaultChecked": True},
                {
                    "type": "Select",
                    "name": "size",
                    "options": [
                        {"value": "s", "label": "Small"},
                        {"value": "l", "label": "Large", "disabled": True},
                    ],
                },
                {"type": "DatePicker", "name": "due", "min": "2026-01-01"},
                {"type": "Button", "label": "Add", "submit": True},
            ],
        }
    ],
}

SCHEMA = {
    "type": "object",
    "properties": {
        "task.title": {"type": "string", "title": "Title", "minLength": 1, "default": "Tea"},
        "count": {"type": "number", "title": "Count"},
        "urgent": {"type": "boolean", "title": "Urgent", "default": True},
        "size": {
            "type": "string",
            "title": "size",
            "oneOf": [{"const": "s", "title": "Small"}],
        },
        "due": {
            "type": "string",
            "title": "due",
            "description": "from 2026-01-01",
            "format": "date",
        },
    },
    "required": ["task.title"],
}

ANSWER: dict[str, Any] = {
    "task.title": "Glass",
    "count": 2,
    "urgent": False,
    "size": "s",
    "due": "2026-02-01",
}

PAYLOAD = {
    "list": "Ada",
    "task": {"title": "Glass"},
    "count": 2,
    "urgent": False,
    "size": "s",
    "due": "2026-02-01",
}

Answerer = Callable[[ElicitRequestFormParams], ElicitResult]


def write_form(folder: Path, *, sidecar: str = "", **changed: Any) -> None:
    template = json.dumps({**FORM, **changed}).replace('"WHO"', "{{ who | tojson }}")
    (folder / "Task.widget").write_text(widget_file("Task", template=template))
    (folder / "Task.widget.toml").write_text(sidecar)


def accept(_params: ElicitRequestFormParams) -> ElicitResult:
    return ElicitResult(action="accept", content=ANSWER)


@asynccontextmanager
async def asking(
    target: Any, era: str, answerer: Answerer, **options: Any
) -> AsyncIterator[tuple[Client, list[ElicitRequestFormParams]]]:
    """Yield a client that answers forms, and the list of forms that it received."""
    forms: list[ElicitRequestFormParams] = []

    async def answer(context: ClientRequestContext, params: Any) -> ElicitResult:  # noqa: ARG001 - as the client calls it
        forms.append(params)
        return answerer(params)

    mode: Any = era
    async with Client(target, mode=mode, elicitation_callback=answer, **options) as client:
        yield client, forms


async def call(client: Client, tool: str = "task", /, **arguments: Any) -> Any:
    with anyio.fail_after(PATIENCE_S):
        return await client.call_tool(tool, arguments or {"who": "Ada"})


async def await_action(client: Client, result: Any) -> list[dict[str, Any]]:
    render_id = result.meta["widgetd/render"]["id"]
    query = {"render_id": render_id, "timeout_s": 0}
    answer = await call(client, "await_widget_action", **query)
    actions: list[dict[str, Any]] = answer.structured_content["actions"]
    return actions


@pytest.mark.parametrize("era", ERAS)
async def test_client_asks_the_form_and_the_answer_becomes_its_action(
    tmp_path: Path, era: str
) -> None:
    write_form(tmp_path)
    audit = tmp_path / "log" / "audit.jsonl"
    async with (
        serving(tmp_path, elicit_forms=True, at_once=1, audit=audit) as url,
        asking(url, era, accept) as (client, forms),
    ):
        result = await call(client)
        actions = await await_action(client, result)

    assert [one.requested_schema for one in forms] == [SCHEMA]
    assert [(one["action"], one["payload"]) for one in actions] == [("task.create", PAYLOAD)]
    assert "The user answered the form: task.create" in result.content[-1].text
    audited = [json.loads(line).get("tool") for line in audit.read_text().splitlines()]
    assert audited.count("widget_action") == 1


async def test_client_over_stdio_is_asked_too(tmp_path: Path) -> None:
    write_form(tmp_path)
    target = over_stdio(tmp_path)
    target.env = {**(target.env or {}), "WIDGETD_ELICIT_FORMS": "true"}
    async with asking(target, "legacy", accept) as (client, forms):
        result = await call(client)
        assert len(forms) == 1
        assert len(await await_action(client, result)) == 1


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("names", [("name", "arguments"), ("tool", "args")])
async def test_render_widget_asks_as_the_tool_itself_does(
    tmp_path: Path, era: str, names: tuple[str, str]
) -> None:
    write_form(tmp_path)
    async with (
        serving(tmp_path, elicit_forms=True) as url,
        asking(url, era, accept) as (client, forms),
    ):
        arguments = dict(zip(names, ("task", {"who": "Ada"}), strict=True))
        await call(client, "render_widget", **arguments)
        refused = await call(client, "render_widget", name="task", argument={})

    assert len(forms) == 1
    assert refused.content[0].text.startswith("[W2002] argument: expected no such property")


DEFAULTS: dict[str, dict[str, Any]] = {
    "name": {"type": "string", "default": "John Doe"},
    "age": {"type": "integer", "default": 30},
    "score": {"type": "number", "default": 95.5},
    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
    "verified": {"type": "boolean", "default": True},
}
"""The schema that the conformance suite's `elicitation-sep1034-defaults` expects."""


async def test_form_has_the_types_of_arguments_of_the_same_names(tmp_path: Path) -> None:
    numbers = [
        {"type": "Input", "name": name, "inputType": "number", "defaultValue": "VALUE"}
        for name in ("age", "score")
    ]
    options = [{"value": each, "label": each} for each in DEFAULTS["status"]["enum"]]
    form = {
        "type": "Form",
        "onSubmitAction": {"type": "profile.save"},
        "children": [
            {"type": "Input", "name": "name", "defaultValue": "John Doe"},
            *numbers,
            {"type": "Select", "name": "status", "defaultValue": "active", "options": options},
            {"type": "Checkbox", "name": "verified", "label": "verified", "defaultChecked": True},
            {"type": "Button", "label": "Save", "submit": True},
        ],
    }
    template = json.dumps({"type": "Card", "children": [form]})
    for name in ("age", "score"):
        template = template.replace('"VALUE"', f'"{{{{ {name} }}}}"', 1)
    schema = {"type": "object", "properties": {name: DEFAULTS[name] for name in ("age", "score")}}
    (tmp_path / "Task.widget").write_text(widget_file("Task", template=template, schema=schema))
    decline = ElicitResult(action="decline")
    async with (
        serving(tmp_path, elicit_forms=True) as url,
        asking(url, "auto", lambda _params: decline) as (client, forms),
    ):
        await call(client, age=30, score=95.5)

    properties = forms[0].requested_schema["properties"]
    assert {
        name: {key: value for key, value in each.items() if key != "title"}
        for name, each in properties.items()
    } == DEFAULTS


@pytest.mark.parametrize(
    ("declared", "asks"),
    [({}, True), ({"form": {}}, True), ({"form": {}, "url": {}}, True), ({"url": {}}, False)],
    ids=json.dumps,
)
@pytest.mark.parametrize("version", ["2025-06-18", "2026-07-28"])
def test_client_with_elicitation_of_no_mode_is_asked_by_forms(
    version: str, declared: dict[str, Any], asks: bool
) -> None:
    about = {"name": "client", "version": "1"}
    client = sdk.client_info(Connection.from_envelope(version, about, {"elicitation": declared}))
    assert asks in (client.asks, client.asks_in_call)
    assert not (client.asks and client.asks_in_call)


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_decline_is_not_reported_as_the_users_refusal(
    tmp_path: Path, era: str, action: Any
) -> None:
    write_form(tmp_path)
    async with (
        serving(tmp_path, elicit_forms=True) as url,
        asking(url, era, lambda _params: ElicitResult(action=action)) as (client, forms),
    ):
        result = await call(client)
        actions = await await_action(client, result)

    text = " ".join(one.text for one in result.content)
    assert len(forms) == 1
    assert actions == []
    assert "was not answered here" in text
    assert "refuse" not in text
    assert not result.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_invalid_elicited_answer_is_not_queued(tmp_path: Path, era: str) -> None:
    write_form(tmp_path)
    wrong = ElicitResult(action="accept", content={"task.title": ""})
    async with (
        serving(tmp_path, elicit_forms=True) as url,
        asking(url, era, lambda _params: wrong) as (client, _asked),
    ):
        result = await call(client)
        assert await await_action(client, result) == []

    assert "The user's answer to the form was not taken: [W2404]" in result.content[-1].text


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("sidecar", "changed"),
    [
        ('sensitive = ["who"]\n', {}),
        ("", {"children": [{**FORM["children"][0], "children": [  # type: ignore[dict-item]
            {"type": "Input", "name": "pin", "inputType": "password"}]}]}),
    ],
    ids=["sensitive", "password"],
)  # fmt: skip
async def test_sensitive_forms_are_never_asked(
    tmp_path: Path, era: str, sidecar: str, changed: dict[str, Any]
) -> None:
    write_form(tmp_path, sidecar=sidecar, **changed)
    async with (
        serving(tmp_path, elicit_forms=True) as url,
        asking(url, era, accept) as (client, forms),
    ):
        result = await call(client)

    assert forms == []
    assert not result.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_form_needs_the_setting_and_a_client_that_does_not_draw(
    tmp_path: Path, era: str
) -> None:
    write_form(tmp_path)
    draws = Implementation(name="claude-ai", version="1")
    async with serving(tmp_path) as url, asking(url, era, accept) as (client, forms):
        await call(client)
        assert forms == []
    async with (
        serving(tmp_path, elicit_forms=True) as url,
        asking(url, era, accept, client_info=draws) as (client, forms),
    ):
        await call(client)
        assert forms == []


async def test_question_takes_no_place_of_at_once_and_ends_after_its_deadline() -> None:
    template = json.dumps(FORM).replace('"WHO"', "{{ who | tojson }}")
    registry = Registry(snapshot_of(build_widget("Task", template=template)))
    options = ServerOptions(elicit_forms=True, form_s=1)
    server = sdk.lowlevel_of(build(registry, local_store(Bounds(at_once=1)), options).mcp)
    arrived, answered, results = anyio.Event(), anyio.Event(), list[Any]()

    async def never(context: ClientRequestContext, params: Any) -> ElicitResult:  # noqa: ARG001 - as the client calls it
        arrived.set()
        await anyio.sleep_forever()
        raise AssertionError

    async with (
        Client(server, mode="legacy", elicitation_callback=never) as client,
        Client(server, mode="legacy") as other,
        anyio.create_task_group() as tasks,
    ):

        async def ask() -> None:
            results.append(await call(client))
            answered.set()

        tasks.start_soon(ask)
        with anyio.fail_after(PATIENCE_S):
            await arrived.wait()
            assert not (await call(other)).is_error
            await answered.wait()

    assert "was not answered here" in results[0].content[-1].text


BOUND = """
[actions."task.create"]
upstream = "airline"
tool = "book_seat"
confirm = "Create {{ payload.task.title }}?"
[actions."task.create".arguments]
title = "payload.task.title"
[actions."task.create".result]
who = "seat.code"
"""


@asynccontextmanager
async def pressing(
    era: str, airline: Airline, confirmation: ElicitResult
) -> AsyncIterator[tuple[Client, list[ElicitRequestFormParams]]]:
    """Yield a client without a view that answers the form of a bound action so."""
    template = json.dumps(FORM).replace('"WHO"', "{{ who | tojson }}")
    registry = Registry(snapshot_of(build_widget("Task", template=template, sidecar=BOUND)))
    server = build(registry, local_store(), ServerOptions(elicit_forms=True))
    server.actions = airline

    def answer(params: ElicitRequestFormParams) -> ElicitResult:
        return confirmation if params.requested_schema == CONSENT else accept(params)

    async with asking(sdk.lowlevel_of(server.mcp), era, answer) as (client, forms):
        yield client, forms


AGREED = ElicitResult(action="accept", content={CONFIRMED: True})


@pytest.mark.parametrize("era", ERAS)
async def test_form_of_a_bound_action_presses_after_a_second_question(era: str) -> None:
    airline = Airline(confirms=True, elicits=True)
    async with pressing(era, airline, AGREED) as (client, forms):
        result = await call(client)

    assert [one.message for one in forms][1:] == ["Create Glass?\ntitle: Glass"]
    assert [request for request, _ in airline.requests] == [{"title": "Glass"}]
    assert "The user's action task.create was done." in result.content[-1].text
    assert '"12A"' in json.dumps(result.structured_content), "the widget is drawn anew"
    assert "press" not in json.dumps(result.model_dump(mode="json"))


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    "confirmation",
    [
        ElicitResult(action="decline"),
        ElicitResult(action="cancel"),
        ElicitResult(action="accept", content={CONFIRMED: False}),
        ElicitResult(action="accept"),
    ],
    ids=["declined", "cancelled", "no", "empty"],
)
async def test_unconfirmed_press_is_not_done(era: str, confirmation: ElicitResult) -> None:
    airline = Airline(confirms=True, elicits=True)
    async with pressing(era, airline, confirmation) as (client, forms):
        result = await call(client)

    assert len(forms) == 2
    assert not airline.calls
    assert result.content[-1].text == (
        "The user did not confirm the action here, so nothing was done."
    )


@pytest.mark.parametrize("era", ERAS)
async def test_press_is_confirmed_only_for_tools_that_the_operator_names(era: str) -> None:
    airline = Airline(confirms=True)
    async with pressing(era, airline, AGREED) as (client, forms):
        result = await call(client)

    assert forms == []
    assert not airline.calls
    assert not result.is_error


@pytest.mark.parametrize("era", ERAS)
async def test_failed_press_of_a_form_is_reported(era: str) -> None:
    airline = Airline(elicits=True, error=CallError("W5013", "sent, and not answered"))
    async with pressing(era, airline, AGREED) as (client, forms):
        result = await call(client)

    assert len(forms) == 1, "the operator wants no confirmation"
    assert "may have been done" in result.content[-1].text
    assert airline.calls.total() == 1
