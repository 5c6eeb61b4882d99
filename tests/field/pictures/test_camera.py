"""Pictures: the same input, the same bytes, the widget and nothing else, and no way out."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from tests.field.author.browser.killing import kill_browsers, kill_drivers, niceness_of_drivers
from tests.field.pictures.png import size_of
from tests.field.server.web.browsing import needs_browser
from widgetd.author.browser.camera import Camera
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.limits import LIMITS, BrowserLimits
from widgetd.author.browser.picture import Picture, Screenshot
from widgetd.author.browser.targets import read_target
from widgetd.base.errors import CallError

TREE: dict[str, Any] = {
    "type": "Card",
    "children": [
        {"type": "Title", "value": "Early boats"},
        {"type": "Text", "value": "</script><script>document.body.remove()</script>"},
        {"type": "Image", "src": "https://images.example/a.png", "alt": "A boat"},
    ],
}


pytestmark = needs_browser

CHILDREN = TREE["children"][:1]


def shot(*children: dict[str, Any], root: str = "Card", **how: Any) -> Screenshot:
    tree = {"type": root, "children": list(children) or CHILDREN}
    return Screenshot(tree={**tree, **how.pop("tree", {})}, title="Boats", **{"scale": 1, **how})


@pytest.fixture
async def camera(chromium: Chromium) -> AsyncIterator[Camera]:
    taking = Camera(chromium)
    yield taking
    await taking.close()
    assert (await chromium.browser()).contexts == []


async def pixels(chromium: Chromium, picture: Picture, *at: tuple[int, int]) -> list[list[int]]:
    """Red, green, blue and alpha of the picture at some places; negative ones from its end."""
    page = await (await chromium.browser()).new_page()
    content = f"data:image/{picture.format};base64,{b64encode(picture.content).decode()}"
    try:
        colors: list[list[int]] = await page.evaluate(
            """async ([content, at]) => {
              const image = Object.assign(new Image(), { src: content });
              await image.decode();
              const canvas = new OffscreenCanvas(image.naturalWidth, image.naturalHeight);
              const context = canvas.getContext("2d");
              context.drawImage(image, 0, 0);
              return at.map(([x, y]) => [...context.getImageData(
                (x + canvas.width) % canvas.width, (y + canvas.height) % canvas.height, 1, 1,
              ).data]);
            }""",
            [content, at],
        )
    finally:
        await page.context.close()
    return colors


async def test_same_input_gives_the_same_bytes_after_any_other_picture(chromium: Chromium) -> None:
    form = {"type": "Input", "name": "who", "defaultValue": "Ada"}
    with anyio.fail_after(60):
        one, other = Camera(chromium), Camera(chromium)
        first = await one.take(Screenshot(tree=TREE, title="Boats"), owner="")
        await other.take(shot(form, theme="dark", scale=2, locale="ar"), owner="")
        again = await other.take(Screenshot(tree=TREE, title="Boats"), owner="")
        await one.close()
        await other.close()

    assert first == again


async def test_picture_has_the_requested_width(camera: Camera) -> None:
    with anyio.fail_after(60):
        narrow = await camera.take(
            Screenshot(tree=TREE, title="Boats", width=320, scale=1), owner=""
        )
        sharp = await camera.take(
            Screenshot(tree=TREE, title="Boats", width=320, scale=2), owner=""
        )
        dark = await camera.take(
            Screenshot(tree=TREE, title="Boats", width=320, scale=1, theme="dark"), owner=""
        )

    assert size_of(narrow.content) == (narrow.width, narrow.height)
    assert size_of(narrow.content)[0] == 320
    assert size_of(sharp.content) == (640, narrow.height * 2)
    assert size_of(dark.content) == size_of(narrow.content)
    assert dark != narrow


async def test_picture_ends_with_the_widget_and_shows_none_of_the_page(
    camera: Camera, chromium: Chromium
) -> None:
    with anyio.fail_after(60):
        small = await camera.take(shot(width=600, tree={"size": "sm"}), owner="")
        dark = await camera.take(shot(theme="dark"), owner="")
        corner, middle = await pixels(chromium, small, (0, 0), (small.width // 2, 2))
        dark_corner, dark_middle = await pixels(chromium, dark, (-1, -1), (200, 2))

    assert small.width == 360
    assert (corner[3], middle) == (0, [255, 255, 255, 255])
    assert dark_corner[3] == 0
    assert max(dark_middle[:3]) < 80


async def test_widget_without_a_card_is_drawn_on_the_chat_background_by_default(
    camera: Camera, chromium: Chromium
) -> None:
    with anyio.fail_after(60):
        bare = await camera.take(shot(root="Basic"), owner="")
        clear = await camera.take(shot(root="Basic", transparent=True), owner="")
        paper = await camera.take(shot(format="jpeg"), owner="")
        ((*_, on_paper), (*_, on_nothing)) = [
            (await pixels(chromium, one, (-1, 0)))[0] for one in (bare, clear)
        ]
        (corner,) = await pixels(chromium, paper, (0, 0))

    assert (on_paper, on_nothing) == (255, 0)
    assert paper.content.startswith(b"\xff\xd8")
    assert min(corner) > 240


async def test_letters_use_the_bundled_font_without_a_request(camera: Camera) -> None:
    with anyio.fail_after(60):
        await camera.take(shot(), owner="")
        page = camera._pages[0].page
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        await camera.take(shot({"type": "Text", "value": "Ærø, Łódź, Київ, Ἀθῆναι"}), owner="")
        faces = await page.evaluate(
            "[...document.fonts].map(one => [one.family, one.status]).join(' ')"
        )
        width = await page.evaluate(
            """() => {
              const context = new OffscreenCanvas(1, 1).getContext("2d");
              context.font = "100px Inter, monospace";
              return Math.round(context.measureText("Hamburgefonstiv").width);
            }"""
        )

    assert requests == []
    assert faces.split() == ["Inter,loaded"] * 7
    assert width == 813


async def test_part_of_a_widget_is_taken_by_its_target(camera: Camera) -> None:
    badge = {"type": "Badge", "label": "New"}
    with anyio.fail_after(60):
        whole = await camera.take(shot(*CHILDREN, badge), owner="")
        part = await camera.take(
            shot(*CHILDREN, badge, part=read_target("component=Badge")), owner=""
        )
        with pytest.raises(CallError) as raised:
            await camera.take(shot(part=read_target("component=Badge")), owner="")
        after = await camera.take(shot(*CHILDREN, badge), owner="")

    assert part.width < 80
    assert part.height < whole.height / 2
    assert raised.value.code == "W4201"
    assert after == whole


async def test_parts_wider_than_the_widget_are_named(camera: Camera) -> None:
    box = {"type": "Box", "size": 150, "children": [{"type": "Text", "value": "Far and wide"}]}
    wide = {"type": "Row", "children": [box] * 3}
    with anyio.fail_after(60):
        good, bad = await camera.take(shot(), owner=""), await camera.take(shot(wide), owner="")

    assert (good.overflow, good.console) == ((), ())
    assert bad.overflow == ('Box "Far and wide" by 83 px',)


async def test_picture_too_large_for_a_browser_is_refused(camera: Camera) -> None:
    with anyio.fail_after(60):
        with pytest.raises(CallError) as raised:
            await camera.take(
                shot({"type": "Box", "height": LIMITS.picture_px, "children": []}), owner=""
            )

    assert raised.value.code == "W3203"
    assert "ask for a part of it" in str(raised.value)


async def test_caller_without_a_slot_gets_a_retry_time(chromium: Chromium) -> None:
    taking = Camera(chromium, limits=BrowserLimits(pictures_at_once=1, draw_s=0.05))
    with anyio.fail_after(60):
        async with taking._places.hold("another"):
            with pytest.raises(CallError) as raised:
                await taking.take(shot(), owner="")

    assert (raised.value.code, raised.value.retry_after_s) == ("W3204", 1.0)


@pytest.mark.parametrize("kill", [kill_browsers, kill_drivers])
async def test_picture_after_a_crash_of_the_browser_or_its_driver_is_right(
    kill: Callable[[], None],
) -> None:
    chromium, now = Chromium(niceness=10), [0.0]
    taking = Camera(chromium, clock=lambda: now[0])
    with anyio.fail_after(90):
        before = await taking.take(shot(), owner="")
        nice = niceness_of_drivers()
        kill()
        with suppress(CallError):
            await taking.take(shot(theme="dark"), owner="")
        now[0] += LIMITS.cached_s
        after = await taking.take(shot(), owner="")
        await chromium.close()

    assert 10 in nice, "a daemon's browser stands behind its calls"
    assert after == before


async def test_crash_of_the_browser_during_a_picture_is_reported_in_a_sentence() -> None:
    chromium = Chromium()
    taking = Camera(chromium)
    refused: list[CallError] = []

    async def take() -> None:
        try:
            await taking.take(shot(), owner="")
        except CallError as error:
            refused.append(error)

    with anyio.fail_after(90):
        browser = await chromium.browser()
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(take)
            while not browser.contexts:
                await anyio.lowlevel.checkpoint()
            kill_browsers()
        after = await taking.take(shot(), owner="")
        await chromium.close()

    [error] = refused
    assert (error.code, error.recoverable) == ("W3202", True)
    assert str(error).startswith("it was not drawn: the browser says '")
    assert after.content.startswith(b"\x89PNG")


async def test_unused_browser_ends_though_pages_wait_in_it() -> None:
    now = [0.0]
    chromium = Chromium(clock=lambda: now[0])
    taking = Camera(chromium)
    with anyio.fail_after(90):
        await taking.take(shot(), owner="")
        assert not chromium.is_idle
        now[0] += 61
        assert chromium.is_idle
        other = await (await chromium.browser()).new_context()
        now[0] += 61
        assert not chromium.is_idle, "somebody has a session there"
        await other.close()
        assert chromium.is_idle
        await chromium.close()
        assert (await taking.take(shot(width=300), owner="")).width == 300
        await chromium.close()
