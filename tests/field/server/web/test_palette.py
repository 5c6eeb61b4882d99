"""Widgets in the palettes of hosts and of a folder: drawn with them, and readable."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from tests.field.server.web.browsing import browsing, needs_browser
from widgetd.author.browser.axe import find_violations
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.source import Source
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.core.widget.theme import read_theme
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.render.view import drawing, inline

if TYPE_CHECKING:
    from playwright.async_api import Page

SCALE = int(float(os.environ.get("SCALE", "1")))
WIDGETS = discover_widgets(bundled_folder())[:: 9 if SCALE < 2 else 1]
"""All with SCALE=2; a few in CI."""

PALETTES = Path(__file__).with_name("palettes.js")
FOLDER = b"""
font = "Trebuchet MS, sans-serif"
radius = "4px"
[light]
background = "#fff7ed"
text = "#431407"
accent = "#0f766e"
on_accent = "#ffffff"
[dark]
background = "#1c1917"
text = "#fde68a"
accent = "#2dd4bf"
on_accent = "#042f2e"
"""
FAINT = {
    "--color-background-primary": "#ffffff",
    "--color-text-primary": "#bbbbbb",
    "--color-text-secondary": "#dddddd",
    "--color-background-inverse": "#eeeeee",
    "--color-text-inverse": "#ffffff",
}
PAINT = """() => [...document.querySelectorAll("body *")].flatMap((element) => {
  const texts = [...element.childNodes].filter((node) => node.nodeType === 3 && node.data.trim());
  if (!texts.length || !element.checkVisibility()) return [];
  const { color, fontFamily } = getComputedStyle(element);
  return [`${color} ${fontFamily}`];
})"""
DRAW = """async (json) => {
  document.getElementById("widgetd-tree").textContent = json;
  document.dispatchEvent(new Event("widgetd:redraw"));
  await new Promise((drawn) => setTimeout(drawn));
  document.documentElement.style.setProperty("--color-surface", "var(--card-background)");
}"""

pytestmark = needs_browser


async def draw(page: Page, tree: Any, theme: str, variables: Any, palette: bytes) -> list[str]:
    """Draw a tree on the page and return the color and font of each text."""
    shown = orjson.loads(inline(tree, theme=theme, locale="en", title="A", palette=palette))
    json = orjson.dumps({**shown, "styles": {"variables": variables}}).decode()
    await page.evaluate(DRAW, json)
    painted: list[str] = await page.evaluate(PAINT)
    return painted


NAMES = ["folder", "faint", "VS Code", "Claude", "ChatGPT", "High contrast"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_texts_are_drawn_in_the_palette_and_readable(name: str, theme: str) -> None:
    folder, variables, follow, texts, faults = b"", {}, 0, 0, []
    blank = {"type": "Basic", "children": []}
    async with browsing(bypass_csp=True, reduced_motion="reduce") as page:
        if name == "folder":
            folder = read_theme(Source(path="theme.toml", content=FOLDER, digest="")).json
        elif name == "faint":
            variables = FAINT
        else:
            code = PALETTES.read_text(encoding="utf-8")
            code = code.replace("export const PALETTES =", "return")
            variables = (await page.evaluate(f"(() => {{ {code} }})()"))[name][theme]
        await page.set_content(drawing(blank, theme=theme, locale="en", title="A"))
        await page.wait_for_selector("html[data-ready=true]", state="attached")
        for widget in WIDGETS:
            tree = show_state(widget, SAMPLE).tree(widget)
            own = await draw(page, tree, theme, {}, b"")
            now = await draw(page, tree, theme, variables, folder)
            texts += len(own)
            follow += sum(before != after for before, after in zip(own, now, strict=True))
            found = await find_violations(page)
            faults += [(widget.tool, one["advice"]) for one in found if "contrast" in one["rule"]]

    assert faults == []
    assert name == "faint" or follow >= 0.9 * texts, f"{follow} of {texts}"
