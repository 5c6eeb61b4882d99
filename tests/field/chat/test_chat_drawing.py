"""The chat's page draws widgets when their author says, and continues after an interruption."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.field.chat.test_chat_page import frame_of, last_line, open_chat, say, settled
from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import endpoint, halts, refuses, says
from widgetd.base.redaction import Secret

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

KEY = "sk-not-to-be-seen-0123456789"
SIDECARS = {
    "Lazy": 'render_mode = "lazy"',
    "Later": 'render_mode = "progressive"',
    "Kept": 'cache = "session"',
    "Warm": "preload = true",
}
EXAMPLE = '[[examples]]\nname = "one"\narguments = { who = "Ada" }\n'

HOLD_IDLE = "window.idle = []; window.requestIdleCallback = (then) => window.idle.push(then)"


@pytest.fixture
def drawing_folder(tmp_path: Path) -> Path:
    for name, line in SIDECARS.items():
        (tmp_path / f"{name}.widget").write_text(widget_file(name, text=name))
        sidecar = f'{line}\nsummary = "{name} for {{{{ who }}}}"\n{EXAMPLE}'
        (tmp_path / f"{name}.widget.toml").write_text(sidecar)
    return tmp_path


async def waiting_texts(page: Page, at: int) -> list[str]:
    return await page.locator("#items li.widget").nth(at).locator(".waiting").all_inner_texts()


async def test_widget_is_drawn_when_its_author_says(drawing_folder: Path) -> None:
    paths: list[str] = []
    async with (
        serving(drawing_folder, chat=True) as url,
        browsing(viewport={"width": 800, "height": 300}) as page,
    ):
        page.on("request", lambda request: paths.append(request.url.removeprefix(url[:-4])))
        await page.add_init_script(HOLD_IDLE)
        await open_chat(page, url)
        await page.wait_for_load_state("networkidle")
        preloaded = [path for path in paths if path.startswith("/chat/frame/")]
        await say(page, "lazy")
        for name in ("later", "kept", "kept"):
            await say(page, name)
        await frame_of(page).get_by_text("Kept, Ada").wait_for()
        await page.reload()
        paths.clear()
        await page.wait_for_selector("html[data-ready=true]")
        await frame_of(page).get_by_text("Kept, Ada").wait_for()
        asked_for = [path for path in paths if path.startswith("/chat/widgets/")]
        before = [await waiting_texts(page, at) for at in range(4)]
        await page.evaluate("window.idle.forEach((then) => then())")
        await frame_of(page, 1).get_by_text("Later, Ada").wait_for()
        still = await waiting_texts(page, 0)
        await page.locator("#items li.widget").first.scroll_into_view_if_needed()
        await frame_of(page, 0).get_by_text("Lazy, Ada").wait_for()

    assert preloaded == ["/chat/frame/warm"]
    assert len(asked_for) == 2, "the two that are kept in the browser are not asked for again"
    assert before == [["Lazy for Ada"], ["Later for Ada"], [], []]
    assert still == ["Lazy for Ada"]


async def test_stopped_turn_keeps_its_text_and_the_next_turn_continues(
    drawing_folder: Path,
) -> None:
    async with (
        endpoint(halts("Half a sentence")) as there,
        serving(drawing_folder, chat=True, chat_model="m1", chat_url=there.url) as url,
        browsing() as page,
    ):
        await open_chat(page, url)
        await page.keyboard.type("Where is NF 221?")
        await page.keyboard.press("Enter")
        await page.locator("#items").get_by_text("Half a sentence").wait_for()
        await page.get_by_role("button", name="Stop").press("Enter")
        await page.get_by_text("Stopped.").wait_for()
        await settled(page)
        there.script[:] = [says("I am back.")]
        await say(page, "And now?")
        line = await last_line(page)
        await page.reload()
        await page.wait_for_selector("html[data-ready=true]")
        lines = await page.locator("#items li.assistant_message").all_inner_texts()

    assert line.strip() == "I am back."
    assert [one.strip() for one in lines] == ["Half a sentence", "I am back."]


async def test_models_failure_is_a_sentence_with_advice_and_without_the_key(
    drawing_folder: Path,
) -> None:
    upstreams = drawing_folder.parent / f"{drawing_folder.name}.toml"
    upstreams.write_text('[flights]\nurl = "http://127.0.0.1:9/mcp"\n')
    settings: dict[str, Any] = {"chat": True, "chat_model": "m1", "chat_key": Secret(KEY)}
    async with (
        endpoint(refuses(401, f"Incorrect API key provided: {KEY[:8]}****{KEY[-6:]}")) as there,
        serving(drawing_folder, chat_url=there.url, upstreams=upstreams, **settings) as url,
        browsing() as page,
    ):
        await open_chat(page, url)
        await say(page, "Where is NF 221?")
        sentence = await page.locator("#items li.error").inner_text()
        chips = await page.locator("#servers li").all_inner_texts()
        down = await page.locator("#servers li.down").all_inner_texts()
        there.script[:] = [says("I am back.")]
        await page.get_by_role("button", name="Try again").click()
        await page.locator("#items").get_by_text("I am back.").wait_for()
        content = await page.content()

    assert chips == ["widgetd", "flights: refused"]
    assert down == chips[1:]
    assert sentence.startswith("W0012: the model m1 cannot be used")
    assert all(KEY[at : at + 6] not in sentence + content for at in range(len(KEY) - 5))
