"""Authentication, visibility and rate limits, over a real port."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.support.daemons import needs_wings, serving
from tests.support.sockets import exchange, modern_request
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.base.errors import ConfigError
from widgetd.daemon.access_policy import access_policy
from widgetd.settings import Settings

ADA, KIOSK, CHIEF = "ada-ada-ada-ada-ada", "kiosk-kiosk-kiosk", "chief-chief-chief"

TOKENS = f"""
ada    {ADA}    widgets:read widgets:call
kiosk  {KIOSK}  widgets:read
chief  {CHIEF}  widgets:read widgets:call widgets:elevated admin
"""


@asynccontextmanager
async def serve_guarded(folder: Path, tokens: str = TOKENS, **settings: Any) -> AsyncIterator[str]:
    """Yield a daemon with one open widget, `a`, and one elevated, `secret`."""
    widgets, file = folder / "widgets", folder / "tokens"
    widgets.mkdir()
    file.write_text(tokens)
    (widgets / "A.widget").write_text(widget_file("A"))
    (widgets / "Secret.widget").write_text(widget_file("Secret"))
    (widgets / "Secret.widget.toml").write_text('permission = "elevated"\n')
    async with serving(widgets, token_file=file, **settings) as url:
        yield url


async def send_request(
    url: str, token: str, method: str, params: Mapping[str, Any] | None = None, name: str = ""
) -> tuple[int, dict[str, Any]]:
    """Return the status and the body of the response to one modern request."""
    headers = {"authorization": f"Bearer {token}"} if token else {}
    request = modern_request(url, method, params, name=name, headers=headers)
    status, body = await exchange(url, *request)
    return status, json.loads(body or b"{}")


async def call(url: str, token: str, tool: str, **arguments: Any) -> dict[str, Any]:
    """Return the result of one call."""
    _, answer = await send_request(
        url, token, "tools/call", {"name": tool, "arguments": arguments}, name=tool
    )
    result: dict[str, Any] = answer["result"]
    return result


def code_of(result: Mapping[str, Any]) -> str:
    return str(result["_meta"].get("widgetd/error", {}).get("code", ""))


async def list_names(url: str, token: str) -> set[str]:
    _, answer = await send_request(url, token, "tools/list")
    return {tool["name"] for tool in answer["result"]["tools"]}


@pytest.mark.parametrize("token", ["", "somebody-else-entirely", ADA[:-1]])
async def test_only_tokens_of_the_file_are_admitted(tmp_path: Path, token: str) -> None:
    async with serve_guarded(tmp_path) as url:
        for method in ("tools/list", "tools/call", "server/discover"):
            status, _ = await send_request(url, token, method, {"name": "a"}, name="a")
            assert status == 401


async def test_elevated_widget_exists_only_for_callers_with_its_scope(tmp_path: Path) -> None:
    async with serve_guarded(tmp_path) as url:
        assert "secret" in await list_names(url, CHIEF)
        assert "secret" not in await list_names(url, ADA)

        assert code_of(await call(url, CHIEF, "secret", who="Ada")) == ""
        assert code_of(await call(url, ADA, "secret", who="Ada")) == "W2001"
        inside = {"name": "secret", "arguments": {"who": "Ada"}}
        assert code_of(await call(url, ADA, "render_widget", **inside)) == "W2001"

        result = await call(url, ADA, "search_widgets", query="secret")
        assert result["structuredContent"]["total"] == 0
        details = await call(url, ADA, "get_widget_details", names=["secret"])
        assert details["structuredContent"]["items"][0]["status"] == "not_found"


async def test_elevated_widget_has_no_resources_no_completion_and_no_renders_for_others(
    tmp_path: Path,
) -> None:
    async with serve_guarded(tmp_path) as url:
        rendered = await call(url, CHIEF, "secret", who="Ada")
        render = rendered["_meta"]["widgetd/render"]["id"]
        for uri in ("widget://secret/template", f"widgetd://renders/{render}"):
            _, mine = await send_request(url, CHIEF, "resources/read", {"uri": uri}, name=uri)
            _, others = await send_request(url, ADA, "resources/read", {"uri": uri}, name=uri)
            assert "result" in mine
            assert "error" in others
        assert code_of(await call(url, ADA, "show_render", render_id=render)) == "W2007"
        _, listing = await send_request(url, ADA, "resources/list")
        assert "secret" not in json.dumps(listing)
        completion = {
            "ref": {"type": "ref/resource", "uri": "widget://{tool}"},
            "argument": {"name": "tool", "value": "s"},
        }
        _, completed = await send_request(url, ADA, "completion/complete", completion)
        assert completed["result"]["completion"]["values"] == []


async def test_token_can_be_for_reading_alone(tmp_path: Path) -> None:
    async with serve_guarded(tmp_path) as url:
        result = await call(url, KIOSK, "a", who="Ada")
        hits = await call(url, KIOSK, "search_widgets", query="a")

    assert result["content"][0]["text"] == (
        "[W2301] this token has no scope 'widgets:call'; ask for one that has (retry: no)"
    )
    assert code_of(hits) == ""


async def test_token_can_be_for_calling_alone(tmp_path: Path) -> None:
    async with serve_guarded(tmp_path, f"bot {ADA} widgets:call") as url:
        _, listing = await send_request(url, ADA, "tools/list")
        result = await call(url, ADA, "a", who="Ada")

    assert listing["error"]["message"] == (
        "[W2301] this token has no scope 'widgets:read'; ask for one that has"
    )
    assert code_of(result) == ""


async def test_token_can_be_for_some_widgets_only(tmp_path: Path) -> None:
    async with serve_guarded(tmp_path, f"ada {ADA} exclude=a\nbob {KIOSK}") as url:
        assert "a" not in await list_names(url, ADA)
        assert "a" in await list_names(url, KIOSK)
        assert code_of(await call(url, ADA, "a", who="Ada")) == "W2001"


async def test_rate_limited_caller_learns_when_to_retry(tmp_path: Path) -> None:
    async with serve_guarded(tmp_path, rate=0.001, burst=2) as url:
        for _ in range(2):
            await call(url, ADA, "a", who="Ada")
        refused = await call(url, ADA, "a", who="Ada")
        _, listing = await send_request(url, ADA, "tools/list")
        other = await call(url, CHIEF, "a", who="Ada")

    assert (code_of(refused), refused["isError"]) == ("W2201", True)
    assert refused["_meta"]["widgetd/error"]["recoverable"]
    assert "try again in" in refused["content"][0]["text"]
    assert listing["error"]["message"].startswith("[W2201] too many calls; try again in")
    assert code_of(other) == ""


@pytest.mark.parametrize(
    ("path", "status"), [("/status", 401), ("/metrics", 401), ("/readyz", 200)]
)
async def test_pages_but_not_probes_ask_for_a_token(tmp_path: Path, path: str, status: int) -> None:
    async with serve_guarded(tmp_path) as url:
        answers = [
            await ask(url, path),
            await ask(url, path, authorization=f"Bearer {ADA}"),
            await ask(url, path, authorization=f"Bearer {CHIEF}"),
            await ask(url, path, authorization="Basic Y2hpZWY6Y2hpZWYtY2hpZWYtY2hpZWY="),
        ]

    others = 403 if status == 401 else 200
    assert [answer.status_code for answer in answers] == [status, others, 200, 200]


def test_public_address_needs_a_token() -> None:
    with pytest.raises(ConfigError) as raised:
        access_policy(Settings(host="0.0.0.0"))

    assert raised.value.exit_code == 2
    assert str(raised.value) == (
        "other machines reach 0.0.0.0, and no token is set; "
        "name a file of tokens with --token-file, or admit every caller with --insecure"
    )
    assert access_policy(Settings(host="::1")).access is None
    assert access_policy(Settings(host="0.0.0.0", transport="stdio")).access is None
    assert access_policy(Settings(host="0.0.0.0", token="auto")).access is not None


def test_anonymous_callers_see_nothing_elevated() -> None:
    stranger = access_policy(Settings(host="0.0.0.0", insecure=True)).anonymous

    assert not stranger.audience.elevated


def test_settings_of_jwts_belong_together() -> None:
    with pytest.raises(ConfigError) as raised:
        access_policy(Settings(jwt_jwks="https://issuer.example/keys"))

    assert str(raised.value) == (
        "--jwt-jwks, --jwt-issuer and --jwt-audience belong together; set all three, or none"
    )


@needs_wings
async def test_gallery_shows_elevated_widgets_only_to_callers_with_their_scope(
    tmp_path: Path,
) -> None:
    tokens = f"looker {ADA} gallery\nchief {CHIEF} gallery widgets:elevated\n"
    async with serve_guarded(tmp_path, tokens, gallery=True) as url:
        some = await ask(url, "/", authorization=f"Bearer {ADA}")
        every = await ask(url, "/", authorization=f"Bearer {CHIEF}")
        hidden = await ask(url, "/w/secret", authorization=f"Bearer {ADA}")
        page = await ask(url, "/w/secret", authorization=f"Bearer {CHIEF}")
        stranger = await ask(url, "/")

    assert (some.status_code, every.status_code, stranger.status_code) == (200, 200, 401)
    assert "Secret" in every.text
    assert "Secret" not in some.text
    assert (hidden.status_code, page.status_code) == (404, 200)
