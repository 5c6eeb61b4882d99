"""Sessions: their events, their records, and the principals who may read either."""

from __future__ import annotations

import base64
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from tests.field.author.browser.staging import controls_file
from tests.field.server.web.browsing import needs_browser
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.server.mcp.listening import hearing
from widgetd.author.browser.keywords import KEYWORDS
from widgetd.author.browser.toolset import keyword_tools
from widgetd.base.errors import ConfigError

ADA, BO = "ada-ada-ada-ada-ada", "bo-bo-bo-bo-bo-bo-bo"
ON = {"toolset": ("sessions",)}
FIELD = "field=code"


def form_file(label: str, kind: str = "text") -> str:
    """Return a form with one field labelled `label`."""
    tree = {
        "type": "Card",
        "children": [
            {"type": "Title", "value": label},
            {"type": "Input", "name": "code", "inputType": kind},
        ],
    }
    return widget_file("Form", template=json.dumps(tree).replace(label, label + " {{ who }}"))


def token_client(url: str, token: str, http: httpx2.AsyncClient) -> Client:
    http.headers["authorization"] = f"Bearer {token}"
    return Client(streamable_http_client(url, http_client=http))


async def answer(client: Client, name: str, **arguments: Any) -> dict[str, Any]:
    with anyio.fail_after(60):
        result = await client.call_tool(name, arguments)
    content: dict[str, Any] = result.structured_content or (result.meta or {})["widgetd/error"]
    return content


async def read(client: Client, uri: str) -> str:
    content: Any = (await client.read_resource(uri)).contents[0]
    return str(getattr(content, "text", "") or content.blob)


@needs_browser
async def test_session_stays_with_its_version_unless_it_follows(tmp_path: Path) -> None:
    file, tokens, audit = tmp_path / "w" / "Form.widget", tmp_path / "tokens", tmp_path / "audit"
    file.parent.mkdir()
    file.write_text(form_file("Before"))
    tokens.write_text(f"ada {ADA} widgets:read author\nbo {BO} widgets:read author\n")
    settings = {**ON, "token_file": tokens, "audit": audit}
    typing = {"keyword": "Enter Text", "target": FIELD, "text": "typed by ada"}
    with anyio.fail_after(150):
        async with (
            serving(file.parent, **settings) as url,
            httpx2.AsyncClient(timeout=60) as http,
            httpx2.AsyncClient(timeout=60) as other,
            token_client(url, ADA, http) as ada,
            token_client(url, BO, other) as bo,
        ):
            opening = {"widget": "form", "arguments": {"who": "Ada"}}
            pinned = await answer(ada, "start_session", **opening)
            following = await answer(ada, "start_session", **opening, follow=True, theme="dark")
            mine = following["sessionId"]
            await answer(ada, "do_in_session", session_id=mine, steps=[typing])
            events = f"widgetd://sessions/{mine}/events"
            async with hearing(url, ADA, "modern", [events]) as heard:
                file.write_text(form_file("After"))
                await heard.of(events)
            step = {"keyword": "Expect Text", "target": "component=Title", "equals": "After Ada"}
            done = await answer(ada, "do_in_session", session_id=mine, steps=[step])
            value = await answer(
                ada,
                "do_in_session",
                session_id=mine,
                steps=[{"keyword": "Read Value", "target": FIELD}],
            )
            screen = await read(ada, f"widgetd://sessions/{pinned['sessionId']}/screen")
            refused = await answer(bo, "do_in_session", session_id=mine, steps=[step])
            for part in ("screen", "events", "console", "picture.png", "trace.zip"):
                with pytest.raises(MCPError, match="Resource not found"):
                    await bo.read_resource(f"widgetd://sessions/{mine}/{part}")
            listed = await answer(bo, "list_sessions")
            steps = (await answer(ada, "end_session", session_id=mine))["events"]

    assert [done["status"], value["steps"][0]["result"]] == ["done", "typed by ada"]
    assert screen == pinned["screen"]
    assert [one["kind"] for one in steps] == ["shown", "widget.changed", "shown"]
    assert steps[1]["generation"] != following["generation"]
    assert (refused["code"], listed["items"]) == ("W4001", [])
    audit_text = audit.read_text()
    assert audit_text.count('"tool":"do_in_session"') == 4
    assert "typed by ada" not in audit_text
    assert mine not in audit_text


