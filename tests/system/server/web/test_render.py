"""A backend renders over HTTP, and a model shows the render, over real connections."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from mcp_types import TextResourceContents

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.sockets import exchange
from tests.support.widgets import greeting, widget_file
from widgetd.server.web.limits import LIMITS

BACKEND = "a-token-of-the-backend-0123456789"
READER = "a-token-of-the-reader-0123456789ab"
ROWS = (
    '{"type":"Card","children":[{% for row in rows %}{"type":"Text","value":{{ row | tojson }}}'
    "{{ '' if loop.last else ',' }}{% endfor %}]}"
)


@pytest.fixture
def rows_folder(tmp_path: Path) -> Path:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    schema = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
    rows = widget_file("Rows", schema=schema, template=ROWS)
    (tmp_path / "Rows.widget").write_text(rows)
    return tmp_path


async def post(
    url: str,
    path: str,
    body: bytes,
    headers: dict[str, str] | None = None,
    *,
    announced: int | None = None,
) -> tuple[int, Any]:
    """Return the status and the body; a body `announced` as longer than it is stays incomplete."""
    base = url.removeprefix("http://").partition("/")[0]
    length = len(body) if announced is None else announced
    fields = {"host": base, "content-length": str(length), **(headers or {})}
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in fields.items())]
    status, answer = await exchange(url, "\r\n".join((*lines, "", "")).encode(), body)
    return status, json.loads(answer) if answer[:1] == b"{" else answer


async def test_render_from_a_backend_is_shown_by_its_id(rows_folder: Path) -> None:
    async with serving(rows_folder) as url, connect_client(url, "modern") as model:
        status, rendered = await post(url, "/render/greeting", b'{"who":"Ada"}')
        result = await model.call("show_render", render_id=rendered["renderId"])
        read = await model.client.read_resource(rendered["uri"])

    assert status == 201
    assert rendered == {
        "renderId": rendered["renderId"],
        "uri": f"widgetd://renders/{rendered['renderId']}",
        "summary": "Greeting: who Ada",
    }
    assert result.structured_content == greeting("Hello", "Ada")
    [content] = read.contents
    assert isinstance(content, TextResourceContents)
    assert json.loads(content.text)["tree"] == greeting("Hello", "Ada")


@pytest.mark.parametrize(
    ("path", "body", "status", "error"),
    [
        (
            "/render/greetin",
            b"{}",
            404,
            ("W2001", "name", "there is no widget 'greetin'; did you mean 'greeting'?"),
        ),
        (
            "/render/greeting",
            b'{"who":true}',
            422,
            (
                "W2002",
                "who",
                'who: expected a string, got true. Smallest valid example: {"who":"Example"}',
            ),
        ),
        ("/render/greeting", b"[]", 400, ("W2009", "", "expected a JSON object, got an array")),
        (
            "/render/greeting",
            b" " * (LIMITS.arguments_bytes + 1),
            413,
            ("W2008", "", "expected a body of at most 4194304 bytes, got more"),
        ),
    ],
)
async def test_unrenderable_call_is_refused_with_a_code_and_a_path(
    rows_folder: Path, path: str, body: bytes, status: int, error: tuple[str, str, str]
) -> None:
    async with serving(rows_folder) as url:
        got, answer = await post(url, path, body)

    assert got == status
    problem = answer["error"]
    assert (problem["code"], problem["path"], problem["message"]) == error


async def test_backend_replaces_its_own_render(rows_folder: Path) -> None:
    async with serving(rows_folder) as url, connect_client(url, "modern") as model:
        _, rendered = await post(url, "/render/greeting", b'{"who":"Ada"}')
        place = f"/render/greeting/{rendered['renderId']}"
        response = await post(url, f"{place}?after=1&note=Welcome%20back.", b'{"who":"Grace"}')
        noted = await post(url, f"{place}?failed=1&note=Not%20today.", b"")
        result = await model.call("show_render", render_id=rendered["renderId"])

    answer = {"renderId": rendered["renderId"], "summary": "Greeting: who Grace"}
    assert response == (200, {**answer, "version": 2})
    assert noted == (200, {**answer, "version": 3})
    assert result.structured_content == greeting("Hello", "Grace")
    assert result.meta is not None
    meta = result.meta["widgetd/render"]
    assert (meta["version"], meta["state"], meta["note"]) == (3, "failed", "Not today.")


@pytest.mark.parametrize(
    ("place", "body", "status", "error"),
    [
        ("greeting/ID", b"", 422, ("W2002", "arguments")),
        ("greeting/ID?failed=1", b'{"who":"Ada"}', 422, ("W2002", "note")),
        ("greeting/ID?failed=yes", b'{"who":"Ada"}', 422, ("W2002", "failed")),
        ("greeting/ID?after=first", b'{"who":"Ada"}', 422, ("W2002", "after")),
        ("greeting/ID?note=" + "x" * 201, b"", 422, ("W2002", "note")),
        ("greeting/ID?after=2", b'{"who":"Ada"}', 409, ("W2406", "after")),
        ("greeting/ID", b'{"who":true}', 422, ("W2002", "who")),
        ("greeting/ID", b"[]", 400, ("W2009", "")),
        ("greeting/r_none", b'{"who":"Ada"}', 404, ("W2007", "render_id")),
        ("rows/ID", b'{"rows":[]}', 404, ("W2007", "render_id")),
    ],
)
async def test_invalid_update_is_refused_with_a_code_and_a_path(
    rows_folder: Path, place: str, body: bytes, status: int, error: tuple[str, str]
) -> None:
    async with serving(rows_folder) as url:
        _, rendered = await post(url, "/render/greeting", b'{"who":"Ada"}')
        got, answer = await post(url, "/render/" + place.replace("ID", rendered["renderId"]), body)

    assert got == status
    assert (answer["error"]["code"], answer["error"]["path"]) == error


@pytest.fixture
def tokens(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("tokens") / "tokens"
    file.write_text(f"backend {BACKEND} widgets:call\nreader {READER} widgets:read\n")
    return file


def bearing(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


async def test_body_of_an_unauthenticated_request_is_not_read(
    rows_folder: Path, tokens: Path
) -> None:
    async with serving(rows_folder, token_file=tokens, rate=0.001, burst=1) as url:
        answers = [
            await post(url, path, b"", headers, announced=1_000_000)
            for path, headers in (
                ("/render/greeting", {}),
                ("/render/greeting", bearing(READER)),
                ("/render/no_such_widget", bearing(BACKEND)),
                ("/render/greeting", bearing(BACKEND)),
            )
        ]

    assert [status for status, _ in answers] == [401, 403, 404, 429]
