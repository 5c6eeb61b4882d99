"""A host that knows nothing but an address logs its user in, and calls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from shutil import which
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.sockets import modern_request
from tests.support.widgets import greeting, widget_file
from tests.system.server.mcp.issuing import AuthorizationServer, authorizing, login_code
from tests.system.server.web.asking import ask

TYPESCRIPT = (
    Path(__file__).resolve().parents[4]
    / "view/node_modules/@modelcontextprotocol/client/dist/index.mjs"
)
TOKEN = "ada-ada-ada-ada-ada"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


class Kept:
    """Storage of a host for a login."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


def host_of(url: str) -> OAuthClientProvider:
    """Return a host whose user approves everything in the browser."""
    came_back = ""

    async def open_browser(address: str) -> None:
        nonlocal came_back
        async with httpx2.AsyncClient(timeout=PATIENCE_S) as browser:
            came_back = (await browser.get(address)).headers["location"]

    async def wait_for_user() -> AuthorizationCodeResult:
        code, state = login_code(came_back)
        return AuthorizationCodeResult(code=code, state=state)

    metadata = OAuthClientMetadata(
        client_name="a host",
        redirect_uris=[AnyUrl("http://127.0.0.1:1/back")],
        token_endpoint_auth_method="none",
    )
    return OAuthClientProvider(url, metadata, Kept(), open_browser, wait_for_user)


@asynccontextmanager
async def serve_guarded(
    folder: Path, server: AuthorizationServer, **more: Any
) -> AsyncIterator[str]:
    """Yield a daemon with one widget, `a`, that the tokens of `server` open."""
    (folder / "A.widget").write_text(widget_file("A"))
    async with await anyio.create_tcp_listener(local_host="127.0.0.1") as free:
        port = free.extra(anyio.abc.SocketAttribute.local_port)
    chosen = {
        "jwt_jwks": f"{server.url}/keys",
        "jwt_issuer": server.url,
        "jwt_audience": f"http://127.0.0.1:{port}/mcp",
        "public_url": f"http://127.0.0.1:{port}",
    }
    async with serving(folder, **{"port": port, **chosen, **more}) as url:
        yield url


async def send(url: str, method: str, params: dict[str, Any], token: str = "") -> httpx2.Response:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    head, body = modern_request(url, method, params, name=params.get("name", ""), headers=headers)
    lines = [line.split(": ", 1) for line in head.decode().split("\r\n")[1:] if line]
    async with httpx2.AsyncClient(timeout=PATIENCE_S) as client:
        return await client.post(url, content=body, headers=dict(lines))


@pytest.mark.parametrize("mode", ["legacy", "auto"])
async def test_host_with_only_the_address_logs_in_and_calls(tmp_path: Path, mode: Any) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        with anyio.fail_after(PATIENCE_S):
            async with httpx2.AsyncClient(auth=host_of(url), timeout=PATIENCE_S) as http:
                transport = streamable_http_client(url, http_client=http)
                async with Client(transport, mode=mode) as client:
                    result = await client.call_tool("a", {"who": "Ada"})

    assert result.structured_content == greeting("Hello", "Ada")
    [claims] = server.granted
    assert claims["aud"] == url
    assert claims["scope"] == "widgets:call widgets:read"


@pytest.mark.skipif(
    which("node") is None or not TYPESCRIPT.is_file(),
    reason="Node, or TypeScript's SDK, which comes with view/node_modules, is not here",
)
async def test_typescripts_host_logs_in_and_calls_as_well(tmp_path: Path) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        host = [Path(__file__).with_name("login.mjs"), TYPESCRIPT.as_uri(), url]
        with anyio.fail_after(3 * PATIENCE_S):
            ended = await anyio.run_process(["node", *map(str, host)], check=False)

    assert ended.returncode == 0, ended.stderr.decode()
    output = json.loads(ended.stdout)
    assert "a" in output["tools"]
    assert output["result"] == greeting("Hello", "Ada")
    [claims] = server.granted
    assert claims["aud"] == url
    assert claims["scope"] == "widgets:call widgets:read"


