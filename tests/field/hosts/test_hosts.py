"""Known hosts, emulated in front of a real server: what their users see and send."""

from __future__ import annotations

import json
import re
import tomllib
from base64 import b64decode
from dataclasses import fields, replace
from pathlib import Path

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream

from docs.generate.hosts import hosts_page
from tests.field.author.browser.staging import do
from tests.field.author.testing.running import widgetd_test
from tests.field.hosts.hosting import hosted
from tests.field.server.web.browsing import needs_browser
from tests.support.examples import SCALE
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.emulated_stage import EmulatedStage, HostProfile
from widgetd.author.browser.stage import load_state
from widgetd.author.testing.profiles import host_profiles
from widgetd.author.testing.widgets import server_over
from widgetd.cli.client_config import HOSTS as CONFIGURATIONS
from widgetd.server.access.principal import ClientInfo
from widgetd.server.render.entry import view_uri
from widgetd.server.render.hosts import draws_views
from widgetd.server.render.inline_images import InlineImages

HOSTS = host_profiles()
FORM = "create_task"
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGM4AQAAywDKzODlIQAAAABJRU5ErkJggg=="
"""One grey pixel."""
ADD = 'role=button[name="Add task"]'
PROFILE_S = 500


async def show_widget(stage: EmulatedStage, widget: str = FORM) -> None:
    await do(stage, "Show Widget", 20, widget=widget)


async def press_button(stage: EmulatedStage, target: str = ADD) -> None:
    await do(stage, "Press", 10, target=target)
    with anyio.fail_after(PATIENCE_S):
        await stage.frame.get_by_text("was sent").wait_for()


async def queued(stage: EmulatedStage) -> list[str]:
    render_id = stage.require_display().render_id
    waiting = await stage.server.store.actions.read(render_id, timeout_s=0)
    return [one.action for one in waiting.actions]


async def frame_text(stage: EmulatedStage) -> str:
    return await stage.frame.locator("body").inner_text()


def test_profiles_have_known_keys_and_a_thread() -> None:
    known = {one.name for one in fields(HostProfile)}
    folder = Path(__file__).resolve().parents[3] / "widgetd/author/testing/hosts"

    assert len(HOSTS) == 8
    for name, host in HOSTS.items():
        assert set(tomllib.loads((folder / f"{name}.toml").read_text())) <= known
        assert host.threads
        assert "handshake" in host.order


def test_profiles_name_hosts_of_widgetd_config() -> None:
    named = [one for host in HOSTS.values() for one in host.config]

    assert len(named) == len(set(named))
    assert set(named) <= CONFIGURATIONS.keys()
    assert "claude-ai" in named
    assert all(f"`{one}`" in hosts_page() for one in CONFIGURATIONS)


def test_hosts_that_draw_without_declaring_it_are_known_by_name_except_gateways() -> None:
    undeclared = {name: host for name, host in HOSTS.items() if not host.declares_apps}

    known = {name for name, host in undeclared.items() if draws_views(ClientInfo(name=host.client))}
    assert known == undeclared.keys() - {"gateway"}


DRAWN = HOSTS if SCALE > 1 else ("claude-desktop",)


@needs_browser
@pytest.mark.timeout(PROFILE_S + 60)
@pytest.mark.parametrize("name", DRAWN)
async def test_host_draws_every_widget_and_submits_each_form_once(
    chromium: Chromium, name: str
) -> None:
    failures = {}
    async with hosted(chromium, HOSTS[name]) as stage:
        with anyio.fail_after(PROFILE_S):
            for widget in stage.caller.snapshot.widgets:
                stage.console.clear()
                try:
                    await show_widget(stage, widget)
                    await stage.live()
                except Exception as error:  # noqa: BLE001 - every widget has its say
                    failures[widget] = str(error)
        assert failures == {}, "\n".join(f"{one}: {why}" for one, why in failures.items())
        assert len(stage.caller.snapshot.widgets) == 27


@needs_browser
@pytest.mark.parametrize("strips_answers", [False, True])
async def test_claude_desktop_draws_a_stripped_result_without_showing_its_id(
    chromium: Chromium, strips_answers: bool
) -> None:
    host = replace(HOSTS["claude-desktop"], strips_answers=strips_answers)
    async with hosted(chromium, host) as stage:
        await show_widget(stage)
        await press_button(stage)

        assert await queued(stage) == ["task.create"]
        assert "Render:" not in await frame_text(stage)
        assert stage.console == []


@needs_browser
async def test_claude_ai_is_listed_page_tools_without_declaring_support(chromium: Chromium) -> None:
    async with hosted(chromium, HOSTS["claude-ai"]) as stage:
        assert {"widget_action", "follow_render"} <= set(await stage.client.tools())
        await show_widget(stage)
        await press_button(stage)

        assert await queued(stage) == ["task.create"]


@needs_browser
@pytest.mark.parametrize("app_tools", ["auto", "always"])
async def test_gateway_takes_actions_as_messages_or_with_app_tools_to_the_queue(
    chromium: Chromium, app_tools: str
) -> None:
    async with hosted(chromium, HOSTS["gateway"], app_tools=app_tools) as stage:
        await show_widget(stage)
        await press_button(stage)

        is_queued = app_tools == "always"
        assert await queued(stage) == (["task.create"] if is_queued else [])
        assert ("Action: task.create" in "\n".join(stage.messages)) or is_queued
        assert stage.submitted == ["task.create"]


