"""User actions in a widget reach the reader that waits for them, and nothing else does."""

from __future__ import annotations

import json
from typing import Any

import pytest
from mcp import Client
from mcp.client.extension import advertise
from mcp_types import CallToolResult, TextContent

from tests.support.form import ARGUMENTS, GIVEN, act, order
from tests.support.widgets import build_widget, bundled_widgets, greeting, snapshot_of
from widgetd.server.access.principal import UI_EXTENSION
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.render.result import Policy
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import Store, local_store

pytestmark = pytest.mark.serves(
    order(), build_widget(), bounds=Bounds(actions=2, payload_bytes=1000)
)


@pytest.fixture
async def render_id(client: Client) -> str:
    return id_of(await client.call_tool("order", ARGUMENTS))


def id_of(result: CallToolResult) -> str:
    assert result.meta is not None
    identifier: str = result.meta["widgetd/render"]["id"]
    return identifier


def text_blocks(result: CallToolResult) -> list[str]:
    return [block.text for block in result.content if isinstance(block, TextContent)]


async def await_action(client: Client, render_id: str, **arguments: Any) -> dict[str, Any]:
    query = {"render_id": render_id, "timeout_s": 0, **arguments}
    result = await client.call_tool("await_widget_action", query)
    assert result.structured_content == json.loads(text_blocks(result)[0])
    content: dict[str, Any] = result.structured_content
    return content


async def test_action_is_delivered_to_waiting_readers_until_it_is_acknowledged(
    client: Client, render_id: str
) -> None:
    receipt = await act(client, render_id, {**GIVEN, "count": 2, "size": "M"})
    first = await await_action(client, render_id)
    again = await await_action(client, render_id)
    after = await await_action(client, render_id, after=first["next"])

    assert receipt.structured_content == {"status": "accepted", "next": 1}
    [action] = first["actions"]
    assert isinstance(action.pop("at"), float)
    assert action == {
        "seq": 1,
        "action": "order.send",
        "payload": {**GIVEN, "count": 2, "size": "M"},
    }
    assert (first["status"], first["next"]) == ("actions", 1)
    assert again["next"] == 1
    assert after == {"actions": [], "next": 1, "status": "timeout"}


async def test_repeated_idempotency_key_queues_one_action_with_one_answer(
    client: Client, render_id: str
) -> None:
    first = await act(client, render_id, GIVEN)
    again = await act(client, render_id, GIVEN)
    other = await act(client, render_id, GIVEN, key="k2")

    assert first.structured_content == {"status": "accepted", "next": 1}
    assert again.structured_content == {"status": "accepted", "next": 1, "repeated": True}
    assert other.structured_content == {"status": "accepted", "next": 2}
    assert len((await await_action(client, render_id))["actions"]) == 2


async def test_remounted_page_reads_the_last_action_of_its_version(
    client: Client, render_id: str
) -> None:
    async def status(after: int) -> Any:
        query = {"render_id": render_id, "after": after, "timeout_s": 0}
        return (await client.call_tool("follow_render", query)).structured_content

    before = await status(1)
    await act(client, render_id, GIVEN)
    await act(client, render_id, GIVEN)
    await act(client, render_id, {"order": "o1", "line": "tea"}, action="line.drop", key="k2")
    acted = await status(1)
    await client.call_tool("update_render", {"render_id": render_id, "note": "Dropped."})

    assert before == {"status": "timeout"}
    assert acted == {"status": "timeout", "acted": "line.drop"}
    assert await status(2) == {"status": "timeout"}


async def test_result_names_the_actions_that_its_sidecar_lets_repeat() -> None:
    counter = order("[actions.'line.drop']\ndescription = 'Less.'\nrepeat = true")
    server = build(Registry(snapshot_of(counter)), local_store(Bounds()))
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        result = await client.call_tool("order", ARGUMENTS)

    assert result.meta is not None
    assert result.meta["widgetd/render"]["repeat"] == ["line.drop"]


