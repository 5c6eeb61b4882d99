"""A user talks to the agent in a browser: it shows widgets and reads what is done in them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import anyio
import pytest

from tests.field.server.web.browsing import browsing, needs_browser
from tests.field.server.web.test_accessibility import AXE, violations
from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.examples import SCALE
from tests.support.form import order_file
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.chat.endpoint import endpoint, streams
from widgetd.base.files.folder import bundled_folder

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Page

pytestmark = needs_browser

STATIC = Path(__file__).resolve().parents[3] / "widgetd/chat/static"


async def open_chat(page: Page, url: str, thread: str = "") -> None:
    await page.goto(f"{url.removesuffix('/mcp')}/chat{thread}")
    await page.wait_for_selector("html[data-ready=true]")


async def say(page: Page, words: str) -> None:
    """Say `words`, and wait for the end of the turn."""
    await page.get_by_label("Message", exact=True).fill(words)
    await page.keyboard.press("Enter")
    await settled(page)


async def settled(page: Page) -> None:
    await page.wait_for_selector("#items[aria-busy=false]", state="attached")


def frame_of(page: Page, at: int = -1) -> FrameLocator:
    return page.locator("#items li.widget").nth(at).frame_locator("iframe")


async def last_line(page: Page) -> str:
    return await page.locator("#items li.assistant_message").last.inner_text()


def test_page_is_small_besides_the_markdown_that_it_shares_with_the_view() -> None:
    sizes = {file.name: file.stat().st_size for file in STATIC.iterdir()}

    assert set(sizes) == {"chat.html", "chat.css", "chat.js", "page.js", "threads.js"}
    assert sum(sizes.values()) <= 34 * 1024


async def test_question_is_answered_with_a_widget_and_a_sentence() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        head = await page.locator("#model").inner_text()
        chips = await page.locator("#servers li").all_inner_texts()
        await say(page, "Where is NF 221?")
        await frame_of(page).get_by_text("NF 221").first.wait_for()
        rows = await page.locator("#items details summary").all_inner_texts()
        await page.get_by_role("button", name="What the model saw").click()
        saw = await page.get_by_role("dialog").locator("pre", has_text="NF 221").inner_text()
        await page.keyboard.press("Escape")
        await page.get_by_role("button", name="Theme").press("Enter")

        assert "search_widgets" in saw
        assert '"Card"' not in saw
        assert await page.locator("html").get_attribute("data-theme") == "light"
        assert head == "scripted: no model is asked"
        assert chips == ["widgetd"]
        assert await last_line(page) == (
            "Northfjord Air NF 221, Thu 14 May, Bergen to Lisbon: airborne, lands 10:40."
        )
        names = [row.split(" · ")[0] for row in rows]
        assert names == ["Search widgets", "Flight tracker"]


async def test_agent_answers_a_submitted_form() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "show me lead_form")
        await frame_of(page).get_by_label("Name").fill("Ada")
        await frame_of(page).locator("input[type=email]").fill("ada@example.com")
        await frame_of(page).get_by_role("button", name="Request a survey").click()
        line = page.locator("#items li.assistant_message", has_text="ada@example.com")
        await line.wait_for()
        sentence = await line.inner_text()

        assert sentence.startswith("You chose “Request a survey” with "), sentence
        assert "Name Ada" in sentence
        assert "formId" not in sentence, "the author's part of the payload is not for people"
        await frame_of(page, 0).get_by_text("was sent").wait_for()


async def test_invalid_form_is_marked_in_its_field_and_not_sent() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "show me lead_form")
        lines = await page.locator("#items li.assistant_message").count()
        field = frame_of(page).locator("input[name*=email]")
        await field.evaluate("input => { input.type = 'text'; input.form.noValidate = true; }")
        await field.fill("nobody")
        await frame_of(page).get_by_label("Name").fill("Ada")
        await frame_of(page).get_by_role("button", name="Request a survey").click()
        await page.locator("#items li.warning").wait_for()

        assert await page.locator("#items li.assistant_message").count() == lines


async def test_reopened_page_restores_the_thread() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "Where is NF 221?")
        again = await page.context.new_page()
        await page.close()
        await open_chat(again, url)
        await frame_of(again).get_by_text("NF 221").first.wait_for()

        assert await last_line(again) == (
            "Northfjord Air NF 221, Thu 14 May, Bergen to Lisbon: airborne, lands 10:40."
        )
        await again.get_by_role("button", name="New thread").click()
        assert await again.locator("#items li").count() == 0


async def test_every_bundled_widget_is_shown_one_after_the_other() -> None:
    # All with SCALE=2; a third in CI.
    tools = sorted(
        path.stem.lower().replace(" ", "_") for path in bundled_folder().glob("*.widget")
    )[:: 1 if SCALE > 1 else 3]
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        for at, tool in enumerate(tools):
            await say(page, f"show {tool}")
            await page.locator("#items li.widget").nth(at).locator("iframe").wait_for()
            await frame_of(page, at).locator("[data-ready=true], main, body").first.wait_for()
        failures = await page.locator("#items .error").all_inner_texts()

        assert failures == []
        assert (
            await page.locator("#items li.widget iframe").count()
            == len(tools)
            == (27 if SCALE > 1 else 9)
        )


async def test_the_end_stays_in_view_until_the_reader_scrolls_up() -> None:
    below = "main => main.scrollHeight - main.scrollTop - main.clientHeight"
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        main = page.locator("main")
        for tool in ("booking_calendar", "flight_tracker", "weather_current"):
            await say(page, f"show {tool}")
            await frame_of(page).locator("[data-ready=true]").wait_for()
        await page.wait_for_function(f"({below})(document.querySelector('main')) < 2")
        await main.evaluate("main => { main.scrollTop = 0; }")
        await page.evaluate(
            "document.querySelector('#items').append("
            "Object.assign(document.createElement('li'), { style: 'height: 900px' }))"
        )
        await page.evaluate("() => new Promise(done => setTimeout(done, 100))")

        assert await main.evaluate("main => main.scrollTop") == 0


async def test_page_requests_no_other_host() -> None:
    hosts: set[str] = set()
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        page.on("request", lambda request: hosts.add(urlsplit(request.url).netloc))
        await open_chat(page, url)
        await say(page, "Where is NF 221?")
        await frame_of(page).get_by_text("NF 221").first.wait_for()

        assert hosts == {urlsplit(url).netloc}
        assert await page.locator("link[rel=icon]").get_attribute("href") == "data:,"


async def test_saved_widget_is_redrawn_in_the_thread(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    (tmp_path / "Greeting.widget.toml").write_text(
        'description = "Greet."\n[[examples]]\nname = "one"\narguments = { who = "Ada" }\n'
    )
    async with serving(tmp_path, chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "greeting")
        await frame_of(page).get_by_text("Hello, Ada").wait_for()
        (tmp_path / "Greeting.widget").write_text(widget_file(text="Good day"))
        await frame_of(page).get_by_text("Good day, Ada").wait_for()


async def test_agents_update_is_redrawn_in_the_thread(tmp_path: Path) -> None:
    (tmp_path / "Order.widget").write_text(order_file())
    (tmp_path / "Order.widget.toml").write_text(
        'description = "Order."\n[[examples]]\nname = "one"\n[examples.arguments]\n'
        'order = "o1"\nlines = ["tea"]\n'
    )
    asks = """async () => {
        const params = {thread_id: location.hash.slice(1), order: "desc", limit: 20};
        const body = JSON.stringify({type: "items.list", params});
        const answer = await fetch("/chatkit", {method: "POST", body});
        const {data} = await answer.json();
        return data.find(({type}) => type === "widget").copy_text.split("Render: ")[1];
    }"""
    async with (
        serving(tmp_path, chat=True) as url,
        connect_client(url, "modern") as agent,
        browsing() as page,
    ):
        await open_chat(page, url)
        await say(page, "order")
        await frame_of(page).get_by_role("button", name="tea").wait_for()
        order = {"order": "o1", "lines": ["jam"]}
        render_id = await page.evaluate(asks)
        await agent.call("update_render", render_id=render_id, arguments=order, note="Jam, then.")
        await frame_of(page).get_by_role("button", name="jam").wait_for()
        await frame_of(page).get_by_text("Jam, then.").wait_for()
        await page.reload()
        await frame_of(page).get_by_role("button", name="jam").wait_for()


async def test_uploaded_widget_is_available_at_the_next_turn(tmp_path: Path) -> None:
    (tmp_path / "Other.widget").write_text(widget_file("Other"))
    async with serving(tmp_path, chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "show me a welcome for visitors")
        (tmp_path / "Welcome.widget").write_text(widget_file("Welcome", text="Welcome"))
        (tmp_path / "Welcome.widget.toml").write_text(
            'description = "A welcome for visitors."\n'
            '[[examples]]\nname = "one"\narguments = { who = "Ada" }\n'
        )
        with anyio.fail_after(PATIENCE_S):
            while not await page.locator("#items li.widget").count():
                await say(page, "show me a welcome for visitors")
        await frame_of(page).get_by_text("Welcome, Ada").wait_for()


@pytest.mark.skipif(not AXE.is_file(), reason="axe comes with view/node_modules, not here")
@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
async def test_axe_reports_no_violation_on_the_page(theme: Any, width: int) -> None:
    context = {"color_scheme": theme, "viewport": {"width": width, "height": 900}}
    async with (
        serving(bundled_folder(), chat=True) as url,
        browsing(bypass_csp=True, **context) as page,
    ):
        await open_chat(page, url)
        before = await violations(page)
        await say(page, "Where is NF 221?")
        await page.locator("#items summary").first.press("Enter")

        assert before == []
        assert await violations(page) == []
        assert await page.locator("#items details").first.get_attribute("open") == ""
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


PLAN = """# A plan