@needs_browser
@pytest.mark.parametrize("name", ["claude-ai", "claude-desktop", "vscode"])
async def test_host_draws_a_tree_too_large_for_a_result(chromium: Chromium, name: str) -> None:
    host = replace(HOSTS[name], withholds_linked=True)
    async with hosted(chromium, host, inline_max_bytes=100) as stage:
        await show_widget(stage)
        await press_button(stage)

        assert await queued(stage) == ["task.create"]


@needs_browser
async def test_chatgpt_reads_the_page_again_once_its_image_origins_change(
    chromium: Chromium, tmp_path: Path
) -> None:
    tree = '{"type":"Card","children":[{"type":"Image","src":"{{ who }}","alt":"A"}]}'
    arguments = {"who": "https://a.example/1.png"}
    (tmp_path / "Picture.widget").write_text(widget_file("Picture", template=tree))
    async with hosted(chromium, HOSTS["chatgpt"], server_over(tmp_path)) as stage:
        await do(stage, "Show Widget", 20, widget="picture", arguments=arguments)
        await stage.frame.get_by_role("img", name="A, a.example is not allowed here").wait_for()
        pages = stage.pages
    (tmp_path / "Picture.widget.toml").write_text('image_origins = ["https://a.example"]\n')
    async with hosted(chromium, HOSTS["chatgpt"], server_over(tmp_path)) as stage:
        stage.pages.update(pages)
        await do(stage, "Show Widget", 20, widget="picture", arguments=arguments)

        await stage.frame.get_by_role("img", name="A", exact=True).wait_for()
        assert len(stage.pages) == 2
        old = await stage.client.request("resources/read", {"uri": view_uri("picture")})
        assert old["contents"][0]["text"].startswith("<!doctype html>")


@needs_browser
async def test_chatgpt_draws_a_lost_result_again_with_its_controls_off(chromium: Chromium) -> None:
    async with hosted(chromium, HOSTS["chatgpt"]) as stage:
        await show_widget(stage)
        await stage.remount()
        with anyio.fail_after(PATIENCE_S):
            await stage.frame.get_by_text("controls that need a server are off").wait_for()

        assert await stage.frame.get_by_role("button", name="Add task").is_disabled()
        assert stage.submitted == []


@needs_browser
@pytest.mark.parametrize("name", sorted(HOSTS.keys() - {"chatgpt", "gateway"}))
async def test_second_mount_shows_the_submission_and_sends_nothing(
    chromium: Chromium, name: str
) -> None:
    async with hosted(chromium, HOSTS[name]) as stage:
        await show_widget(stage)
        await press_button(stage)
        await stage.remount()
        # It is said again before anything is pressed.
        with anyio.fail_after(PATIENCE_S):
            await stage.frame.get_by_text("“Add task” was sent.").wait_for()
        await press_button(stage)

        with anyio.fail_after(PATIENCE_S):
            while stage.calls.count("widget_action") < 2:
                await stage.event_within(1)
        assert await queued(stage) == ["task.create"]
        assert stage.console == []


@needs_browser
@pytest.mark.parametrize(
    ("app_tools", "keeps_storage", "calls"),
    [("always", False, 1), ("auto", True, 1), ("auto", False, 2)],
    ids=["queue", "storage", "neither"],
)
async def test_second_mount_behind_a_gateway_sends_no_message_again_where_the_page_has_storage(
    chromium: Chromium, app_tools: str, keeps_storage: bool, calls: int
) -> None:
    host = replace(HOSTS["gateway"], keeps_storage=keeps_storage)
    async with hosted(chromium, host, app_tools=app_tools) as stage:
        await show_widget(stage)
        await press_button(stage)
        await stage.remount()
        if app_tools == "always" or keeps_storage:
            with anyio.fail_after(PATIENCE_S):
                await stage.frame.get_by_text("“Add task” was sent.").wait_for()
        await press_button(stage)

        messages = [one for one in stage.messages if "Action: task.create" in one]
        assert len(messages) == calls
        assert len(await queued(stage)) == (1 if app_tools == "always" else 0)
        assert stage.console == []


@needs_browser
async def test_repeatable_action_is_sent_at_each_press(chromium: Chromium, tmp_path: Path) -> None:
    tree = (
        '{"type":"Card","children":[{"type":"Button","label":"More",'
        '"onClickAction":{"type":"more.show"}}]}'
    )
    (tmp_path / "More.widget").write_text(widget_file("More", template=tree))
    (tmp_path / "More.widget.toml").write_text(
        '[actions."more.show"]\ndescription = "More."\nrepeat = true\n'
    )
    async with hosted(chromium, HOSTS["plain"], server_over(tmp_path)) as stage:
        await show_widget(stage, "more")
        for _ in range(2):
            await press_button(stage, 'role=button[name="More"]')
            await do(stage, "Expect Action", 10, type="more.show")
            await stage.remount()

        assert await queued(stage) == ["more.show", "more.show"]