@needs_browser
@pytest.mark.parametrize(("kind", "is_kept"), [("text", True), ("password", False)])
async def test_trace_shows_each_step_and_hides_secret_input(
    kind: str, is_kept: bool, tmp_path: Path
) -> None:
    (tmp_path / "Form.widget").write_text(form_file("One", kind))
    with anyio.fail_after(100):
        async with serving(tmp_path, **ON) as url, Client(url) as client:
            begun = await answer(client, "start_session", widget="form", trace=True)
            mine = begun["sessionId"]
            typing = {"keyword": "Enter Text", "target": FIELD, "text": "0471"}
            await answer(client, "do_in_session", session_id=mine, steps=[typing])
            ended = await answer(client, "end_session", session_id=mine)
            if not is_kept:
                with pytest.raises(MCPError, match="Resource not found"):
                    await client.read_resource(f"widgetd://sessions/{mine}/trace.zip")
                assert "trace" not in ended
                return
            content = base64.b64decode(await read(client, ended["trace"]))

    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        trace_content = b"".join(archive.read(name) for name in archive.namelist())
    assert b'"Enter Text"' in trace_content
    assert b"0471" in trace_content


@needs_browser
async def test_keywords_are_tools_where_they_are_chosen(tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    chosen = ("-set_locale", "-Set Width")
    with anyio.fail_after(100):
        async with serving(tmp_path, **ON, keyword_tools=chosen) as url, Client(url) as client:
            listed = {one.name for one in (await client.list_tools()).tools}
            begun = await answer(client, "start_session", widget="controls")
            mine = begun["sessionId"]
            targets = ["action=nothing", "action=track"]
            pressed = await answer(client, "kw_press", session_id=mine, target=targets)
            result = await answer(client, "kw_expect_action", session_id=mine, type="track")
            wrong = await answer(client, "kw_press", session_id=mine, target="Save")
            left_out = await client.call_tool("kw_set_width", {"session_id": mine, "width": 300})

    names = {f"kw_{slug}" for slug, row in KEYWORDS.items() if row.is_tool}
    assert {name for name in listed if name.startswith("kw_")} == names - {
        "kw_set_locale",
        "kw_set_width",
    }
    assert pressed["events"][0]["kind"] == "action"
    assert pressed["steps"][0]["target"] == "action=track"
    assert result["steps"][0]["result"]["type"] == "track"
    assert wrong["code"] == "W4102"
    assert left_out.meta is not None
    assert left_out.meta["widgetd/error"]["code"] == "W2001"


FIRST_BYTES = {
    "text/plain": b"- ",
    "image/png": b"\x89PNG",
    "application/json": b"[",
    "application/zip": b"PK",
}


@needs_browser
async def test_each_resource_of_a_session_has_the_media_type_of_its_content(tmp_path: Path) -> None:
    (tmp_path / "Form.widget").write_text(form_file("One"))
    with anyio.fail_after(100):
        async with serving(tmp_path, **ON) as url, Client(url) as client:
            begun = await answer(client, "start_session", widget="form", trace=True)
            contents = [await client.read_resource(uri) for uri in begun["uris"]]
            ended = await answer(client, "end_session", session_id=begun["sessionId"])
            contents.append(await client.read_resource(ended["trace"]))

    kinds = []
    for each in contents:
        content: Any = each.contents[0]
        blob = getattr(content, "blob", "")
        data = base64.b64decode(blob) if blob else content.text.encode()
        kinds.append(content.mime_type)
        assert data.startswith(FIRST_BYTES[content.mime_type]), content.uri
    assert kinds == ["text/plain", "image/png", *["application/json"] * 2, "application/zip"]


def test_keyword_tool_takes_the_arguments_of_its_keyword() -> None:
    tools = keyword_tools(["all"])

    assert {one.name for one in tools} == {
        f"kw_{slug}" for slug, row in KEYWORDS.items() if row.is_tool
    }
    assert len(tools) == 34
    for tool in tools:
        row = KEYWORDS[tool.name.removeprefix("kw_")]
        schema = {**tool.input_schema, "properties": dict(tool.input_schema["properties"])}
        assert schema["properties"].pop("session_id")["type"] == "string"
        assert schema["required"] == ["session_id", *row.schema.get("required", ())]
        schema["required"] = schema["required"][1:]
        assert {"required": [], **row.schema} == schema
        assert "anyOf" not in str(schema)


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("-set_locle", "there is no keyword 'set_locle'; did you mean 'Set Locale'?"),
        ("expect_picture", "'expect_picture' is for files of tests, and no tool; remove it"),
    ],
)
def test_keyword_that_is_no_tool_is_refused(name: str, problem: str) -> None:
    with pytest.raises(ConfigError) as raised:
        keyword_tools([name])

    assert f"keyword_tools: {problem}" in str(raised.value)