**Bread** at [the site](https://example.org) or [evil](javascript:alert(1)).

| Day | Loaves |
|---|--:|
| Fri | 182 |

```python
print("rye")
```

Raw <b>HTML</b> ![picture](https://example.org/a.png)
"""


async def test_markdown_of_a_model_is_drawn_and_its_code_can_be_copied(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    async with (
        endpoint(streams(PLAN)) as model,
        serving(tmp_path, chat=True, chat_model="m", chat_url=model.url) as url,
        browsing(permissions=["clipboard-read", "clipboard-write"]) as page,
    ):
        await open_chat(page, url)
        await say(page, "Plan")
        message = page.locator("#items li.assistant_message")
        await message.get_by_role("heading", name="A plan").wait_for()
        await message.get_by_role("cell", name="182").wait_for()
        links = await message.get_by_role("link").evaluate_all("all => all.map(one => one.href)")
        await message.get_by_role("button", name="Copy").first.click()
        await message.get_by_text("Copied").wait_for()
        code = await page.evaluate("navigator.clipboard.readText()")

        assert links == ["https://example.org/", "https://example.org/a.png"]
        assert await message.locator("b, img, script").count() == 0
        assert "<b>HTML</b>" in await message.inner_text()
        assert code == 'print("rye")'


async def test_message_is_edited_and_answered_again_in_its_place() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "show me lead_form")
        await say(page, "show me table")
        await page.get_by_role("button", name="Answer again").last.click()
        await settled(page)
        again = await page.locator("#items li.widget").count()
        await page.get_by_role("button", name="Edit").first.click()
        await page.get_by_label("Your message").fill("show me chart")
        await page.keyboard.press("Enter")
        await settled(page)
        await page.reload()
        await page.wait_for_selector("html[data-ready=true]")
        messages = await page.locator("#items li.user_message").all_inner_texts()

        assert again == 2
        assert [one.strip() for one in messages] == ["show me chart"]
        assert await page.locator("#items li.widget").count() == 1
        assert (await last_line(page)).startswith("Chart of ")


async def test_threads_are_searched_renamed_and_deleted() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        threads = page.locator("#threads li")
        for words in ("show me table", "show me chart"):
            await page.get_by_role("button", name="New thread").click()
            await say(page, words)
        await threads.nth(1).wait_for()
        await page.get_by_role("button", name="Rename “show me chart”").click()
        await page.get_by_label("New title").fill("Loaves")
        await page.keyboard.press("Enter")
        await page.get_by_role("heading", name="Loaves").wait_for()
        await page.get_by_label("Search conversations").fill("loav")
        texts = await threads.all_inner_texts()
        await page.get_by_label("Search conversations").fill("")
        await page.get_by_role("button", name="Delete “Loaves”").click()
        await page.get_by_role("button", name="Delete “Loaves”").click()
        await threads.nth(1).wait_for(state="detached")

        assert texts == ["Loaves"]
        assert await threads.all_inner_texts() == ["show me table"]


async def test_script_introduces_itself_and_offers_three_suggestions() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "hello, who are you?")
        line = await last_line(page)
        offered = await page.locator("#chips button").all_inner_texts()
        for words in offered:
            await page.get_by_role("button", name="New thread").click()
            await page.locator("#chips").get_by_role("button", name=words).click()
            await settled(page)
            await frame_of(page).locator("[data-ready=true]").wait_for()
        placeholder = await page.get_by_label("Message", exact=True).get_attribute("placeholder")

        assert line.startswith("I am a script that comes with widgetd: no model is asked.")
        assert len(offered) == 3
        assert placeholder == offered[0]


@pytest.mark.parametrize("width", [320, 768, 1440])
async def test_header_has_one_row_at_every_width(width: int) -> None:
    async with (
        serving(bundled_folder(), chat=True) as url,
        browsing(viewport={"width": width, "height": 700}) as page,
    ):
        await open_chat(page, url)
        box = await page.locator("#page > header").bounding_box()

        assert box is not None
        assert box["height"] <= 60
        assert await page.evaluate("document.documentElement.scrollWidth") <= width


async def test_widget_is_locked_while_its_action_is_sent() -> None:
    async with serving(bundled_folder(), chat=True) as url, browsing() as page:
        await open_chat(page, url)
        await say(page, "show me lead_form")
        released = anyio.Event()

        async def hold(route: Any) -> None:
            await released.wait()
            await route.continue_()

        await page.route("**/chatkit", hold)
        await frame_of(page).get_by_label("Name").fill("Ada")
        await frame_of(page).locator("input[type=email]").fill("ada@example.com")
        await frame_of(page).get_by_role("button", name="Request a survey").click()
        await page.locator("#items iframe[inert]").wait_for()
        released.set()
        await page.locator("#items iframe:not([inert])").first.wait_for()
