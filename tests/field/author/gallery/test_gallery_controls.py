"""Controls for every kind of argument, in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from tests.field.server.web.browsing import browsing, needs_browser, showing
from tests.support.daemons import serving
from tests.support.widgets import widget_file

if TYPE_CHECKING:
    from playwright.async_api import Page

pytestmark = needs_browser

SCHEMA: dict[str, Any] = {
    "type": "object",
    "$defs": {"stop": {"type": "object", "properties": {"at": {"type": "string"}}}},
    "properties": {
        "kind": {"enum": ["small", "large"]},
        "open": {"type": "boolean"},
        "percent": {"type": "integer", "minimum": 0, "maximum": 100},
        "stops": {"type": "array", "items": {"$ref": "#/$defs/stop"}, "maxItems": 3},
        "note": {"type": ["string", "null"]},
        "extra": {},
        "label": {"type": "string", "default": "New"},
    },
    "required": ["kind", "open", "percent", "stops", "note", "extra"],
}
ARGUMENTS = {
    "kind": "small",
    "open": False,
    "percent": 10,
    "stops": [{"at": "Oslo"}],
    "note": None,
    "extra": {"a": 1},
}


def arguments_in_address(page: Page) -> Any:
    return json.loads(unquote(page.url.partition("#args=")[2]))


async def choose(page: Page, label: str) -> None:
    await page.get_by_label("kind", exact=True).select_option(label=label)


async def flip(page: Page) -> None:
    await page.get_by_role("switch").check(force=True)


async def slide(page: Page) -> None:
    await page.get_by_label("percent, slider").fill("60")


async def add(page: Page) -> None:
    await page.get_by_role("button", name="Add one").click()


async def name_it(page: Page) -> None:
    await page.get_by_role("button", name="label").click()


async def write_note(page: Page) -> None:
    await page.get_by_label("Kind of note").select_option(label="string")
    await page.get_by_label("at", exact=True).fill("Bergen")


async def write_raw(page: Page) -> None:
    await page.get_by_label("extra", exact=True).fill("[1, 2]")


@pytest.mark.parametrize(
    ("act", "change"),
    [
        (choose, {"kind": "large"}),
        (flip, {"open": True}),
        (slide, {"percent": 60}),
        (add, {"stops": [{"at": "Oslo"}, {"at": "Oslo"}]}),
        (name_it, {"label": "New"}),
        (write_note, {"note": "Text", "stops": [{"at": "Bergen"}]}),
        (write_raw, {"extra": [1, 2]}),
    ],
    ids=["enum", "boolean", "bounds", "array", "optional", "nested", "raw"],
)
async def test_each_control_changes_its_argument(tmp_path: Path, act: Any, change: Any) -> None:
    (tmp_path / "All.widget").write_text(widget_file("All", schema=SCHEMA))
    path = f"/w/all#args={json.dumps(ARGUMENTS)}"
    async with showing(tmp_path) as site, browsing() as page:
        await page.goto(site + path)
        choice = "large" if act is choose else ""
        await (act(page, choice) if choice else act(page))
        await page.wait_for_function("() => location.hash.length > 10")

        assert arguments_in_address(page) == {**ARGUMENTS, **change}


async def test_invalid_arguments_are_explained_over_the_picture(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    async with serving(tmp_path, gallery=True) as url, browsing() as page:
        await page.goto(f'{url.removesuffix("/mcp")}/w/greeting#args={{"who":[[1]]}}')
        await page.locator("#refusal").wait_for()

        assert "who: expected" in await page.locator("#refusal p").inner_text()
