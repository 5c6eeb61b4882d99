"""The examples that show a widget in a page of one's own, plain and in React, in Chromium."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.field.server.web.browsing import browsing, files_of, needs_browser
from tests.support.daemons import serving
from tests.support.typescript import compile_typescript, needs_tsc

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Page

ROOT = Path(__file__).resolve().parents[4]
EXAMPLES = ROOT / "examples" / "web"
VITE = EXAMPLES / "react" / "node_modules" / ".bin" / "vite"

pytestmark = needs_browser

needs_vite = pytest.mark.skipif(
    not VITE.exists() or shutil.which("node") is None,
    reason="`make environments` installs Vite and React, where Node and npm are",
)


@contextmanager
def page_of(example: str, folder: Path) -> Iterator[str]:
    """Serve an example; the one in React is built first."""
    if example == "plain":
        with files_of(EXAMPLES) as address:
            yield f"{address}/plain.html"
        return
    built = [str(VITE), "build", "--outDir", str(folder), "--emptyOutDir"]
    subprocess.run(built, cwd=EXAMPLES / "react", check=True, capture_output=True, timeout=60)
    with files_of(folder) as address:
        yield f"{address}/index.html"


@asynccontextmanager
async def open_example(
    example: str, folder: Path, query: str = ""
) -> AsyncIterator[tuple[Page, FrameLocator]]:
    """Open an example over a daemon; give its page, and the frame with the widget."""
    with page_of(example, folder) as address:
        origin = address.rpartition("/")[0]
        async with (
            serving(ROOT / "widgets", links="auto", cors_origin=(origin,)) as server,
            browsing() as page,
        ):
            await page.goto(f"{address}?server={server}{query}")
            yield page, page.frame_locator("iframe")


@pytest.mark.parametrize("example", ["plain", pytest.param("react", marks=needs_vite)])
async def test_page_shows_a_widget_in_a_sandbox_and_hears_of_its_actions(
    example: str, tmp_path: Path
) -> None:
    async with open_example(example, tmp_path, "&theme=dark&locale=de-DE") as (page, view):
        await view.get_by_role("button", name="Add task").click()
        await view.get_by_text("was sent").wait_for()
        arguments = json.loads(await page.locator("output").inner_text())
        sandbox = await page.locator("iframe").get_attribute("sandbox")
        theme, language = await view.locator("html").evaluate(
            "html => [getComputedStyle(html).colorScheme, html.lang]"
        )

    assert arguments["action"] == "task.create"
    assert "allow-same-origin" not in (sandbox or "")
    assert "dark" in theme
    assert language == "de-DE"


@needs_vite
async def test_react_page_changes_the_theme_of_a_displayed_widget(tmp_path: Path) -> None:
    async with open_example("react", tmp_path) as (page, view):
        await view.get_by_role("button", name="Add task").wait_for()
        await page.get_by_role("button", name="Theme").click()
        await view.locator("html[data-theme=dark]").wait_for(state="attached")


@pytest.mark.parametrize("path", ["plain.html", "react/Widget.jsx", "react/main.jsx"])
def test_examples_have_forty_lines_at_most(path: str) -> None:
    assert len((EXAMPLES / path).read_text().splitlines()) <= 40


USE = """
import type { ActionEvent } from "./widgetd-view";
const view = document.createElement("widgetd-view");
const send = ({ detail }: ActionEvent): string => detail.action + JSON.stringify(detail.payload);
view.addEventListener("widgetd-open", ({ detail }) => detail.title.trim() && !detail.controls);
view.addEventListener("widgetd-action", send);
view.addEventListener("widgetd-end", ({ detail }) => detail.FIELD.toFixed());
document.body.append(view);
"""


@needs_tsc
@pytest.mark.parametrize(("field", "faults"), [("status", 0), ("state", 1)])
def test_types_of_the_element_admit_its_events_and_no_others(
    tmp_path: Path, field: str, faults: int
) -> None:
    shutil.copy(EXAMPLES / "widgetd-view.d.ts", tmp_path)
    (tmp_path / "use.ts").write_text(USE.replace("FIELD", field))

    assert compile_typescript(tmp_path, "use.ts").count("error TS") == faults
