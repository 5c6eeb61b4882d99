"""The bundled widgets look as they did, to a person; `make pictures` accepts a new look."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.field.pictures.album import THEMES, place, places, shots
from tests.field.pictures.eye import Eye, eye
from tests.field.web.browsing import needs_browser
from widgetd.browser.camera import camera
from widgetd.browser.chromium import Theme

LIGHTEST_BYTES = 16 * 1024

pytestmark = needs_browser


@pytest.fixture
async def looking() -> AsyncIterator[Eye]:
    async with eye() as opened:
        yield opened


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.timeout(600)
async def test_every_bundled_widget_looks_as_it_did(looking: Eye, theme: Theme) -> None:
    different = {}
    async with camera() as taking:
        for tool, shot in shots(theme).items():
            before, after = place(tool, theme).read_bytes(), await taking.take(shot)
            if said := await looking.difference(before, after.content):
                different[tool] = said

    assert different == {}, (
        "look at them with `widgetd shots`, and accept them with `make pictures`"
    )


def test_there_is_a_small_picture_of_each_widget_and_no_other() -> None:
    assert places() == {place(tool, theme) for theme in THEMES for tool in shots(theme)}
    assert [path.name for path in places() if path.stat().st_size > LIGHTEST_BYTES] == []