@needs_browser
async def test_blocked_image_is_a_placeholder_with_the_reason(
    chromium: Chromium, tmp_path: Path
) -> None:
    tree = '{"type":"Card","children":[{"type":"Image","src":"https://a.example/1.png"}]}'
    (tmp_path / "Picture.widget").write_text(widget_file("Picture", template=tree))
    async with hosted(chromium, HOSTS["claude-ai"], server_over(tmp_path)) as stage:
        await show_widget(stage, "picture")

        blocked = stage.frame.get_by_role("img", name=re.compile("is not allowed here"))
        await blocked.first.wait_for()


@needs_browser
async def test_images_of_the_operators_origins_are_drawn_where_none_are_loaded(
    chromium: Chromium, tmp_path: Path
) -> None:
    content = b64decode(PNG)

    async def answer(stream: SocketStream) -> None:
        async with stream:
            await stream.receive()
            about = b"content-length: %d\r\nconnection: close" % len(content)
            await stream.send(b"HTTP/1.1 200 OK\r\n%b\r\n\r\n%b" % (about, content))

    async with (
        await anyio.create_tcp_listener(local_host="127.0.0.1") as listener,
        anyio.create_task_group() as tasks,
    ):
        tasks.start_soon(listener.serve, answer)
        origin = f"http://127.0.0.1:{listener.extra(SocketAttribute.local_port)}"
        tree = f'{{"type":"Card","children":[{{"type":"Image","src":"{origin}/1.png","alt":"A"}}]}}'
        (tmp_path / "Picture.widget").write_text(widget_file("Picture", template=tree))
        server = server_over(tmp_path, images=InlineImages((origin,), allow_private=True))
        async with hosted(chromium, HOSTS["claude-ai"], server) as stage:
            await show_widget(stage, "picture")
            image = stage.frame.get_by_role("img", name="A", exact=True)

            assert str(await image.get_attribute("src")).startswith("data:image/png;base64,")
            assert await image.evaluate("image => image.naturalWidth") == 1
        tasks.cancel_scope.cancel()


@needs_browser
async def test_instructions_for_claude_name_search_as_the_newest_list(chromium: Chromium) -> None:
    async with hosted(chromium, HOSTS["claude-ai"]) as stage:
        assert "search_widgets knows the newest" in stage.client.instructions


@needs_browser
async def test_old_host_finds_the_page_under_the_flat_key(chromium: Chromium) -> None:
    async with hosted(chromium, replace(HOSTS["plain"], flat_uri=True)) as stage:
        await show_widget(stage)

        assert len(stage.pages) == 1


@needs_browser
async def test_result_before_the_handshake_leaves_controls_on_and_is_followed(
    chromium: Chromium,
) -> None:
    async with hosted(chromium, HOSTS["mcp-ui"]) as stage:
        await show_widget(stage)
        assert await stage.frame.get_by_role("button", name="Add task").is_enabled()
        assert "controls are off" not in await frame_text(stage)
        with anyio.fail_after(PATIENCE_S):
            while "follow_render" not in stage.calls:
                await stage.event_within(1)


@needs_browser
async def test_google_adk_gets_the_id_alone_in_meta_and_draws_all_the_same(
    chromium: Chromium,
) -> None:
    async with hosted(chromium, replace(HOSTS["plain"], client="google-adk")) as stage:
        widget = stage.caller.snapshot.widgets[FORM]
        arguments = dict(load_state(widget, "").arguments)
        called = {"name": FORM, "arguments": arguments}
        result = await stage.client.request("tools/call", called)
        await show_widget(stage)

        # ADK hands all of it to the model; a token has some four characters.
        beside_text = {key: result[key] for key in ("_meta", "structuredContent") if key in result}
        assert len(json.dumps(beside_text)) <= 4 * 100
        assert result["_meta"].keys() == {"widgetd/render"}
        assert result["_meta"]["widgetd/render"].keys() == {"id"}


@needs_browser
def test_command_tests_widgets_in_a_host(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    ran = widgetd_test(tmp_path, ".", "--client", "claude-desktop", "--", "-vv")

    assert ran.returncode == 0, ran.stdout
    assert "A.widget::claude-desktop PASSED" in ran.stdout


def test_command_refuses_an_unknown_host(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    ran = widgetd_test(tmp_path, ".", "--client", "claude-dekstop")

    assert ran.returncode == 2
    assert "there is no host 'claude-dekstop' to emulate" in ran.stderr


@needs_browser
async def test_newer_version_is_drawn_in_place_with_its_note(chromium: Chromium) -> None:
    async with hosted(chromium, HOSTS["plain"]) as stage:
        await show_widget(stage)
        await press_button(stage)
        update = {"render_id": stage.require_display().render_id, "note": "Glass is on its way."}
        called = {"name": "update_render", "arguments": update}
        assert not (await stage.client.request("tools/call", called)).get("isError")

        with anyio.fail_after(PATIENCE_S):
            await stage.frame.get_by_text("Glass is on its way.").wait_for()
        assert stage.console == []
