"""The bundled widgets look as they did, to a person; `make pictures` accepts a new look."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import AsyncIterator

import orjson
import pytest

from tests.field.pictures.album import THEMES, place, places, shots
from tests.field.pictures.eye import Eye, eye
from tests.field.server.web.browsing import needs_browser
from widgetd.author.browser.camera import open_camera
from widgetd.author.browser.chromium import Theme
from widgetd.author.browser.picture import Screenshot

LIGHTEST_BYTES = 16 * 1024
LAST_OF_INTER = 0x2BFF
"""Emoji are beyond it."""

pytestmark = needs_browser


@pytest.fixture
async def looking() -> AsyncIterator[Eye]:
    async with eye() as opened:
        yield opened


def has_emoji(shot: Screenshot) -> bool:
    """Return whether the picture needs a font beside Inter, which comes with widgetd."""
    return any(ord(char) > LAST_OF_INTER for char in orjson.dumps(shot.tree).decode())


def emoji_font() -> bool:
    command = shutil.which("fc-list")
    if command is None:
        return False
    fonts = subprocess.run([command, ":lang=und-zsye"], capture_output=True, check=False)
    return bool(fonts.stdout.strip())


needs_emoji_font = pytest.mark.skipif(
    not emoji_font(), reason="needs a font with emoji, as Debian's fonts-noto-color-emoji"
)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(
    "emoji", [False, pytest.param(True, marks=needs_emoji_font)], ids=["letters", "emoji"]
)
@pytest.mark.timeout(600)
async def test_bundled_widgets_look_like_their_committed_pictures(
    looking: Eye, theme: Theme, *, emoji: bool
) -> None:
    different = {}
    async with open_camera() as taking:
        for tool, shot in shots(theme).items():
            if has_emoji(shot) is not emoji:
                continue
            before, after = place(tool, theme).read_bytes(), await taking.take(shot, owner="")
            if difference := await looking.difference(before, after.content):
                different[tool] = difference

    assert different == {}, "look at them with `widgetd shot`, and accept them with `make pictures`"


def test_there_is_a_small_picture_of_each_widget_and_no_other() -> None:
    assert places() == {place(tool, theme) for theme in THEMES for tool in shots(theme)}
    assert [path.name for path in places() if path.stat().st_size > LIGHTEST_BYTES] == []