async def test_key_keeps_its_answer_when_the_queue_is_full(client: Client, render_id: str) -> None:
    for key in ("k1", "k2"):
        await act(client, render_id, GIVEN, key=key)

    assert not (await act(client, render_id, GIVEN, key="k1")).is_error
    refused = await act(client, render_id, GIVEN, key="k3")
    assert text_blocks(refused) == [
        (
            "[W2402] 2 actions of this render are unread; "
            "try again when await_widget_action has read them (retry: yes)"
        )
    ]


async def test_constants_of_a_payload_arrive_as_written(client: Client, server: Server) -> None:
    big = 2**60 + 1
    button = '{"type":"Button","onClickAction":{"type":"a","payload":BIG}}'
    template = f'{{"type":"Card","children":[{button.replace("BIG", str(big))}]}}'
    server.registry.swap(snapshot_of(build_widget("Big", template=template)))
    render_id = id_of(await client.call_tool("big", {"who": "Ada"}))

    # A browser reads the number as the nearest that it knows.
    receipt = await act(client, render_id, {"value": 2**60}, action="a")

    assert not receipt.is_error
    [action] = (await await_action(client, render_id))["actions"]
    assert action["payload"] == {"value": big}


async def test_payload_other_than_an_object_becomes_the_value_of_one(
    client: Client, server: Server
) -> None:
    button = '{"type":"Button","onClickAction":{"type":"a","payload":"yes"}}'
    template = f'{{"type":"Card","children":[{button}]}}'
    server.registry.swap(snapshot_of(build_widget("Bare", template=template)))
    render_id = id_of(await client.call_tool("bare", {"who": "Ada"}))

    receipt = await act(client, render_id, "yes", action="a")

    assert not receipt.is_error
    [action] = (await await_action(client, render_id))["actions"]
    assert action["payload"] == {"value": "yes"}


async def test_unserializable_payload_is_refused(client: Client, render_id: str) -> None:
    refused = await act(client, render_id, {**GIVEN, "more": 2**64})

    assert text_blocks(refused) == [
        (
            "[W2002] payload.more: expected a JSON value, got an integer of more than 64 bits "
            "(correct this and call again)"
        )
    ]


@pytest.mark.parametrize(
    ("payload", "errors", "text"),
    [
        (
            {"order": "o1"},
            {"buyer.email": ["Give an email address, as name@example.org."]},
            "payload.buyer.email: expected an email address of at least 1 character, got nothing",
        ),
        (
            {"order": "o1", "buyer": {"email": "nobody", "pin": "1234"}, "size": "XL"},
            {
                "buyer.email": ["Give an email address, as name@example.org."],
                "size": ["Choose one of those that are offered."],
            },
            (
                "payload.buyer.email: expected an email address of at least 1 character, "
                'got "nobody"; payload.size: expected one of "S", "M", "", got "XL"'
            ),
        ),
        (
            {**GIVEN, "buyer": {"email": "ada@example.com", "pin": True}},
            {"buyer.pin": ["Fill this in."]},
            "payload.buyer.pin: expected a string, got a boolean",
        ),
        (
            {**GIVEN, "order": "o2"},
            {"order": ['expected "o1", got "o2"']},
            'payload.order: expected "o1", got "o2"',
        ),
        (
            {**GIVEN, "admin": True},
            {"admin": ["expected no such property, got a boolean"]},
            "payload.admin: expected no such property, got a boolean",
        ),
    ],
)
async def test_invalid_payload_is_reported_by_field(
    client: Client, render_id: str, payload: Any, errors: dict[str, Any], text: str
) -> None:
    refused = await act(client, render_id, payload)

    assert refused.is_error
    assert refused.structured_content == {"status": "invalid", "validationErrors": errors}
    these = "these" if len(errors) > 1 else "this"
    assert text_blocks(refused) == [f"[W2404] {text} (correct {these} and call again)"]
    assert refused.meta is not None
    assert refused.meta["widgetd/error"]["code"] == "W2404"
    assert (await await_action(client, render_id))["status"] == "timeout"


