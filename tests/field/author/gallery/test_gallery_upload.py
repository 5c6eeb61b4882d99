"""Files from a browser: judged by the loader before they land, and never outside the folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.server.web.asking import put

if TYPE_CHECKING:
    from playwright.async_api import Page

NAMED = 'title = "A greeting"\n'


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*"))


async def test_upload_is_judged_before_it_lands(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    new = {"A.widget": widget_file("A", text="New")}
    async with serving(tmp_path, gallery=True, allow_upload=True) as url:
        broken = await put(url, {"Broken.widget": "{"})
        response = await put(url, {"Other.widget": widget_file("A")})
        there = await put(url, new)
        long = await put(url, {"Long.widget": " " * 300_000})
        replaced = await put(url, new, "?replace=1")

    assert (broken.status_code, broken.json()["code"]) == (422, "W1101")
    assert response.status_code == 409
    assert response.json() == {
        "path": "Other.widget",
        "at": "",
        "code": "W1108",
        "problem": "the tool name 'a' belongs to 'A.widget'",
        "advice": "give this widget another name",
        "replaceable": False,
    }
    assert there.status_code == 409
    assert there.json() == {
        "path": "A.widget",
        "at": "",
        "code": "W1006",
        "problem": "there is a file of this name",
        "advice": "replace it, or give the file another name",
        "replaceable": True,
    }
    assert long.status_code == 413
    assert (replaced.status_code, replaced.json()) == (201, {"tool": "a", "page": "/w/a"})
    assert names(tmp_path) == ["A.widget"]
    assert json.loads((tmp_path / "A.widget").read_text()) == json.loads(new["A.widget"])


async def test_sidecar_is_checked_with_the_widget_of_the_same_upload(tmp_path: Path) -> None:
    both = {"A.widget": widget_file("A"), "A.widget.toml": NAMED}
    wrong = "summary = '{{'\n"
    async with serving(tmp_path, gallery=True, allow_upload=True) as url:
        orphan = await put(url, {"A.widget.toml": NAMED})
        refused = await put(url, {**both, "A.widget.toml": "titel = 'A'\n"})
        empty = names(tmp_path)
        landed = await put(url, both)
        there = await put(url, {"A.widget.toml": NAMED})
        unfit = await put(url, {"A.widget.toml": wrong}, "?replace=1")
        alone = await put(url, {"A.widget.toml": 'title = "Another"\n'}, "?replace=1")

    assert (orphan.status_code, orphan.json()["problem"]) == (409, "there is no widget beside it")
    assert (refused.status_code, refused.json()["path"]) == (422, "A.widget.toml")
    assert refused.json()["code"] == "W1112"
    assert empty == []
    assert landed.json() == {"tool": "a", "page": "/w/a"}
    assert there.json()["replaceable"] is True
    assert (unfit.status_code, unfit.json()["code"]) == (422, "W1301")
    assert alone.status_code == 201
    assert names(tmp_path) == ["A.widget", "A.widget.toml"]
    assert (tmp_path / "A.widget.toml").read_text() == 'title = "Another"\n'


@pytest.mark.parametrize(
    "name",
    [
        "../out.widget",
        "/out.widget",
        "a/b.widget",
        ".hidden.widget",
        "a\0.widget",
        "a.toml",
        "-x.widget",
        "a.widget.toml.toml",
        "..widget.toml",
        "",
    ],
)
async def test_upload_never_leaves_the_folder(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "inside"
    folder.mkdir()
    async with serving(folder, gallery=True, allow_upload=True) as url:
        alone = await put(url, {name: widget_file("A")})
        beside = await put(url, {"A.widget": widget_file("A"), name: NAMED})

    assert (alone.status_code, beside.status_code) == (400, 400)
    assert names(tmp_path) == ["inside"]


async def test_one_upload_is_one_widget(tmp_path: Path) -> None:
    two = {"A.widget": widget_file("A"), "B.widget": widget_file("B")}
    async with serving(tmp_path, gallery=True, allow_upload=True) as url:
        several = await put(url, two)
        nothing = await put(url, {})

    assert (several.status_code, nothing.status_code) == (400, 400)
    assert names(tmp_path) == []


@pytest.mark.parametrize("origin", ["", "http://127.0.0.1:1", "null"])
async def test_only_our_own_page_may_upload(tmp_path: Path, origin: str) -> None:
    async with serving(tmp_path, gallery=True, allow_upload=True) as url:
        answer = await put(url, {"A.widget": widget_file("A")}, origin=origin)

    assert answer.status_code == 403
    assert names(tmp_path) == []


async def test_upload_needs_permission(tmp_path: Path) -> None:
    async with serving(tmp_path, gallery=True) as url:
        answer = await put(url, {"A.widget": widget_file("A")})

    assert answer.status_code == 404
    assert names(tmp_path) == []


async def drop(page: Page, files: Mapping[str, str]) -> None:
    transfer = await page.evaluate_handle(
        """files => {
            const transfer = new DataTransfer();
            for (const [name, text] of Object.entries(files))
                transfer.items.add(new File([text], name));
            return transfer;
        }""",
        files,
    )
    await page.dispatch_event("body", "drop", {"dataTransfer": transfer})


@needs_browser
async def test_files_dropped_together_land_each_widget_with_its_sidecar(tmp_path: Path) -> None:
    files = {
        "B.widget.toml": 'title = "A greeting"\n',
        "Broken.widget": "{",
        "A.widget": widget_file("A"),
        "B.widget": widget_file("B"),
    }
    async with serving(tmp_path, gallery=True, allow_upload=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/")
        await page.wait_for_selector("[data-live=live]")
        await drop(page, files)
        await page.locator(".tile[data-tool=a]").wait_for()
        await page.locator(".tile[data-tool=b]", has_text="A greeting").wait_for()
        trouble = await page.locator(".toast.trouble").inner_text()
        await drop(page, {"C.widget": widget_file("C", template='{"type":"Card" {{ 1 // 0 }}')})
        undrawn = page.locator(".toast.trouble", has_text="C.widget")
        await undrawn.wait_for()
        message = await undrawn.inner_text()
        await drop(page, {"A.widget": widget_file("A", text="New")})
        await page.get_by_role("button", name="Replace it").click()
        await page.locator(".toast", has_text="A.widget: served as a.").nth(1).wait_for()

    assert trouble == "Broken.widget: the text ends before its JSON does; complete it."
    assert "fails on any arguments" in message
    assert "served" not in message
    assert names(tmp_path) == ["A.widget", "B.widget", "B.widget.toml"]
    assert (tmp_path / "A.widget").read_text() == widget_file("A", text="New")
    assert (tmp_path / "B.widget.toml").read_text() == files["B.widget.toml"]


@needs_browser
async def test_file_dropped_during_a_question_waits_for_its_answer(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with serving(tmp_path, gallery=True, allow_upload=True) as url, browsing() as page:
        await page.goto(f"{url.removesuffix('/mcp')}/")
        await page.wait_for_selector("[data-live=live]")
        await drop(page, {"A.widget": widget_file("A", text="New")})
        question = page.get_by_role("dialog")
        await question.wait_for()
        focused = await page.evaluate("document.activeElement.textContent")
        await drop(page, {"B.widget": widget_file("B")})
        for _ in range(3):  # in which an upload would have been sent
            await page.evaluate("() => fetch('/index.json').then(answer => answer.json())")
        open_still, landed = await question.count(), names(tmp_path)
        await page.keyboard.press("Enter")
        await page.locator(".tile[data-tool=b]").wait_for()

    assert focused == "Keep it"
    assert (open_still, landed) == (1, ["A.widget"])
    assert json.loads((tmp_path / "A.widget").read_text()) == json.loads(widget_file("A"))
