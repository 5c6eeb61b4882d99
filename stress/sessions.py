"""Many sessions in a browser, ended and abandoned: memory, descriptors and pages that remain."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio

from stress.processes import Usage, read_usage
from stress.table import Row, info_row, limit_row, zero_row
from tests.support.clients import Connection, connect_client
from tests.support.processes import Served, daemon_process
from tests.support.widgets import widget_file

_PATIENCE_S = 60
_WARM_UP = 24
_DAEMON_MB = 5.0
_BROWSER_SHARE = 1.10
_DESCRIPTORS = 5


def form_widget() -> str:
    """Return a widget with a field and a button, which fails for an empty name."""
    tree = {
        "type": "Card",
        "children": [
            {"type": "Title", "value": "Form 0"},
            {"type": "Input", "name": "note"},
            {"type": "Button", "label": "Send", "onClickAction": {"type": "form.send"}},
        ],
    }
    template = json.dumps(tree).replace('"Form', '"{{ who if 9 // (who | length) >= 0 }} Form')
    return widget_file("Form", template=template)


async def call_tool(client: Connection, name: str, **arguments: Any) -> dict[str, Any]:
    """Call a tool, and return its data or its error."""
    with anyio.fail_after(_PATIENCE_S):
        result = await client.client.call_tool(name, arguments)
    content: dict[str, Any] = result.structured_content or (result.meta or {})["widgetd/error"]
    return content


async def start_session(client: Connection, **more: Any) -> str:
    """Start a session, after waiting for a place if need be, and return its id."""
    while True:
        begun = await call_tool(
            client, "start_session", **{"widget": "form", "arguments": {"who": "Ada"}, **more}
        )
        if begun.get("code") != "W4002":
            return str(begun.get("sessionId", ""))
        await anyio.sleep(min(begun["retryAfterS"], 0.5))


async def do_steps(client: Connection, session: str, *steps: dict[str, Any]) -> dict[str, Any]:
    """Do steps in a session, and return the answer."""
    return await call_tool(client, "do_in_session", session_id=session, steps=list(steps))


@asynccontextmanager
async def serving_sessions(folder: Path, *, idle_s: float = 300) -> AsyncIterator[Served]:
    """Run a daemon with sessions over the one widget `form`."""
    (folder / "Form.widget").write_text(form_widget())
    flags = ("--toolset", "sessions", "--session-idle-s", str(idle_s), "--log-level", "error")
    async with daemon_process(folder, *flags) as served:
        yield served


def descendants(pid: int) -> set[int]:
    """Return the processes that the process `pid` started, and those that they started."""
    pids, waiting = set[int](), [pid]
    while waiting:
        for children in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            started = set(map(int, children.read_text().split())) - pids
            pids |= started
            waiting += started
    return pids


def browser_pids(pid: int) -> list[int]:
    """Return the processes of the browser that the process `pid` started."""
    return sorted(one for one in descendants(pid) if b"--type=" in _command(one) or is_browser(one))


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def is_browser(pid: int) -> bool:
    """Return whether the process is a browser that a driver started."""
    command = _command(pid)
    return b"--remote-debugging" in command and b"playwright/driver" not in command


def _renderers(pid: int) -> int:
    return sum(b"--type=renderer" in _command(one) for one in browser_pids(pid))


def _browser_bytes(pid: int) -> int:
    return sum(read_usage(one).rss_bytes for one in browser_pids(pid))


async def _idle_usage(served: Served, idle_s: float) -> tuple[Usage, int, int]:
    """Return the resources after an idle time."""
    await anyio.sleep(idle_s + 8)  # unused sessions are ended every five seconds
    pid = served.process.pid
    return read_usage(pid), _browser_bytes(pid), _renderers(pid)


async def measure_endings(folder: Path, *, sessions: int, idle_s: float = 3.0) -> list[Row]:
    """Measure sessions of which a sixth fail at the start and a sixth are abandoned."""
    async with (
        serving_sessions(folder, idle_s=idle_s) as served,
        connect_client(served.url, "modern") as client,
    ):
        await _many(client, _WARM_UP)
        before, browser, idling = await _idle_usage(served, idle_s)
        tally = await _many(client, sessions)
        after, browser_after, remaining_sessions = await _idle_usage(served, idle_s)
        listed = await call_tool(client, "list_sessions")
    grown_mb = max(after.rss_bytes - before.rss_bytes, 0) / 1e6
    counts = ", ".join(f"{count:,} {what}" for what, count in sorted(tally.items()))
    grown = after.descriptors - before.descriptors
    return [
        info_row(f"{sessions:,} sessions", counts),
        zero_row("  sessions left after the idle time", len(listed["items"])),
        zero_row("  pages left in the browser", max(remaining_sessions - idling, 0)),
        limit_row("  memory of the daemon grown", grown_mb, _DAEMON_MB, "MB"),
        limit_row(
            "  memory of the browser, to before", browser_after / browser, _BROWSER_SHARE, ""
        ),
        limit_row("  descriptors more than before", grown, _DESCRIPTORS, ""),
    ]


async def _many(client: Connection, sessions: int) -> Counter[str]:
    tally: Counter[str] = Counter()
    for number in range(sessions):
        if number % 6 == 1:
            await start_session(client)
            tally["abandoned"] += 1
        elif number % 6:
            session = await start_session(client)
            answer = await do_steps(client, session, {"keyword": "Press", "target": "text=Send"})
            tally[answer["status"]] += 1
            await call_tool(client, "end_session", session_id=session)
        elif number % 18 == 0:
            tally["unlike the schema"] += not await start_session(
                client, arguments={"who": 5, "x": 1}
            )
        elif number % 18 == 6:
            tally["failed in the template"] += not await start_session(
                client, arguments={"who": ""}
            )
        else:
            with anyio.move_on_after(0.05) as scope:
                await start_session(client)
            tally["cancelled"] += scope.cancelled_caught
    return tally