CHECKED = """
[actions."order.send"]
description = "The user sends the order."
[[actions."order.send".checks]]
field = "count"
holds = "payload.count >= 2"
says = "Order two at least."
[[actions."order.send".checks]]
field = "size"
holds = "payload.size != 'M' or payload.count < 5"
says = "There are four of these."
"""


@pytest.mark.parametrize(
    ("added", "errors"),
    [
        ({"count": 2, "size": "M"}, {}),
        ({"count": 1}, {"count": ["Order two at least."]}),
        ({"count": 9, "size": "M"}, {"size": ["There are four of these."]}),
        ({"size": "S"}, {"count": ["Order two at least."]}),
        ({"count": "x"}, {"count": ["Order two at least."]}),
        ({"size": "XL"}, {"size": ["There are four of these."]}),
    ],
)
async def test_payload_must_pass_its_authors_checks(
    store: Store, added: dict[str, Any], errors: dict[str, list[str]]
) -> None:
    server = build(Registry(snapshot_of(order(CHECKED))), store)
    async with Client(sdk.lowlevel_of(server.mcp)) as client:
        render_id = id_of(await client.call_tool("order", ARGUMENTS))
        answer = await act(client, render_id, {**GIVEN, **added})
        actions = (await await_action(client, render_id))["actions"]

    assert answer.structured_content is not None
    assert answer.structured_content.get("validationErrors", {}) == errors
    assert len(actions) == (0 if errors else 1)
    if added.get("count") == 9:
        assert text_blocks(answer) == [
            "[W2404] payload.size: There are four of these. (correct this and call again)"
        ]


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ("12", "Write at least 6 characters."),
        ("call me", "Give an email address, as name@example.org."),
    ],
)
async def test_field_of_a_call_is_checked_by_its_own_rules(
    store: Store, sent: str, says: str
) -> None:
    [form] = [widget for widget in bundled_widgets() if widget.tool == "lead_form"]
    phone = {"name": "phone", "label": "Phone", "pattern": "[0-9 ]*", "minLength": 6}
    wording = {"says": "Digits, please."}
    mail = {"name": "mail", "label": "Email", "kind": "email", "minLength": 6}
    async with Client(sdk.lowlevel_of(build(Registry(snapshot_of(form)), store).mcp)) as client:
        for field, text in (({**phone, **wording}, wording["says"]), (mail, says)):
            arguments = {"formId": "f", "title": "Call", "fields": [field]}
            render_id = id_of(await client.call_tool("lead_form", arguments))
            payload = {"formId": "f", "lead": {field["name"]: sent}}
            answer = await client.call_tool(
                "widget_action",
                {"render_id": render_id, "action": "lead.submit", "payload": payload},
            )
            errors = {f"lead.{field['name']}": [text]}
            assert answer.structured_content == {"status": "invalid", "validationErrors": errors}


async def test_payload_impossible_for_a_control_is_refused(client: Client, server: Server) -> None:
    buttons = ",".join(
        f'{{"type":"Button","onClickAction":{{"type":"a","payload":{{"x":{n},"y":{n}}}}}}}'
        for n in (1, 2)
    )
    server.registry.swap(
        snapshot_of(build_widget("Two", template=f'{{"type":"Card","children":[{buttons}]}}'))
    )
    render_id = id_of(await client.call_tool("two", {"who": "Ada"}))

    refused = await act(client, render_id, {"x": 1, "y": 2}, action="a")

    assert text_blocks(refused) == [
        (
            "[W2404] payload: expected values that stand together in the widget, "
            "got another combination of them (correct this and call again)"
        )
    ]


@pytest.mark.parametrize(
    ("action", "text"),
    [
        ("order.sent", "the render offers no action 'order.sent'; did you mean 'order.send'?"),
        (
            "x",
            "the render offers no action 'x'; it offers 'order.send', 'order.stop' or 'line.drop'",
        ),
    ],
)
async def test_action_missing_from_the_tree_is_refused(
    client: Client, render_id: str, action: str, text: str
) -> None:
    refused = await act(client, render_id, GIVEN, action=action)

    assert text_blocks(refused) == [f"[W2401] action: {text} (correct this and call again)"]


