"""Outputs of a daemon after a user entered a marker into each field of a form.

The outputs follow the tables of built-in tools, resources and pages, so that a new row is
searched as well.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import anyio
import httpx2
from anyio.abc import TaskStatus
from mcp import Client, MCPError

from tests.support.clients import Connection, connect_client
from tests.support.forked_daemons import forked_daemon
from tests.support.patience import PATIENCE_S
from tests.support.routes import PATH_VALUES, STREAMS, TABLES
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import calls_tool, endpoint, says
from tests.system.chat.talking import Talker, shown_widgets
from tests.system.daemon.collecting import collecting
from tests.system.server.store.receiver import receiving
from widgetd.daemon.wings import ROWS, WINGS
from widgetd.server.mcp.builtin.table import CORE

PIN, PASSPORT, HELD, NAME = (f"MARKER-{name}-7f3a" for name in ("pin", "passport", "held", "name"))
SECRETS = (PIN, PASSPORT)

TEMPLATE = """
{"type":"Card","asForm":true,
 "confirm":{"label":"Send","action":{"type":"trip.book","payload":{"ref":{{ held | tojson }}}}},
 "children":[
  {"type":"Input","name":"who.name","required":true},
  {"type":"Input","name":"who.pin","inputType":"password"},
  {"type":"Input","name":"passport","pattern":"MARKER.*"},
  {"type":"Text","value":{{ held | tojson }}}
 ]}
