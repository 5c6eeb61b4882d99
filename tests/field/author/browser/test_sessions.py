"""BrowserSessions over MCP: steps, their order, their owner, and a browser that ends."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.field.author.browser.killing import kill_browsers, kill_drivers
from tests.field.author.browser.staging import controls_file, controls_server
from tests.field.server.web.browsing import needs_browser
from tests.support.clients import Connection, connect_client
from tests.support.daemons import serving
from tests.system.upstreams.servers import until
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.keywords import find_keyword
from widgetd.author.browser.limits import LIMITS, BrowserLimits
from widgetd.author.browser.session_tools import do_in_session
from widgetd.author.browser.sessions import BrowserSessions
from widgetd.author.browser.stage import Stage
from widgetd.base.errors import CallError
from widgetd.base.processes import PROCESSES
from widgetd.server.access.principal import Caller, Principal

pytestmark = needs_browser


@asynccontextmanager
async def sessions_over(folder: Path, **options: Any) -> AsyncIterator[BrowserSessions]:
    sessions = BrowserSessions(controls_server(folder), **options)
    try:
        yield sessions
    finally:
        await sessions.chromium.close()


def caller_of(sessions: BrowserSessions, name: str = "") -> Caller:
    registry = sessions.server.registry
    return Caller(snapshot=registry.current, registry=registry, principal=Principal(name=name))


async def started(sessions: BrowserSessions, name: str = "", **options: Any) -> Any:
    show = find_keyword("Show Widget")
    first = show.parse({"widget": "controls", "arguments": {"who": "Ada"}})
    options = {"theme": "light", "width": 400, "locale": "en-US", **options}
    return await sessions.start(caller_of(sessions, name), (show, first), **options)


def steps(*parameters: tuple[str, Any]) -> list[Any]:
    return [(find_keyword(name), find_keyword(name).parse(one)) for name, one in parameters]


async def call_patiently(client: Connection, name: str, **arguments: Any) -> Any:
    with anyio.fail_after(60):
        return await client.client.call_tool(name, arguments)


async def test_session_action_reaches_its_waiting_agent_and_is_redrawn(tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    with anyio.fail_after(100):
        async with (
            serving(tmp_path, toolset=("sessions",)) as url,
            connect_client(url, "modern") as client,
        ):
            result = await call_patiently(client, "controls", who="Ada")
            render = result.meta["widgetd/render"]["id"]
            opened = await call_patiently(client, "start_session", render_id=render)
            begun = opened.structured_content
            listed = (await call_patiently(client, "list_sessions")).structured_content
            assert [one["sessionId"] for one in listed["items"]] == [begun["sessionId"]]
            assert 'button "Track" [ref=' in begun["screen"]
            doing = [
                {"keyword": "Enter Text", "target": "field=note", "text": "Two"},
                {"keyword": "Press", "target": "action=track"},
                {"keyword": "Expect Text", "target": "action=track", "equals": "Follow"},
                {"keyword": "Look"},
            ]
            done = await call_patiently(
                client, "do_in_session", session_id=begun["sessionId"], steps=doing, timeout_s=4
            )
            content = done.structured_content
            awaited = await call_patiently(
                client, "await_widget_action", render_id=render, timeout_s=5
            )
            redrawn: list[Any] = []

            async def wait_for_what_comes_of_it() -> None:
                step = {
                    "keyword": "Expect Text",
                    "target": "component=Title",
                    "equals": "Hello, Bo",
                }
                steps = [step, {"keyword": "Read Value", "target": "field=note"}]
                session = {"session_id": begun["sessionId"], "timeout_s": 30}
                redrawn.append(
                    await call_patiently(client, "do_in_session", **session, steps=steps)
                )

            async with anyio.create_task_group() as tasks:
                tasks.start_soon(wait_for_what_comes_of_it)
                await call_patiently(
                    client, "update_render", render_id=render, arguments={"who": "Bo"}
                )
            ended = await call_patiently(client, "end_session", session_id=begun["sessionId"])
            after = await call_patiently(client, "end_session", session_id=begun["sessionId"])

    assert done.is_error
    assert [one["status"] for one in content["steps"]] == ["done", "done", "failed"]
    assert (content["failed"]["index"], content["failed"]["code"]) == (2, "W4301")
    assert (content["failed"]["expected"], content["failed"]["got"]) == ("Follow", "Track")
    assert done.content[-1].type == "image"
    (action,) = awaited.structured_content["actions"]
    assert (action["action"], action["payload"]["note"]) == ("track", "Two")
    kinds = [one["kind"] for one in ended.structured_content["events"]]
    assert kinds[:2] == ["shown", "action"]
    assert kinds.count("shown") == 2
    assert redrawn[0].structured_content["steps"][1]["result"] == "Two"
    assert after.meta["widgetd/error"]["code"] == "W4001"


async def test_misspelt_step_is_refused_before_any_runs(tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    with anyio.fail_after(100):
        async with (
            serving(tmp_path, toolset=("sessions", "operate")) as url,
            connect_client(url, "modern") as client,
        ):
            begun = (
                await call_patiently(client, "start_session", widget="controls")
            ).structured_content
            status = (await call_patiently(client, "get_status")).structured_content
            doing = [{"keyword": "Press", "target": "action=track"}, {"keyword": "Prss"}]
            done = await call_patiently(
                client, "do_in_session", session_id=begun["sessionId"], steps=doing
            )
            read = await client.client.read_resource(
                f"widgetd://sessions/{begun['sessionId']}/events"
            )

    error = done.meta["widgetd/error"]
    assert (error["code"], error["path"]) == ("W4101", "steps[1].keyword")
    assert status["sessions"] == 1
    assert "action" not in str(read.contents[0])


async def test_session_of_another_principal_does_not_exist(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path) as sessions:
            session = await started(sessions, "ada")
            with pytest.raises(CallError) as raised:
                sessions.get(session.id, "bo")

            assert raised.value.code == "W4001"
            assert sessions.owned_by("bo") == ()
            assert sessions.get(session.id, "ada") is session


async def test_session_above_the_limit_gets_a_retry_time(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path, limits=BrowserLimits(sessions=1)) as sessions:
            first = await started(sessions)
            with pytest.raises(CallError) as raised:
                await started(sessions)
            await sessions.end(first)
            await started(sessions)

    assert raised.value.code == "W4002"
    assert raised.value.retry_after_s is not None
    assert raised.value.retry_after_s > 0


async def test_unused_session_ends(tmp_path: Path) -> None:
    now = [0.0]
    with anyio.fail_after(100):
        async with sessions_over(
            tmp_path, clock=lambda: now[0], limits=BrowserLimits(session_idle_s=10)
        ) as sessions:
            session = await started(sessions)
            now[0] = 9
            await sessions.expire()
            assert sessions.owned_by("") == (session,)
            now[0] = 10
            await sessions.expire()
            assert sessions.owned_by("") == ()
            assert (await sessions.chromium.browser()).contexts == []


async def test_page_is_prepared_for_the_next_session_with_its_own_options(tmp_path: Path) -> None:
    looks = "[innerWidth, matchMedia('(prefers-color-scheme: dark)').matches]"
    running = Chromium()
    with anyio.fail_after(100):
        async with (
            sessions_over(tmp_path, chromium=running) as sessions,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(sessions.run)
            first = await started(sessions, "ada")
            await until(lambda: bool(running.spare), seconds=60)
            (ready,) = running.spare
            abroad = await started(sessions, "bo", locale="nb-NO")
            second = await started(sessions, "bo", theme="dark", width=600)

            assert first.stage.context is not ready
            assert abroad.stage.context is not ready
            assert second.stage.context is ready
            assert await second.stage.inner_frame.evaluate(looks) == [600, True]
            assert [session.id for session in sessions.owned_by("bo")] == [abroad.id, second.id]
            await until(lambda: bool(running.spare), seconds=60)
            assert ready not in running.spare
            tasks.cancel_scope.cancel()


async def test_two_callers_take_turns_and_a_cancelled_one_ends_the_session(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path) as sessions:
            session = await started(sessions)
            typing = steps(*(("Press Key", {"key": "a", "target": "field=note"}),) * 5)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(sessions.do, session, typing, 5)
                tasks.start_soon(sessions.do, session, typing, 5)
            (read,) = await sessions.do(session, steps(("Read Value", "field=note")), 5)
            with anyio.move_on_after(0.01):
                await sessions.do(session, typing * 10, 5)
            with pytest.raises(CallError) as raised:
                sessions.get(session.id, "")

    assert read.result == "a" * 10
    assert raised.value.code == "W4001"


async def test_one_owner_cannot_take_all_places(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path, limits=BrowserLimits(sessions=2)) as sessions:
            first = await started(sessions, "ada")
            with pytest.raises(CallError) as raised:
                await started(sessions, "ada")
            other = await started(sessions, "bo")
            assert sessions.get(first.id, "ada") is first
            assert sessions.get(other.id, "bo") is other

    assert raised.value.code == "W4002"
    assert raised.value.message.startswith("you have 1 of 2 sessions already; end one")
    assert raised.value.retry_after_s is not None


BUSY = "() => void setTimeout(() => { for (;;); })"
"""Keeps the only thread of a page for ever, as a pattern that backtracks does."""


@pytest.mark.parametrize("reading", ["a step", "the screen"])
async def test_unresponsive_page_is_closed_with_its_session(reading: str, tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    limits = BrowserLimits(answer_s=1)
    with anyio.fail_after(100):
        async with sessions_over(tmp_path, limits=limits) as sessions:
            busy = await started(sessions)
            other = await started(sessions)
            await busy.stage.inner_frame.evaluate(BUSY)
            code = ""
            if reading == "a step":
                (row,) = await sessions.do(busy, steps(("Read Text", "action=track")), 0)
                code = row.error.code if row.error else ""
            else:
                with pytest.raises(CallError) as raised:
                    await sessions.read(busy, "The screen", Stage.screen)
                code = raised.value.code
            with pytest.raises(CallError) as failure:
                sessions.get(busy.id, "")
            (row,) = await sessions.do(other, steps(("Read Text", "action=track")), 5)

    assert (code, failure.value.code) == ("W4004", "W4001")
    assert row.result == "Track"


async def test_call_reports_the_last_step_before_the_page_became_unresponsive(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path, limits=BrowserLimits(answer_s=1)) as sessions:
            session = await started(sessions)
            sessions.server.services["sessions"] = sessions
            context = sessions.server.context(caller_of(sessions)).of("sessions")
            await session.stage.inner_frame.evaluate(BUSY)
            steps = [{"keyword": "Expect Quiet"}]  # which asks the page nothing
            arguments = {"session_id": session.id, "steps": steps, "timeout_s": 1}
            result = await do_in_session(context, arguments)
            ended = sessions.owned_by("")

    answer = json.loads(result.structured)
    assert (result.code, ended) == ("W4004", ())
    assert [one["status"] for one in answer["steps"]] == ["done"]
    assert (answer["failed"]["code"], answer["ended"]["code"]) == ("W4004", "W4004")
    assert "screen" not in answer


@pytest.mark.parametrize("kill", [kill_browsers, kill_drivers])
async def test_killed_browser_or_driver_is_reported_and_the_next_start_works(
    kill: Callable[[], None], tmp_path: Path
) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path, limits=BrowserLimits(sessions=1)) as sessions:
            session = await started(sessions)
            await sessions.chromium.browser()
            kill()
            try:
                (row,) = await sessions.do(session, steps(("Press", "action=track")), 5)
                error = row.error
            except CallError as raised:
                error = raised
            again = await started(sessions)
            assert sessions.get(again.id, "") is again

    assert error is not None
    assert error.code == "W4003"


FILL = """() => {
  window.held = Array.from({ length: 16 }, () => new Uint8Array(64 * 2 ** 20).fill(1));
}"""
"""Fills 1 GiB of memory."""


async def test_browser_above_its_memory_is_ended_and_the_next_start_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = replace(PROCESSES.limits["browser"], resident_bytes=1000 * 2**20)
    monkeypatch.setattr(PROCESSES, "limits", {**PROCESSES.limits, "browser": limits})
    async with sessions_over(tmp_path) as sessions, anyio.create_task_group() as tasks:
        tasks.start_soon(sessions.chromium.run)
        session = await started(sessions)
        with suppress(Exception):  # the browser may end before it answers
            await session.stage.page.evaluate(FILL)
        await until(
            lambda: not sessions.chromium.is_running(session.stage.context.browser), seconds=60
        )
        with pytest.raises(CallError) as raised:
            sessions.get(session.id, "")
        again = await started(sessions)
        tasks.cancel_scope.cancel()

    assert raised.value.code == "W4003"
    assert again.id != session.id


async def test_failed_start_leaves_nothing_open(tmp_path: Path) -> None:
    with anyio.fail_after(100):
        async with sessions_over(tmp_path) as sessions:
            show = find_keyword("Show Widget")
            for _ in range(3):
                with pytest.raises(CallError):
                    await sessions.start(
                        caller_of(sessions),
                        (show, {"widget": "nothing"}),
                        theme="light",
                        width=400,
                        locale="en-US",
                    )
            assert (await sessions.chromium.browser()).contexts == []


async def test_every_picture_of_a_session_is_charged_to_its_owner(tmp_path: Path) -> None:
    charged: list[tuple[str, int]] = []

    async def charge(owner: str, cost: int) -> None:
        if len(charged) == 4:
            raise CallError("W2201", "too many", recoverable=True)
        charged.append((owner, cost))

    async with sessions_over(tmp_path, charge=charge) as sessions:
        session = await started(sessions, "ann")
        assert charged == []
        looks = steps(("Picture", {}), ("Picture", {"target": "field=note"}))
        await sessions.do(session, [*looks, *steps(("Expect Accessible", {}))], 20)
        await sessions.read(session, "A picture", Stage.page_picture)
        assert charged == [("ann", LIMITS.picture_cost)] * 4

        [refused] = await sessions.do(session, looks, 20)
        assert refused.error is not None
        assert refused.error.code == "W2201"
        assert sessions.owned_by("ann") == (session,)
