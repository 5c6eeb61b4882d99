"""The eye ignores differences between builds of a browser and reports changes of ours."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.field.pictures.eye import Eye, eye
from tests.field.pictures.png import png
from tests.field.server.web.browsing import browsing, needs_browser
from widgetd.author.browser.camera import open_camera
from widgetd.author.browser.picture import Screenshot

pytestmark = needs_browser

INTER = Path(__file__).parents[3] / "widgetd" / "author" / "browser" / "inter" / "latin.woff2"
WHITE, INK = (255, 255, 255), (20, 20, 20)
WIDE, TALL = 160, 80


def draw_lines(*, right: int = 0, ink: tuple[int, int, int] = INK, tall: int = TALL) -> bytes:
    """Return a white picture with a thin line, like that of a letter, at some places."""

    def index(x: int, y: int) -> int:
        return int((x - right) % 40 == 7 and 16 <= y < 64)

    indices = bytes(index(x, y) for y in range(tall) for x in range(WIDE))
    return png(width=WIDE, height=tall, palette=[WHITE, ink], indices=indices)


@pytest.fixture
async def looking() -> AsyncIterator[Eye]:
    async with eye() as opened:
        yield opened


@pytest.mark.parametrize("after", [draw_lines(), draw_lines(right=1), draw_lines(ink=(40, 40, 40))])
async def test_shift_by_a_pixel_or_slight_paling_is_no_difference(
    looking: Eye, after: bytes
) -> None:
    assert await looking.difference(draw_lines(), after) == ""


async def test_moved_and_vanished_shapes_differ(looking: Eye) -> None:
    moved = await looking.difference(draw_lines(), draw_lines(right=6))
    gone = await looking.difference(draw_lines(), draw_lines(ink=WHITE))
    taller = await looking.difference(draw_lines(), draw_lines(tall=TALL + 8))

    assert moved == (
        "24.0% of it differs by more than 3 levels, where 2.0% may; "
        "24.0% of it differs by more than 8 levels, where 0.5% may; "
        "another drawing at 0,12 to 140,68"
    )
    assert gone.startswith("12.0% of it differs")
    assert taller == "it is 160 x 88 pixels, and was 160 x 80"


def boats(**changes: Any) -> Screenshot:
    words = {"type": "Text", "value": "Early boats", "color": "secondary"}
    children = [words, {"type": "Icon", "name": "star"}, {"type": "Button", "label": "Join"}]
    tree = {"type": "Card", "children": children, **changes}
    return Screenshot(tree=tree, title="Boats", width=320, scale=1.0)


@pytest.mark.parametrize(
    "changed",
    [
        boats(border=0),
        boats(padding=5),
        boats(children=[{"type": "Text", "value": "Early boats", "color": "tertiary"}]),
        boats(background="#f4f4f4"),
    ],
    ids=["border", "padding", "words", "background"],
)
async def test_change_of_a_widget_shows_in_pictures(looking: Eye, changed: Screenshot) -> None:
    async with open_camera() as taking:
        first, other = await taking.take(boats(), owner=""), await taking.take(changed, owner="")
        before = await looking.reduced(first.content)

        assert await looking.difference(before, first.content) == ""
        assert await looking.difference(before, other.content) != ""


CHANGED_TEXTS = (
    ("gate 22", "gate 31"),
    ("gate 22", "gate 23"),
    ("12:05", "12:06"),
    ("€64.50", "€64.60"),
    ("Seat 14A", "Seat 14B"),
    ("3 of 5", "8 of 5"),
    ("Total 1,204", "Total 1,294"),
    ("Mon 14 May", "Mon 14 Mar"),
    ("No. 6", "No. 8"),
    ("Lisbon to Bergen", "Lisbon to Borgen"),
)
STYLES = (
    "font: 400 12px Inter; color: #666",
    "font: 400 14px Inter; color: #111",
    "font: 600 16px Inter; color: #fff; background: #222",
    "font: 400 13px Inter; color: #9a9a9a",
)
REDRAWN = (
    "transform: translate(.5px, 0)",
    "transform: translate(0, .5px)",
    "transform: translate(.3px, .3px)",
    "transform: rotate(.02deg)",
    "will-change: transform",
    "opacity: .98",
    "filter: brightness(1.02)",
    "position: relative; top: 1px",
    "position: relative; left: 1px",
    "-webkit-font-smoothing: antialiased",
)


@asynccontextmanager
async def writing() -> AsyncIterator[Callable[..., Awaitable[bytes]]]:
    """Give a function that takes a picture of a text, in a style and drawn in another way."""
    font = b64encode(INTER.read_bytes()).decode()
    face = f"@font-face {{ font-family: Inter; src: url(data:font/woff2;base64,{font}) }}"
    async with browsing() as page:
        await page.set_viewport_size({"width": 200, "height": 60})
        await page.set_content(f"<style>{face} body {{ margin: 0 }}</style><p><span>x</span></p>")
        await page.evaluate("document.fonts.load('14px Inter')")

        async def write(text: str, style: str, way: str = "") -> bytes:
            await page.evaluate(
                """([text, style, way]) => {
                  const room = document.querySelector("p"), words = room.firstChild;
                  room.style.cssText = `margin: 0; padding: 20px; ${style}`;
                  words.style.cssText = `display: inline-block; ${way}`;
                  words.textContent = text;
                }""",
                [text, style, way],
            )
            return await page.screenshot()

        yield write


async def test_every_changed_letter_is_reported_and_no_redrawn_one(looking: Eye) -> None:
    missed, mistaken = [], []
    async with writing() as write:
        for style in STYLES:
            for before, after in CHANGED_TEXTS:
                if not await looking.difference(
                    await write(before, style), await write(after, style)
                ):
                    missed.append((before, after, style))
            for (text, _), way in zip(CHANGED_TEXTS, REDRAWN, strict=True):
                drawn_again = await write(text, style, way)
                if difference := await looking.difference(await write(text, style), drawn_again):
                    mistaken.append((text, way, style, difference))

    assert (missed, mistaken) == ([], [])
