"""Access policy of a process."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import SocketAttribute, SocketStream
from fastmcp.server.auth.providers.jwt import RSAKeyPair
from joserfc.jwk import RSAKey

from tests.support.daemons import serving
from tests.support.forked_daemons import forked_daemon, run_forked
from tests.support.patience import PATIENCE_S
from tests.support.sockets import exchange, modern_request
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask

OLD, NEW = "old-old-old-old-old", "new-new-new-new-new"


async def list_status(url: str, token: str) -> int:
    """Return the status of a list request with `token`."""
    headers = {"authorization": f"Bearer {token}"}
    return (await exchange(url, *modern_request(url, "tools/list", headers=headers)))[0]


async def test_sighup_takes_tokens_away_and_brings_new_ones(tmp_path: Path) -> None:
    tokens, widgets = tmp_path / "tokens", tmp_path / "widgets"
    widgets.mkdir()
    tokens.write_text(f"ada {OLD}\n")
    async with forked_daemon(widgets, "--token-file", str(tokens)) as served:
        assert [await list_status(served.url, token) for token in (OLD, NEW)] == [200, 401]
        tokens.write_text(f"ada {NEW}\n")
        served.send(signal.SIGHUP)
        with anyio.fail_after(PATIENCE_S):
            while await list_status(served.url, NEW) != 200:  # noqa: ASYNC110 - nothing tells of a reread
                await anyio.sleep(0.01)
        assert await list_status(served.url, OLD) == 401

        tokens.write_text("ada\n")
        served.send(signal.SIGHUP)
        assert await list_status(served.url, NEW) == 200


async def test_generated_token_is_in_the_command_that_connects_a_client(tmp_path: Path) -> None:
    async with forked_daemon(tmp_path, "--host", "0.0.0.0", "--token", "auto") as served:
        match = re.search(r'--header "Authorization: Bearer (\S+)"', served.greeting)
        assert match is not None, served.greeting

        assert await list_status(served.url, match[1]) == 200
        assert await list_status(served.url, OLD) == 401
        assert (await ask(served.url, "/readyz")).status_code == 200


async def test_public_address_without_a_token_is_refused_in_one_sentence(tmp_path: Path) -> None:
    log = tmp_path / "log"

    assert await run_forked("serve", str(tmp_path), "--host", "0.0.0.0", log=log) == 2
    assert log.read_text().splitlines()[-1] == (
        "widgetd: other machines reach 0.0.0.0, and no token is set; name a file of tokens with "
        "--token-file, or admit every caller with --insecure [W0009]"
    )


@asynccontextmanager
async def issuing(pair: RSAKeyPair) -> AsyncIterator[str]:
    """Yield the URL of a key server that knows `pair`."""
    key = RSAKey.import_key(pair.public_key).as_dict(private=False)
    body = json.dumps({"keys": [{**key, "kid": "1", "alg": "RS256"}]}).encode()

    async def answer(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
            await stream.send(head.encode() + body)

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        yield f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}/keys"
        tasks.cancel_scope.cancel()


async def test_jwt_is_good_when_it_was_issued_for_this_daemon(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    pair = RSAKeyPair.generate()
    issuer = "https://issuer.example"
    token_for = partial(RSAKeyPair.create_token, issuer=issuer, audience="widgetd", kid="1")
    async with (
        issuing(pair) as keys,
        serving(tmp_path, jwt_jwks=keys, jwt_issuer=issuer, jwt_audience="widgetd") as url,
    ):
        good = token_for(pair, scopes=["widgets:read"])
        late = token_for(pair, expires_in_seconds=-1)
        others = token_for(pair, audience="another")
        forged = token_for(RSAKeyPair.generate())

        assert [await list_status(url, token) for token in (good, late, others, forged)] == [
            200,
            401,
            401,
            401,
        ]
