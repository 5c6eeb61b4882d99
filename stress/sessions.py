"""Many sessions in a browser: ended, abandoned, crowded, killed, and under changing files."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import anyio

from stress.processes import Usage, read_usage
from stress.table import Row, info_row, limit_row, zero_row
from tests.support.clients import Connection, connect_client
from tests.support.processes import Served, daemon_process
from tests.support.widgets import widget_file
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.server.catalog.catalog import discover_widgets

MOST = 8
_PATIENCE_S = 60
_WARM_UP = 24
_DAEMON_MB = 5.0
_BROWSER_SHARE = 1.10
_DESCRIPTORS = 5
_TOLD_S = 5.0
_STARTED_S = 3.0


def form_widget(number: int = 0) -> str:
    """Return a widget with a field and a button, which fails for an empty name."""
    tree = {
        "type": "Card",
        "children": [
            {"type": "Title", "value": f"Form {number}"},
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
    return b"--remote-debugging" in _command(pid) and not is_driver(pid)


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


async def measure_crowd(folder: Path, *, seconds: float) -> list[Row]:
    """Measure eight sessions at once, two clients in one of them, calls cancelled at random."""
    tally: Counter[str] = Counter()
    async with (
        serving_sessions(folder) as served,
        connect_client(served.url, "modern") as first,
        connect_client(served.url, "modern") as second,
    ):
        sessions = [await start_session(first) for _ in range(MOST)]
        ninth = await call_tool(first, "start_session", widget="form", arguments={"who": "Ada"})
        act = partial(_act, over=time.monotonic() + seconds, tally=tally)
        async with anyio.create_task_group() as tasks:
            for at in range(MOST):
                tasks.start_soon(act, first, sessions, at, f"first {at}")
            tasks.start_soon(act, second, sessions, 0, "second")
    counts = ", ".join(f"{count:,} {what}" for what, count in sorted(tally.items()))
    bad = sum(count for what, count in tally.items() if what.startswith("W4") and what != "W4001")
    return [
        info_row(f"{MOST} sessions and 9 callers for {seconds:.0f} s", counts),
        zero_row("  steps between those of another call", tally["W4301"], f"{tally['done']:,}"),
        zero_row("  calls that failed otherwise", bad - tally["W4301"]),
        zero_row(
            "  ninth session not told when to come again",
            not (ninth.get("code") == "W4002" and ninth["retryAfterS"] > 0),
        ),
    ]


async def _act(
    client: Connection, sessions: list[str], at: int, who: str, *, over: float, tally: Counter[str]
) -> None:
    """Type and read in one call, so that a step of another call between the two is detected."""
    random, number = Random(who), 0
    while time.monotonic() < over:
        number += 1
        text = f"{who}, {number}"
        typing = {"keyword": "Enter Text", "target": "field=note", "text": text}
        reading = {"keyword": "Expect Value", "target": "field=note", "equals": text}
        patience_s = random.uniform(0.05, 0.5) if random.random() < 0.05 else _PATIENCE_S
        session, answer = sessions[at], {"code": "cancelled"}
        with anyio.move_on_after(patience_s):
            answer = await do_steps(client, session, typing, reading, typing, reading)
        tally[_outcome(answer)] += 1
        if answer.get("code") == "W4001" and sessions[at] == session:
            sessions[at] = ""
            sessions[at] = await start_session(client)
        elif random.random() < 0.02 and sessions[at] == session:
            sessions[at] = ""  # ended while the client that shares it may act
            await call_tool(client, "end_session", session_id=session)
            sessions[at] = await start_session(client)
        while not sessions[at]:  # noqa: ASYNC110 - the client that shares it starts another
            await anyio.sleep(0.05)


def _outcome(answer: dict[str, Any]) -> str:
    failed = answer.get("failed", {})
    return str(answer.get("code") or failed.get("code") or answer["status"])


def is_driver(pid: int) -> bool:
    """Return whether the process is the program through which Playwright drives a browser."""
    return b"playwright/driver" in _command(pid)


async def measure_children(folder: Path, *, kills: int) -> list[Row]:
    """Measure kills of each process of a browser, under sessions and calls."""
    rows = []
    for name, is_one in (("Chromium", is_browser), ("Chromium's driver", is_driver)):
        (folder / name).mkdir()
        rows += await measure_kills(folder / name, kills=kills, name=name, is_one=is_one)
    return rows


async def measure_kills(
    folder: Path, *, kills: int, name: str, is_one: Callable[[int], bool]
) -> list[Row]:
    """Measure kills of one process under four sessions, while other clients call widgets.

    Args:
        folder: An empty folder.
        kills: Number of kills.
        name: What is killed, for the rows.
        is_one: Returns whether a process is one to kill.
    """
    told_s, again_s = [0.0], [0.0]
    tally: Counter[str] = Counter()
    over = anyio.Event()
    async with (
        serving_sessions(folder) as served,
        connect_client(served.url, "modern") as client,
        connect_client(served.url, "modern") as other,
    ):

        async def keep_calling() -> None:
            while not over.is_set():
                result = await other.call("form", who="Ada")
                tally["failed calls"] += bool(result.is_error)
                tally["calls"] += 1
                await anyio.sleep(0.01)

        async def wait_for_it(session: str) -> None:
            waiting = {"keyword": "Expect Visible", "target": "text=Nobody"}
            begun = time.monotonic()
            answer = await call_tool(
                client, "do_in_session", session_id=session, steps=[waiting], timeout_s=30
            )
            told_s.append(time.monotonic() - begun - 0.5)
            tally[_outcome(answer)] += 1

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(keep_calling)
            for _ in range(kills):
                sessions = [await start_session(client) for _ in range(4)]
                async with anyio.create_task_group() as waiting:
                    for session in sessions:
                        waiting.start_soon(wait_for_it, session)
                    await anyio.sleep(0.5)
                    for pid in filter(is_one, descendants(served.process.pid)):
                        os.kill(pid, signal.SIGKILL)
                begun = time.monotonic()
                session = await start_session(client)
                again_s.append(time.monotonic() - begun)
                await call_tool(client, "end_session", session_id=session)
            over.set()
    waited = 4 * kills
    return [
        zero_row(
            f"{name} killed {kills} times: told otherwise", waited - tally["W4003"], f"{waited}"
        ),
        limit_row("  told after", max(told_s), _TOLD_S, "s"),
        limit_row("  the next start", max(again_s), _STARTED_S, "s"),
        zero_row("  other calls failed", tally["failed calls"], f"{tally['calls']:,}"),
    ]


async def measure_saves(folder: Path, *, saves: int) -> list[Row]:
    """Measure saves while two sessions keep their version and two follow."""
    file, over = folder / "Form.widget", anyio.Event()
    tally: Counter[str] = Counter()
    async with serving_sessions(folder) as served, connect_client(served.url, "modern") as client:
        sessions = [
            await start_session(client, follow=follow) for follow in (False, False, True, True)
        ]
        typing = {"keyword": "Enter Text", "target": "field=note", "text": "typed before"}
        for session in sessions:
            await do_steps(client, session, typing)

        async def act(session: str) -> None:
            pressing = {"keyword": "Press", "target": "action=form.send"}
            expecting = {"keyword": "Expect Action", "type": "form.send"}
            while not over.is_set():
                tally[_outcome(await do_steps(client, session, pressing, expecting))] += 1

        async with anyio.create_task_group() as tasks:
            for session in sessions:
                tasks.start_soon(act, session)
            for number in range(1, saves + 1):
                file.write_text(form_widget(number))
                await anyio.sleep(0.1)
            over.set()
        displayed = []
        for session, last in zip(sessions, (0, 0, saves, saves), strict=True):
            title = {
                "keyword": "Expect Text",
                "target": "component=Title",
                "equals": f"Ada Form {last}",
            }
            value = {"keyword": "Expect Value", "target": "field=note", "equals": "typed before"}
            displayed.append(_outcome(await do_steps(client, session, title, value)))
        ended = await call_tool(client, "end_session", session_id=sessions[-1])
    events = ended.get("events", [])
    order = [one["seq"] for one in events]
    changes = sum(one["kind"] == "widget.changed" for one in events)
    failed = tally.total() - tally["done"]
    return [
        zero_row(f"{saves} saves: steps failed", failed, f"{tally.total():,} pairs of steps"),
        zero_row(
            "  sessions that show another version, or lost what was typed", _count_failed(displayed)
        ),
        zero_row("  events out of order", order != sorted(order), f"{changes} changes told"),
    ]


async def measure_actions(*, widgets: int) -> list[Row]:
    """Measure the first action of each bundled widget, pressed as by a user who fills in."""
    tally: Counter[str] = Counter()
    bad: list[str] = []
    flags = ("--toolset", "sessions", "--log-level", "error")
    async with (
        daemon_process(bundled_folder(), *flags) as served,
        connect_client(served.url, "modern") as user,
        connect_client(served.url, "modern") as agent,
    ):
        for widget in discover_widgets(bundled_folder())[:widgets]:
            arguments = dict(show_state(widget, SAMPLE).arguments)
            result = await agent.client.call_tool(widget.tool, arguments)
            render = (result.meta or {}).get("widgetd/render", {}).get("id", "")
            tree = result.structured_content
            pressed = next(_actions(tree), "")
            if not pressed:
                tally["without actions"] += 1
                continue
            outcome = await _press_and_wait(
                user, agent, render, [*_required(tree), _press(pressed)]
            )
            tally[outcome] += 1
            if outcome != "heard once":
                bad.append(widget.tool)
    counts = ", ".join(f"{count} {what}" for what, count in sorted(tally.items()))
    return [
        info_row("bundled widgets in which something is pressed", counts),
        zero_row("  actions not heard once, with what was sent", len(bad), ", ".join(bad)),
    ]


async def _press_and_wait(
    user: Connection, agent: Connection, render: str, acting: list[dict[str, Any]]
) -> str:
    begun = await call_tool(user, "start_session", render_id=render)
    acted = await do_steps(user, begun["sessionId"], *acting)
    payloads = [one["payload"] for one in acted.get("events", ()) if one["kind"] == "action"]
    for _ in range(20):
        if payloads or acted["status"] != "done":
            break
        looked = await do_steps(user, begun["sessionId"], {"keyword": "Look"})
        payloads = [one["payload"] for one in looked["events"] if one["kind"] == "action"]
        await anyio.sleep(0.1)
    first = await call_tool(agent, "await_widget_action", render_id=render, timeout_s=1)
    again = await call_tool(
        agent, "await_widget_action", render_id=render, timeout_s=0, after=first.get("next", 0)
    )
    await call_tool(user, "end_session", session_id=begun["sessionId"])
    if acted["status"] != "done":
        return str(acted["failed"]["code"])
    got = [one["payload"] for one in first.get("actions", ())]
    return (
        "heard once"
        if payloads and got == payloads[:1] and not again.get("actions")
        else "not heard"
    )


def _actions(node: object) -> Iterator[str]:
    """Yield the actions of elements that can be pressed, without those of the host."""
    inner = node if isinstance(node, list) else []
    if isinstance(node, dict):
        confirmed = node.get("confirm") or {}
        for action in (node.get("onClickAction"), confirmed.get("action")):
            if action and action.get("handler") != "client" and not node.get("disabled"):
                yield str(action["type"])
        inner = list(node.values())
    for one in inner:
        yield from _actions(one)


def _press(action: str) -> dict[str, Any]:
    return {"keyword": "Press", "target": f"action={action} [1]"}


def _required(node: object) -> Iterator[dict[str, Any]]:
    """Yield steps that fill in the required fields of a form."""
    if isinstance(node, list):
        for one in node:
            yield from _required(one)
    if not isinstance(node, dict):
        return
    if node.get("required") and not node.get("defaultValue"):
        target = f"field={node.get('name')}"
        match node["type"]:
            case "Checkbox":
                yield {"keyword": "Check", "target": target}
            case "Select" | "RadioGroup":
                yield {"keyword": "Choose", "target": target, "option": node["options"][0]["label"]}
            case "DatePicker":
                yield {"keyword": "Pick Date", "target": target, "date": "2026-01-28"}
            case _:
                text = _TYPED.get(node.get("inputType", "text"), "Ada")
                yield {"keyword": "Enter Text", "target": target, "text": text}
    for one in node.values():
        yield from _required(one)


_TYPED = {"email": "ada@ada.example", "number": "7", "tel": "5550100", "url": "https://ada.example"}


def _count_failed(outcomes: Sequence[str]) -> int:
    return sum(one != "done" for one in outcomes)