"""
SIDECAR = """
sensitive = ["held", "passport"]
[[examples]]
name = "one"
[examples.arguments]
held = "an example"
"""
OMIT: Any = object()
"""Of an argument that a tool does not take together with the others."""

ERAS: tuple[Literal["legacy", "auto"], ...] = ("legacy", "auto")

PAYLOAD = {"ref": HELD, "who": {"name": NAME, "pin": PIN}, "passport": PASSPORT}
WRONG_PAYLOADS = ({**PAYLOAD, "passport": f"no {PASSPORT}"}, {**PAYLOAD, "ref": f"no {HELD}"})


@dataclass
class Outputs:
    """All outputs of a daemon.

    Attributes:
        responses: Answers of tools, resources and pages, by request.
        read_by_models: Texts that a model reads, by what they answer.
        model_requests: The bodies of requests to the model.
        files: Contents of all files but the served ones, the log among them.
        spans: What a collector of traces received.
        awaited_payloads: Payloads that the reader of actions got.
        webhook_payloads: Payloads that the webhook got.
    """

    responses: dict[str, str] = field(default_factory=dict)
    read_by_models: dict[str, str] = field(default_factory=dict)
    model_requests: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    spans: bytes = b""
    awaited_payloads: list[Any] = field(default_factory=list)
    webhook_payloads: list[Any] = field(default_factory=list)

    def texts(self) -> dict[str, str]:
        """Return everything but what the two readers of actions got."""
        requests = {f"request {number}": text for number, text in enumerate(self.model_requests)}
        spans = {"traces": self.spans.decode(errors="replace")}
        return {**self.responses, **self.read_by_models, **requests, **self.files, **spans}


def trip_folder(parent: Path) -> Path:
    """Write the widget of a form with a password and sensitive fields; return its folder."""
    folder = parent / "served"
    folder.mkdir()
    (folder / "Trip.widget").write_text(trip_file())
    (folder / "Trip.widget.toml").write_text(SIDECAR)
    return folder


def trip_file(name: str = "Trip") -> str:
    schema = {
        "type": "object",
        "properties": {"held": {"type": "string"}},
        "required": ["held"],
        "additionalProperties": False,
    }
    return widget_file(name, schema=schema, template=TEMPLATE)


async def outputs_after_input(parent: Path, toolsets: Collection[str]) -> Outputs:
    """Serve, enter the markers by every way in, and ask for every output."""
    outputs, folder = Outputs(), trip_folder(parent)
    upstreams, log = parent / "up.toml", parent / "log"
    upstreams.write_text('[it]\nurl = "http://127.0.0.1:9/mcp"\n')
    async with (
        receiving() as receiver,
        collecting() as spans,
        endpoint(
            calls_tool("trip", {"held": HELD}), says("Fill it in."), says("Thank you.")
        ) as model,
    ):
        flags = [f"--toolset={name}" for name in sorted(set(toolsets) - {CORE})]
        flags += [
            "--gallery",
            "--chat",
            "--allow-upload",
            "--allow-unasked",
            "--app-tools=always",
            "--access-log",
        ]
        flags += [f"--chat-url={model.url}", "--chat-model=m", "--log-level=debug"]
        flags += [f"--webhook={receiver.url}", "--webhook-private", f"--upstreams={upstreams}"]
        flags += [f"--state-dir={parent / 'state'}", f"--audit={parent / 'audit.jsonl'}"]
        environment = {"WIDGETD_WEBHOOK_SECRET": "a secret of some length, at least"}
        with anyio.fail_after(12 * PATIENCE_S):
            async with forked_daemon(folder, *flags, log=log, environment=environment) as served:
                talker = Talker(served.url)
                async with anyio.create_task_group() as streams:
                    for path in sorted(STREAMS):
                        await streams.start(_record_stream, talker.base, path, outputs)
                    for era in ERAS:
                        await streams.start(_record_notices, served.url, era, outputs)
                    async with connect_client(served.url, "modern") as agent:
                        await _enter(talker, agent, outputs, toolsets)
                    await receiver.wait_for_requests(3)
                    streams.cancel_scope.cancel()
                served.process.terminate()
                await served.wait_for_end()
        outputs.model_requests = [json.dumps(one.body) for one in model.asked]
        outputs.webhook_payloads = [one.message["data"]["payload"] for one in receiver.requests]
        outputs.spans = bytes(spans)
    for file in parent.rglob("*"):  # noqa: ASYNC240 - nothing else runs by now
        if file.is_file() and folder not in file.parents:
            outputs.files[str(file)] = file.read_bytes().decode(errors="replace")
    return outputs


async def _record_stream(
    base: str, path: str, outputs: Outputs, *, task_status: TaskStatus[None]
) -> None:
    """Record the events of a page, until the daemon ends."""
    async with (
        httpx2.AsyncClient(base_url=base, timeout=None) as client,
        client.stream("GET", path) as answer,
    ):
        async for text in answer.aiter_text():
            if f"GET {path}" not in outputs.responses:
                task_status.started()
            outputs.responses[f"GET {path}"] = outputs.responses.get(f"GET {path}", "") + text


async def _record_notices(
    url: str, era: Literal["legacy", "auto"], outputs: Outputs, *, task_status: TaskStatus[None]
) -> None:
    """Record the notices that an MCP client gets, until this is cancelled."""
    key = f"notices, {era}"

    async def record(message: object) -> None:
        outputs.responses[key] = f"{outputs.responses.get(key, '')}{message!r}\n"

    async with Client(url, mode=era, message_handler=record) as client:
        if era == "legacy":
            task_status.started()
            await anyio.sleep_forever()
        async with client.listen(tools_list_changed=True, resources_list_changed=True) as events:
            task_status.started()
            async for event in events:
                await record(event)


async def _enter(
    talker: Talker, agent: Connection, outputs: Outputs, toolsets: Collection[str]
) -> None:
    [card] = shown_widgets(await talker.say("Book it"))
    path = f"/chat/widgets/{talker.thread}/{card['id']}"
    card_now = (await talker.get(path)).json()
    render = card_now["result"]["_meta"]["widgetd/render"]["id"]
    for number, payload in enumerate((*WRONG_PAYLOADS, PAYLOAD)):
        action = {"type": "trip.book", "payload": payload}
        params = {"thread_id": talker.thread, "item_id": card["id"], "action": action}
        for kind in ("threads.custom_action", "threads.sync_custom_action"):
            outputs.responses[f"{kind} {number}"] = (await talker.post(kind, **params)).text
    await _call_tools(agent, outputs, render, toolsets)
    await _ask_pages(talker, outputs, render, card["id"])


async def _call_tools(
    agent: Connection, outputs: Outputs, render: str, toolsets: Collection[str]
) -> None:
    action = {"render_id": render, "action": "trip.book"}
    for number, payload in enumerate(WRONG_PAYLOADS):
        arguments = {**action, "payload": payload, "idempotency_key": f"wrong {number}"}
        await _call(agent, outputs, f"widget_action {number}", "widget_action", arguments)
    await _call(agent, outputs, "trip", "trip", {"held": HELD})
    await _call(agent, outputs, "trip, wrong", "trip", {"held": HELD, "passport": PASSPORT})
    values: dict[str, Any] = {
        "render_id": render,
        "action": "trip.book",
        "payload": PAYLOAD,
        "idempotency_key": "right",
        "names": ["trip"],
        "name": "trip",
        "query": "trip",
        "arguments": {"held": HELD},
        "timeout_s": 1,
        "since": "1h",
        "level": "debug",
        "limit": 50,
        "report": "top",
        "trace": True,
        "file": "Other.widget",
        "sidecar": SIDECAR,
        "steps": [{"keyword": "Read Screen"}, {"keyword": "Read Events"}],
        "tool": "trip",
    }
    another = json.loads(trip_file("Other"))
    replaced: dict[str, Mapping[str, Any]] = {
        "get_guide": {"names": OMIT},
        "get_component_details": {"names": ["Input"]},
        # It shows the author all of what the draft makes of the author's own arguments.
        "try_widget": {"widget": another, "arguments": {"held": "mine"}, "sidecar": SIDECAR},
        "save_widget": {"widget": another},
        "start_session": {"arguments": OMIT},
        "take_picture": {"names": OMIT, "arguments": OMIT},
        "do_in_session": {"timeout_s": 5},
    }
    for tool in ROWS:
        if tool.toolset not in toolsets:
            continue
        properties = tool.input_schema["properties"]
        arguments = {name: values[name] for name in properties if name in values}
        arguments |= replaced.get(tool.name, {})
        missing = set(tool.input_schema.get("required", ())) - arguments.keys()
        assert missing == set(), f"{tool.name} has arguments that `values` has not"
        present = {name: value for name, value in arguments.items() if value is not OMIT}
        structured = await _call(agent, outputs, tool.name, tool.name, present)
        values["session_id"] = structured.get("session_id", values.get("session_id"))
        if tool.name == "await_widget_action":
            outputs.awaited_payloads = [one["payload"] for one in structured["actions"]]
            del outputs.responses[tool.name], outputs.read_by_models[tool.name]
    for resource in (row for wing in WINGS for row in wing.resources):
        if resource.toolset in toolsets:
            uri = resource.uri.replace("{name}", "trip").replace("{id}", str(values["session_id"]))
            await _read_resource(agent, outputs, uri)


async def _call(
    agent: Connection, outputs: Outputs, key: str, tool: str, arguments: Mapping[str, Any]
) -> dict[str, Any]:
    with anyio.fail_after(2 * PATIENCE_S):
        result = await agent.client.call_tool(tool, dict(arguments))
    outputs.responses[key] = result.model_dump_json()
    outputs.read_by_models[key] = _text(result.content)
    return dict(result.structured_content or {})


async def _read_resource(agent: Connection, outputs: Outputs, uri: str) -> None:
    with anyio.fail_after(PATIENCE_S):
        try:
            outputs.responses[uri] = (await agent.client.read_resource(uri)).model_dump_json()
        except MCPError as error:
            outputs.responses[uri] = str(error)


def _text(blocks: Iterable[Any]) -> str:
    return "\n".join(getattr(block, "text", "") for block in blocks)


async def _ask_pages(talker: Talker, outputs: Outputs, render: str, item: str) -> None:
    bodies: dict[str, Any] = {
        # The page for trying arguments repeats them to their author, those of no field as well.
        "/w/{tool}.json": {"held": HELD},
        "/w/{tool}/action": {
            "render_id": render,
            "action": "trip.book",
            "payload": PAYLOAD,
            "idempotency_key": "page",
        },
        "/chatkit": {
            "type": "items.list",
            "params": {"thread_id": talker.thread, "order": "asc", "limit": 100},
        },
    }
    async with httpx2.AsyncClient(
        base_url=talker.base, headers={"origin": talker.base}, timeout=PATIENCE_S
    ) as client:
        for page in TABLES:
            if page.path in STREAMS:
                continue
            values = {"tool": "trip", "name": "trip", "id": render, "thread": talker.thread}
            path = page.path.format_map({**PATH_VALUES, **values, "item": item})
            for method in page.methods:
                body = bodies.get(page.path, {"held": HELD, "passport": PASSPORT})
                content = json.dumps(body) if method == "POST" else None
                answer = await client.request(method, path, content=content)
                outputs.responses[f"{method} {page.path}"] = answer.text
                needs_browser = '"W3201"' in answer.text
                assert answer.status_code < 500 or needs_browser, (page.path, answer.text)
