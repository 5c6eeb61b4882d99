"""The eye overlooks what another build of a browser does, and sees what a change of ours does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.field.pictures.eye import Eye, eye
from tests.field.pictures.png import png
from tests.field.web.browsing import needs_browser
from widgetd.browser.camera import open_camera
from widgetd.browser.picture import Screenshot

pytestmark = needs_browser

WHITE, INK = (255, 255, 255), (20, 20, 20)
WIDE, TALL = 160, 80


def drawn(*, right: int = 0, ink: tuple[int, int, int] = INK, tall: int = TALL) -> bytes:
    """A line like one of a letter's, here and there on white."""

    def index(x: int, y: int) -> int:
        return int((x - right) % 40 == 7 and 16 <= y < 64)

    indices = bytes(index(x, y) for y in range(tall) for x in range(WIDE))
    return png(width=WIDE, height=tall, palette=[WHITE, ink], indices=indices)


@pytest.fixture
async def looking() -> AsyncIterator[Eye]:
    async with eye() as opened:
        yield opened


@pytest.mark.parametrize("after", [drawn(), drawn(right=1), drawn(ink=(40, 40, 40))])
async def test_what_moved_by_a_pixel_or_paled_a_little_is_the_same(
    looking: Eye, after: bytes
) -> None:
    assert await looking.difference(drawn(), after) == ""


async def test_what_moved_further_or_is_gone_is_another(looking: Eye) -> None:
    moved = await looking.difference(drawn(), drawn(right=6))
    gone = await looking.difference(drawn(), drawn(ink=WHITE))
    taller = await looking.difference(drawn(), drawn(tall=TALL + 8))

    assert moved == (
        "24.0% of it differs by more than 3 levels, where 2.0% may; "
        "24.0% of it differs by more than 8 levels, where 0.5% may"
    )
    assert gone.startswith("12.0% of it differs")
    assert taller == "it is 160 x 88 pixels, and was 160 x 80"


def card(**changes: Any) -> Screenshot:
    words = {"type": "Text", "value": "Early boats", "color": "secondary"}
    children = [words, {"type": "Icon", "name": "star"}, {"type": "Button", "label": "Join"}]
    tree = {"type": "Card", "children": children, **changes}
    return Screenshot(tree=tree, title="Boats", width=320, scale=1.0)


@pytest.mark.parametrize(
    "changed",
    [
        card(border=0),
        card(padding=5),
        card(children=[{"type": "Text", "value": "Early boats", "color": "tertiary"}]),
        card(background="#f4f4f4"),
    ],
    ids=["border", "padding", "words", "background"],
)
async def test_what_a_change_of_ours_does_to_a_widget_is_seen(
    looking: Eye, changed: Screenshot
) -> None:
    async with open_camera() as taking:
        first, other = await taking.take(card()), await taking.take(changed)
        before = await looking.reduced(first.content)

        assert await looking.difference(before, first.content) == ""
        assert await looking.difference(before, other.content) != ""
