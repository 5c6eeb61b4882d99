"""Kill the daemon while users press: each press is done at most once, and reported.

The replicas' store outlives the daemon. Each life begins with the press during which the last
one ended, as a host does that lost the answer, and ends during the next.
"""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import anyio
import anyio.to_thread
from fastmcp import FastMCP
from mcp import Client
from mcp.client.extension import advertise

from stress.table import Row, info_row, zero_row
from tests.support.processes import daemon_process
from tests.support.widgets import widget_file
from tests.system.server.mcp.booking import GIVEN, SCHEMA, SIDECAR, TEMPLATE, mark, press
from tests.system.server.store.server import running_server
from tests.system.upstreams.servers import serve_mcp, toml
from widgetd.server.access.principal import UI_EXTENSION

_CALL_S = 1.0
_LIVES_S = (0.0, 0.4)
_WORK_S = (0.0, 0.2)
_PATIENCE_S = 60.0


@dataclass(slots=True, kw_only=True)
class PressOutcome:
    """The outcome of repeated kills.

    Attributes:
        calls: Calls that reached the upstream, by the seat of the press, whatever its key.
        reports: The statuses that retries were answered with.
        unreported: Number of retries without a status.
    """

    calls: Counter[str] = field(default_factory=Counter)
    reports: Counter[str] = field(default_factory=Counter)
    unreported: int = 0


async def press_and_kill(folder: Path, *, kills: int) -> PressOutcome:
    """Press and kill repeatedly.

    Args:
        folder: An empty folder.
        kills: Number of kills.
    """
    outcome, random, widgets = PressOutcome(), Random(0), folder / "widgets"
    await anyio.to_thread.run_sync(_write, widgets)
    airline = _airline(outcome, random)
    apps = [advertise(UI_EXTENSION, {"mimeTypes": ["text/html;profile=mcp-app"]})]
    with running_server() as store:
        async with serve_mcp(airline) as url:
            declared = toml("airline", url=url, call_s=_CALL_S)
            rule = "[airline.actions.book_seat]\nconfirm = false\n"
            await anyio.Path(folder / "u.toml").write_text(declared + rule)
            flags = ("--upstreams", str(folder / "u.toml"), "--store", store.url)
            last: Mapping[str, Any] | None = None
            for life in range(kills + 1):
                async with daemon_process(widgets, *flags, "--log-level", "error") as served:
                    async with Client(served.url, extensions=apps) as client:
                        if last is not None:
                            await _retry(client, last, life - 1, outcome)
                        last = mark(await client.call_tool("seats", GIVEN))
                    async with anyio.create_task_group() as tasks:
                        tasks.start_soon(_press, served.url, apps, last, life)
                        await anyio.sleep(random.uniform(*_LIVES_S))
                        served.send(signal.SIGKILL)
                        tasks.cancel_scope.cancel()
    return outcome


def _write(widgets: Path) -> None:
    widgets.mkdir()
    content = widget_file("Seats", schema=SCHEMA, template=TEMPLATE)
    (widgets / "Seats.widget").write_text(content)
    (widgets / "Seats.widget.toml").write_text(SIDECAR)


def _airline(outcome: PressOutcome, random: Random) -> FastMCP[Any]:
    airline: FastMCP[Any] = FastMCP("airline")

    @airline.tool
    async def book_seat(flight: str, seat: str) -> dict[str, Any]:  # noqa: ARG001 - the widget's
        outcome.calls[seat] += 1
        await anyio.sleep(random.uniform(*_WORK_S))
        return {"seat": {"code": seat}}

    return airline


async def _press(url: str, apps: list[Any], render: Mapping[str, Any], seat: int) -> None:
    async with Client(url, extensions=apps) as client:
        await press(client, render, **_identify(render, seat))


def _identify(render: Mapping[str, Any], seat: int) -> dict[str, Any]:
    return {"idempotency_key": render["id"], "payload": {"seat": str(seat), "pin": ""}}


async def _retry(
    client: Client, render: Mapping[str, Any], seat: int, outcome: PressOutcome
) -> None:
    """Send the press of the last life again, twice."""
    with anyio.fail_after(_PATIENCE_S):
        for _ in range(2):
            result = await press(client, render, **_identify(render, seat))
            status = (result.structured_content or {}).get("status")
            outcome.reports[str(status)] += 1
            outcome.unreported += status not in {"done", "unsure", "failed"}


async def measure(folder: Path, *, kills: int) -> list[Row]:
    """Measure kills of a daemon while users press."""
    outcome = await press_and_kill(folder, kills=kills)
    trial = f"kill -9 {kills:,} times while a user presses"
    reports = ", ".join(f"{status} {count}" for status, count in sorted(outcome.reports.items()))
    return [
        zero_row(
            f"{trial}: upstream called twice",
            sum(count > 1 for count in outcome.calls.values()),
            f"{len(outcome.calls):,} presses that reached it",
        ),
        zero_row("  retries without a report", outcome.unreported, f"{2 * kills:,} retries"),
        info_row("  reports", reports),
    ]
