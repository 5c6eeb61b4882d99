"""Widgets in the palettes of hosts and of a folder: drawn with them, and readable."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.resources import files
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

PALETTES = files("widgetd.author.gallery") / "static" / "palettes.js"
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
FAINT = b"""
[light]
background = "#ffffff"
text = "#bbbbbb"
accent = "#eeeeee"
on_accent = "#ffffff"
[dark]
background = "#303030"
text = "#555555"
accent = "#222222"
on_accent = "#303030"
"""
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


async def paint_tree(
    page: Page, tree: Any, theme: str, variables: Any, palette: bytes
) -> list[str]:
    """Draw a tree on the page and return the color and font of each text."""
    shown = orjson.loads(inline(tree, theme=theme, locale="en", title="A", palette=palette))
    json = orjson.dumps({**shown, "styles": {"variables": variables}}).decode()
    await page.evaluate(DRAW, json)
    painted: list[str] = await page.evaluate(PAINT)
    return painted


@asynccontextmanager
async def blank_page(theme: str) -> AsyncIterator[Page]:
    """Yield the view without a widget."""
    blank = {"type": "Basic", "children": []}
    async with browsing(bypass_csp=True, reduced_motion="reduce") as page:
        await page.set_content(drawing(blank, theme=theme, locale="en", title="A"))
        await page.wait_for_selector("html[data-ready=true]", state="attached")
        yield page


FOLDERS = {"folder": FOLDER, "faint": FAINT}
HOSTS = ["VS Code", "Claude", "ChatGPT", "High contrast"]


@pytest.mark.parametrize("name", [*FOLDERS, *HOSTS])
@pytest.mark.parametrize("theme", ["light", "dark"])
async def test_texts_are_drawn_in_the_palette_and_readable(name: str, theme: str) -> None:
    variables, follow, texts, faults = {}, 0, 0, []
    source = Source(path="theme.toml", content=FOLDERS.get(name, b""), digest="")
    folder = read_theme(source)
    async with blank_page(theme) as page:
        if name in HOSTS:
            code = PALETTES.read_text(encoding="utf-8")
            code = code.replace("export const PALETTES =", "return")
            variables = (await page.evaluate(f"(() => {{ {code} }})()"))[name][theme]
        for widget in WIDGETS:
            tree = show_state(widget, SAMPLE).tree(widget)
            own = await paint_tree(page, tree, theme, {}, b"")
            now = await paint_tree(page, tree, theme, variables, folder.json)
            texts += len(own)
            follow += sum(before != after for before, after in zip(own, now, strict=True))
            violations = await find_violations(page)
            faults += [(widget.tool, v["advice"]) for v in violations if "contrast" in v["rule"]]

    assert faults == []
    found = [f.problem.partition(" has")[0] for f in folder.findings]
    faint = [f"'{key}' in {mode}" for mode in ("light", "dark") for key in ("text", "on_accent")]
    assert found == (faint if name == "faint" else [])
    assert name == "faint" or follow >= 0.9 * texts, f"{follow} of {texts}"


async def test_large_text_takes_a_color_of_the_palette_that_is_too_weak_for_others() -> None:
    variables = {"--color-text-danger": "#d64541"}
    texts = [
        {"type": type_, "value": "a", "size": size, "color": "danger"}
        for type_, size in (("Title", "lg"), ("Title", "md"), ("Text", "lg"))
    ]
    async with blank_page("light") as page:
        tree = {"type": "Card", "children": texts}
        painted = await paint_tree(page, tree, "light", variables, b"")

    colors = [text.partition(")")[0] for text in painted[-3:]]
    assert colors[0] == "color(srgb 0.839216 0.270588 0.254902"
    assert colors[1] == colors[2] != colors[0]


CONTROLS = {
    "type": "Card",
    "children": [
        {"type": "Text", "value": "a", "color": "secondary"},
        {"type": "Button", "label": "b", "onClickAction": {"type": "go"}},
        {"type": "Checkbox", "name": "c", "label": "c", "defaultChecked": True},
        {"type": "Box", "size": 20, "background": "#00f"},
    ],
}
READ = """() => {
  const style = (name) => getComputedStyle(document.querySelector(name));
  const body = getComputedStyle(document.querySelector(".card"));
  return {
    secondary: style(".words").color === body.color,
    edge: body.borderTopColor === body.color,
    button: style(".button").borderTopWidth,
    checked: style(".tick").backgroundColor === style("i").backgroundColor,
    box: style(".box:empty").backgroundColor,
  };
}"""


async def test_view_follows_forced_colors_and_more_contrast_of_the_system() -> None:
    read = []
    settings: list[dict[str, Any]] = [{}, {"contrast": "more"}, {"forced_colors": "active"}]
    async with blank_page("light") as page:
        await paint_tree(page, CONTROLS, "light", {}, b"")
        mark = "document.body.append(Object.assign(document.createElement('i'), { style: "
        await page.evaluate(mark + "'background: Highlight' }))")
        for media in settings:
            await page.emulate_media(**media)
            await page.evaluate("document.getAnimations().forEach(running => running.finish())")
            read.append(await page.evaluate(READ))

    own, more, forced = read
    assert (own["secondary"], own["edge"], own["button"]) == (False, False, "0px")
    assert (more["secondary"], more["edge"]) == (True, True)
    assert (forced["button"], forced["checked"], own["checked"]) == ("1px", True, False)
    assert forced["box"] == own["box"] == "rgb(0, 0, 255)"