async def test_metadata_is_served_at_the_addresses_of_both_kinds_of_hosts(tmp_path: Path) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        answers = [await ask(url, path) for path in (f"{WELL_KNOWN}/mcp", WELL_KNOWN)]

    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].json() == answers[1].json()
    assert answers[0].json() == {
        "resource": url,
        "authorization_servers": [server.url],
        "scopes_supported": ["widgets:read", "widgets:call", "widgets:elevated"],
        "bearer_methods_supported": ["header"],
        "resource_name": "widgetd",
    }


async def test_refusal_names_the_login_and_the_scope(tmp_path: Path) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        nothing = await send(url, "tools/list", {})
        unknown = await send(url, "tools/list", {}, "somebody-else-entirely")

    where = f'scope="widgets:read widgets:call", resource_metadata="{url.removesuffix("/mcp")}'
    assert nothing.status_code == unknown.status_code == 401
    assert nothing.headers["www-authenticate"] == (
        f'Bearer realm="widgetd", {where}{WELL_KNOWN}/mcp"'
    )
    assert unknown.headers["www-authenticate"].startswith(
        'Bearer realm="widgetd", error="invalid_token", error_description="this token is not known'
    )
    assert nothing.json() == {
        "error_description": "a token is needed; send it as 'Authorization: Bearer TOKEN'"
    }


async def test_token_without_the_scope_is_challenged_to_request_it(tmp_path: Path) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        server.scopes = frozenset({"widgets:read"})
        host = host_of(url)
        async with httpx2.AsyncClient(auth=host, timeout=PATIENCE_S) as http:
            async with Client(streamable_http_client(url, http_client=http)) as client:
                listed = await client.list_tools()
            token = host.context.current_tokens
            assert token is not None
        answer = await send(url, "tools/call", {"name": "a"}, token.access_token)

    assert "a" in {tool.name for tool in listed.tools}
    assert answer.status_code == 403
    challenge = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in challenge
    assert 'scope="widgets:call widgets:read"' in challenge
    assert f'{WELL_KNOWN}/mcp"' in challenge


async def test_host_without_a_scope_requests_it_and_continues(tmp_path: Path) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        server.scopes = frozenset({"widgets:read"})
        with anyio.fail_after(PATIENCE_S):
            async with (
                httpx2.AsyncClient(auth=host_of(url), timeout=PATIENCE_S) as http,
                Client(streamable_http_client(url, http_client=http)) as client,
            ):
                await client.list_tools()
                server.scopes = None
                result = await client.call_tool("a", {"who": "Ada"})

    assert result.structured_content == greeting("Hello", "Ada")
    assert [claims["scope"] for claims in server.granted] == [
        "widgets:read",
        "widgets:call widgets:read",
    ]


async def test_public_address_is_answered_and_advertised(tmp_path: Path) -> None:
    public = "https://widgets.example/team/mcp"
    async with authorizing() as server, serve_guarded(tmp_path, server, public_url=public) as url:
        response = await ask(url, WELL_KNOWN, host="widgets.example")
        where = response.json()["resource"]
        path = await ask(url, f"{WELL_KNOWN}/team/mcp", host="widgets.example")
        stranger = await ask(url, WELL_KNOWN, host="widgets.elsewhere")

    assert (response.status_code, path.status_code, stranger.status_code) == (200, 200, 421)
    assert where == public


async def test_tokens_of_a_file_lead_to_no_login(tmp_path: Path) -> None:
    folder = tmp_path / "widgets"
    folder.mkdir()
    (tmp_path / "tokens").write_text(f"ada {TOKEN} widgets:read\n")
    async with serving(folder, token_file=tmp_path / "tokens") as url:
        refused = await send(url, "tools/list", {})
        short = await send(url, "tools/call", {"name": "a"}, TOKEN)
        response = await ask(url, WELL_KNOWN)

    assert refused.headers["www-authenticate"] == 'Bearer realm="widgetd"'
    assert response.status_code == 404
    assert short.status_code == 200
    assert "W2301" in json.dumps(short.json())


async def test_render_with_an_unknown_token_is_not_authorized(tmp_path: Path) -> None:
    async with authorizing() as server, serve_guarded(tmp_path, server) as url:
        answers = [
            await ask(url, "/render/a", method="POST", **headers)
            for headers in ({}, {"authorization": "Bearer somebody-else-entirely"})
        ]

    assert [answer.status_code for answer in answers] == [401, 401]
    assert 'error="invalid_token"' in answers[1].headers["www-authenticate"]
