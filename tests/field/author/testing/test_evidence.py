"""Evidence of failures, comparisons, and the expectations of bundled widgets."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import AsyncExitStack
from pathlib import Path

import anyio
import pytest

from tests.field.author.browser.staging import do, staged
from tests.field.author.testing.conftest import Failed
from tests.field.author.testing.running import BROWSER_S, widgetd_test
from tests.field.server.web.browsing import needs_browser
from tests.support.widgets import widget_file
from widgetd.author.browser.chromium import FLAGS, Chromium, find_chromium
from widgetd.author.browser.picture import find_difference
from widgetd.author.browser.stage import Stage
from widgetd.author.testing.widgets import server_over
from widgetd.base.files.folder import bundled_folder

NO_BROWSER = {**os.environ, "BROWSER": "true"}
"""For programs that would open one of their own."""


@needs_browser
def test_playwrights_viewer_shows_the_lines_of_a_test(failed: Failed) -> None:
    (trace,) = failed.folder.glob("test-results/*/trace.zip")
    viewing = [sys.executable, "-m", "playwright", "show-trace", "--host", "127.0.0.1", str(trace)]
    from playwright.sync_api import sync_playwright

    with (
        subprocess.Popen(
            viewing, stdout=subprocess.PIPE, text=True, env=NO_BROWSER, start_new_session=True
        ) as viewer,
        sync_playwright() as playwright,
    ):
        try:
            assert viewer.stdout is not None
            address = next(line for line in viewer.stdout if "http://" in line).split()[-1]
            browser = playwright.chromium.launch(
                executable_path=find_chromium(),
                args=[*FLAGS, *(["--no-sandbox"] * (os.geteuid() == 0))],
            )
            page = browser.new_page()
            page.goto(address)
            page.get_by_text("Expect Text").first.click()
            page.get_by_role("tab", name="Source").click()
            running = page.locator(".source-line-running")
            running.wait_for()
            assert "Expect Text: {target: action=track, equals: Follow}" in running.inner_text()
            browser.close()
        finally:
            os.killpg(viewer.pid, signal.SIGKILL)  # the viewer is a child of the command


@needs_browser
def test_tests_beside_the_bundled_widgets_pass(tmp_path: Path) -> None:
    files = sorted(bundled_folder().glob("*.test.yaml"))
    ran = widgetd_test(tmp_path, *map(str, files))

    assert len(files) == 6
    assert ran.returncode == 0, ran.stdout


@needs_browser
async def test_picture_equals_the_displayed_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "Icon.widget").write_text(widget_file("Icon", template=ICON))
    server = server_over(tmp_path)
    async with AsyncExitStack() as opened:

        async def pictured(**machine: Path) -> tuple[Stage, bytes]:
            chromium = Chromium()
            opened.push_async_callback(chromium.close)
            with monkeypatch.context() as environment:
                for name, value in machine.items():
                    environment.setenv(name, str(value))
                await chromium.browser()
            stage = await opened.enter_async_context(staged(chromium, server))
            await do(stage, "show_widget", widget="icon", arguments={"who": "start"})
            return stage, await do(stage, "picture")

        with anyio.fail_after(BROWSER_S):
            here, drawn = await pictured()
            await do(here, "show_widget", widget="icon", arguments={"who": "end"})
            moved = await do(here, "picture")
            hinted = write_letters(tmp_path / "fontconfig", "hintfull")
            _, on_another_machine = await pictured(XDG_CONFIG_HOME=hinted.parent.parent)
            _, unhinted = await pictured(FONTCONFIG_FILE=write_letters(tmp_path, "hintnone"))

            assert on_another_machine == drawn
            assert unhinted != drawn
            assert await find_difference(here.context, drawn, unhinted) is None
            difference = await find_difference(here.context, drawn, moved)
            assert difference is not None
            assert "differs by more than" in difference.description


def write_letters(folder: Path, hinting: str) -> Path:
    """Return a fontconfig file that draws letters differently from most machines."""
    edits = f"""
      <edit name="hinting" mode="assign"><bool>{str(hinting != "hintnone").lower()}</bool></edit>
      <edit name="hintstyle" mode="assign"><const>{hinting}</const></edit>"""
    folder.mkdir(exist_ok=True)
    file = folder / "fonts.conf"
    file.write_text(f"""<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig>
      <include ignore_missing="yes">/etc/fonts/fonts.conf</include>
      <match target="pattern">{edits}</match>
      <match target="font">{edits}</match></fontconfig>""")
    return file


ICON = """{"type": "Card", "children": [
  {"type": "Title", "value": "What a person sees"},
  {"type": "Text", "value": "Letters are drawn in another way on every machine."},
  {"type": "Row", "justify": {{ who | tojson }}, "children": [{"type": "Icon", "name": "globe"}]}
]}"""
