"""A secret of the upstreams file appears there and in requests, and nowhere else."""

from __future__ import annotations

import json
import logging
import subprocess
import sys
from pathlib import Path
from secrets import token_hex

import httpx2
import pytest
from fastmcp import Client

from tests.system.upstreams.servers import (
    SHOP,
    answering,
    child,
    raw,
    toml,
    upstreams_of,
    wait_until_settled,
)
from widgetd.upstreams.declarations import read_file

SECRETS = [f"s3cr3t-{token_hex(8)}-{n}" for n in range(7)]
BODY = SECRETS[6]
LIMIT_S = 90


def declare(port: int) -> str:
    head, env, place, query, key, argument = SECRETS[:6]
    return (
        toml(
            "flights",
            url=f"http://user:{place}@127.0.0.1:{port}/mcp?key={query}",
            headers={"Authorization": f"Bearer {head}"},
            connect_s=3.0,
        )
        + toml("local", **child(f"import os; raise SystemExit(os.environ['T'] != '{0}')"))
        + f'env = {{ T = "{env}" }}\n'
        + toml("shop", base=f"http://127.0.0.1:{port}/{argument}", headers={"X-Key": key})
        + '[shop.endpoints.get_flight]\nget = "/one"\n'
    )


def test_no_output_contains_a_secret() -> None:
    """Search the outputs in a fresh process: loggers and streams of others' tests are not ours."""
    searched = Path(__file__).with_name("secret_outputs.py")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(searched)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S, check=False)

    assert done.returncode == 0, done.stdout[-6000:]
    assert "1 passed" in done.stdout


async def test_server_of_a_service_repeats_no_body_of_a_failure(tmp_path: Path) -> None:
    """Search what FastMCP makes of it, before widgetd reduces it to one word."""
    from widgetd.upstreams.clients import build_service

    path = tmp_path / "u.toml"
    (tmp_path / "shop.json").write_text(json.dumps(SHOP))
    path.write_text(toml("shop", openapi="shop.json", base="http://127.0.0.1:9"))
    [declaration] = read_file(path, {}).declarations.values()
    async with (
        raw(answering(500, json.dumps({"detail": BODY}).encode())) as port,
        httpx2.AsyncClient(base_url=f"http://127.0.0.1:{port}") as http,
        Client(build_service(declaration, http)) as client,
    ):
        result = await client.call_tool_mcp("get_product", {"id": 1})

    assert result.is_error
    assert BODY not in result.model_dump_json()


async def test_libraries_log_no_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    path = tmp_path / "u.toml"
    async with (
        raw(answering(500, BODY.encode())) as port,
        upstreams_of(path, declare(port)) as upstreams,
    ):
        for one in upstreams.all.values():
            await wait_until_settled(one)
            assert [s for s in SECRETS if s in f"{one.declaration!r}{one.reason}"] == []

    assert [secret for secret in SECRETS if secret in caplog.text] == []
