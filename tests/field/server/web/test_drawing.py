"""Whatever is served is drawn, in either theme, without an error on the page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.corpus import CORPUS, needs_corpus
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.states import list_states, show_state
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.render.view import drawing

pytestmark = needs_browser

_NARROW = {"width": 320, "height": 900}


async def undrawn(folder: Path, theme: str, *, keys: frozenset[str] = frozenset()) -> list[str]:
    """Return the widgets of a folder that draw nothing, an unknown component or beyond the edge.

    Args:
        folder: Of widgets.
        theme: `light` or `dark`.
        keys: The states to draw; all if empty.
    """
    failures = []
    async with browsing(viewport=_NARROW) as page:
        for widget in discover_widgets(folder):
            for state in list_states(widget):
                if keys and state.key not in keys:
                    continue
                tree = show_state(widget, state.key).tree(widget)
                locale = state.locale or "en"
                await page.set_content(drawing(tree, theme=theme, locale=locale, title="A widget"))
                await page.wait_for_selector("html[data-ready=true]", state="attached")
                if await page.evaluate(_LOOK):
                    failures.append(f"{widget.definition.path}, {state.key}")
    return failures


_LOOK = """() =>
    !document.querySelector("#stage > :not(h1, .notices)") ||
    document.querySelector(".unknown") ||
    document.documentElement.scrollWidth > document.documentElement.clientWidth ||
    [...document.querySelectorAll(".card :is(.field, .button)")].some((one) => {
        const at = one.getBoundingClientRect(), card = one.closest(".card").getBoundingClientRect();
        return at.left < card.left - 1 || at.right > card.right + 1;
    })
"""


@pytest.mark.parametrize(("name", "drawn"), [("lucide:cloud-rain", 4), ("lucide:nobody", 0)])
async def test_lucide_icon_is_drawn_by_its_shapes_and_an_unknown_one_as_a_dashed_square(
    name: str, drawn: int
) -> None:
    tree = {"type": "Card", "children": [{"type": "Icon", "name": name}]}
    async with browsing() as page:
        await page.set_content(drawing(tree, theme="light", locale="en", title="A widget"))
        await page.wait_for_selector("html[data-ready=true]", state="attached")

        assert await page.locator(".icon path").count() == drawn
        assert await page.locator(".icon rect[stroke-dasharray]").count() == (not drawn)


async def test_pickers_in_a_row_fit_a_narrow_phone_and_words_beside_one_wrap_first() -> None:
    pickers = [{"type": "DatePicker", "name": name} for name in ("from", "until")]
    words = {"type": "Text", "value": "The first day on which somebody is at home again"}
    rows = [{"type": "Row", "children": each} for each in (pickers, [words, pickers[0]])]
    tree = {"type": "Card", "children": rows}
    async with browsing(viewport=_NARROW) as page:
        await page.set_content(drawing(tree, theme="light", locale="en", title="A widget"))
        await page.wait_for_selector("html[data-ready=true]", state="attached")
        widths = await page.locator(".date").evaluate_all("all => all.map(one => one.offsetWidth)")

        assert not await page.evaluate(_LOOK)
        assert widths[0] == widths[1] < widths[2]


@pytest.mark.timeout(600)
async def test_every_state_of_every_bundled_widget_is_drawn_on_a_narrow_phone() -> None:
    assert await undrawn(bundled_folder(), "light") == []


@needs_corpus
@pytest.mark.timeout(600)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_every_real_file_is_drawn(theme: str) -> None:
    assert await undrawn(CORPUS, theme, keys=frozenset({"sample"})) == []