async def test_widget_without_actions_takes_none(client: Client) -> None:
    result = await client.call_tool("greeting", {"who": "Ada"})

    refused = await act(client, id_of(result), {})

    assert text_blocks(refused) == [
        (
            "[W2401] action: the render offers no action 'order.send'; "
            "it offers none at all (retry: no)"
        )
    ]


async def test_expired_render_takes_no_action_and_has_none(client: Client) -> None:
    refused = await act(client, "r_nobody", GIVEN)

    assert text_blocks(refused) == [
        (
            "[W2007] render_id: there is no render 'r_nobody', or not any more; "
            "render the widget again (retry: no)"
        )
    ]
    assert await await_action(client, "r_nobody") == {"actions": [], "next": 0, "status": "expired"}


async def test_oversized_payload_is_refused(client: Client, render_id: str) -> None:
    payload = {"order": "o1", "buyer": {"email": "ada@example.com", "pin": "9" * 1000}}

    refused = await act(client, render_id, payload)

    assert text_blocks(refused) == [
        (
            "[W2403] payload: expected at most 1000 bytes of JSON, got 1059 "
            "(correct this and call again)"
        )
    ]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_action_tool_is_listed_only_to_pages(
    server: Server, client: Client, mode: Any
) -> None:
    assert "widget_action" not in {tool.name for tool in (await client.list_tools()).tools}

    apps = [advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})]
    async with Client(sdk.lowlevel_of(server.mcp), mode=mode, extensions=apps) as page:
        tools = {tool.name: tool for tool in (await page.list_tools()).tools}
    acting, waiting = tools["widget_action"], tools["await_widget_action"]

    assert acting.meta == {"ui": {"visibility": ["app"]}}
    assert acting.annotations is not None
    assert (acting.annotations.read_only_hint, acting.annotations.idempotent_hint) == (False, True)
    assert waiting.meta is None
    assert waiting.annotations is not None
    assert (waiting.annotations.read_only_hint, waiting.annotations.idempotent_hint) == (True, True)


async def test_result_with_actions_ends_with_the_id_of_its_render(client: Client) -> None:
    plain = await client.call_tool("order", ARGUMENTS)
    split: Any = {"widgetd/profile": "split"}
    facts = await client.call_tool("order", ARGUMENTS, meta=split)

    assert text_blocks(plain) == [f"Order o1\nRender: {id_of(plain)}"]
    assert text_blocks(facts) == [f"Order o1\nRender: {id_of(facts)}"]
    assert facts.structured_content == {
        "uiType": "order",
        "summary": "Order o1",
        "renderId": id_of(facts),
    }


async def test_result_without_actions_names_no_render(client: Client) -> None:
    split: Any = {"widgetd/profile": "split"}
    result = await client.call_tool("greeting", {"who": "Ada"}, meta=split)

    assert text_blocks(result) == ["Greeting: who Ada"]
    assert result.structured_content is not None
    assert "renderId" not in result.structured_content
    assert result.meta is not None
    assert result.meta["widgetd/widget"] == greeting("Hello", "Ada")


async def test_mirrored_tree_is_followed_by_the_id_of_its_render(store: Store) -> None:
    mirroring = build(
        Registry(snapshot_of(order())), store, ServerOptions(policy=Policy(text="json"))
    )
    async with Client(sdk.lowlevel_of(mirroring.mcp)) as client:
        result = await client.call_tool("order", ARGUMENTS)

    tree, named = text_blocks(result)
    assert json.loads(tree) == result.structured_content
    assert named == f"Render: {id_of(result)}"


async def test_actions_are_in_details_and_in_a_resource(client: Client) -> None:
    details = await client.call_tool("get_widget_details", {"names": ["order", "greeting"]})
    resource = await client.read_resource("widget://order/actions")

    assert details.structured_content is not None
    known, without = details.structured_content["items"]
    assert [action["type"] for action in known["actions"]] == [
        "order.send",
        "order.stop",
        "line.drop",
    ]
    assert "actions" not in without
    [content] = resource.contents
    assert json.loads(getattr(content, "text")) == known["actions"]  # noqa: B009 - either kind
