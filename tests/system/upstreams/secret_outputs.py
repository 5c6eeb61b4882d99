"""Outputs of one daemon, searched for secrets; `test_secrets` runs it in its own process."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.system.server.web.asking import ask
from tests.system.upstreams.servers import answering, raw
from tests.system.upstreams.test_feeds import FEED, write_flight
from tests.system.upstreams.test_secrets import BODY, SECRETS, declare
from widgetd.cli import main


def lines_of_processes() -> list[bytes]:
    """Return the command lines of this process, which is the daemon, and of all that it started.

    Those of others may hold the secrets, such as that of a search for them.
    """
    lines, processes = [], [os.getpid()]
    for process in processes:
        place = Path(f"/proc/{process}")
        with suppress(OSError):  # it may end meanwhile
            lines.append((place / "cmdline").read_bytes())
            for children in place.glob("task/*/children"):
                processes += map(int, children.read_text().split())
    return lines


async def test_no_output_contains_a_secret(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, logger="widgetd")
    widgets = write_flight(tmp_path, FEED)
    all_outputs: list[Any] = []
    async with raw(answering(500, BODY.encode())) as port:
        (tmp_path / "u.toml").write_text(declare(port))
        settings: dict[str, Any] = {"upstreams": tmp_path / "u.toml", "log_level": "debug"}
        async with (
            serving(
                widgets, **settings, toolset=("upstreams", "operate"), audit=tmp_path / "audit"
            ) as url,
            connect_client(url, "modern") as client,
        ):
            with anyio.fail_after(60):
                all_outputs.append(await client.client.call_tool("flight", {"number": "UA123"}))
                for tool, arguments in (
                    ("get_upstreams", {}),
                    ("call_upstream", {"name": "flights", "tool": "get_flight"}),
                    ("call_upstream", {"name": "local", "tool": "x"}),
                    ("call_upstream", {"name": "shop", "tool": "get_flight"}),
                    ("get_status", {}),
                    ("get_logs", {"level": "debug"}),
                ):
                    all_outputs.append(await client.client.call_tool(tool, arguments))
            pages = ("/status", "/metrics", "/readyz")
            all_outputs.extend([(await ask(url, page)).text for page in pages])
            all_outputs.extend(lines_of_processes())
        for command in (["upstreams"], ["upstreams", "call", "shop", "get_flight"]):
            asked = [*command, "--file", str(tmp_path / "u.toml")]
            all_outputs.append(await anyio.to_thread.run_sync(main, asked))
    out, err = capfd.readouterr()
    audit = (tmp_path / "audit").read_text() if (tmp_path / "audit").exists() else ""
    outputs = [*map(str, all_outputs), caplog.text, out, err, audit]

    assert any("flights" in output for output in outputs)
    leaks = [output for output in outputs if any(secret in output for secret in SECRETS)]
    assert leaks == []
