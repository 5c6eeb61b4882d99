"""The guide for people, and the snippets that they copy from a widget's page."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from html import unescape
from pathlib import Path
from typing import Any

import anyio
import httpx2 as httpx
import pytest

from tests.support.daemons import serving
from tests.support.widgets import widget_file
from tests.system.author.gallery.test_gallery_pages import page_client
from widgetd.author.gallery.call_snippets import SNIPPETS, calls
from widgetd.author.guide.component_details import describe_properties
from widgetd.author.guide.component_sheet import build_sheet
from widgetd.author.guide.guide import ORDER, pages
from widgetd.core.widget.components import load_vocabulary

TRICKY = "it's '''\n\"END\" \\ <b> URL"


@asynccontextmanager
async def page_of_greeting(folder: Path) -> AsyncIterator[tuple[str, httpx.AsyncClient]]:
    (folder / "Greeting.widget").write_text(widget_file())
    async with serving(folder, gallery=True) as url, page_client(url) as asking:
        yield url, asking


async def test_every_page_of_the_guide_is_a_page_and_each_leads_to_all_of_them(
    tmp_path: Path,
) -> None:
    async with page_of_greeting(tmp_path) as (_, asking):
        texts = {name: (await asking.get(f"/guide/{name}")).text for name in ORDER}
        first = await asking.get("/guide?theme=dark")
        index = await asking.get("/")
        missing = await asking.get("/guide/scheme")

    for name, text in texts.items():
        assert f"<h1>{pages()[name].title}</h1>" in unescape(text)
        assert re.findall(r'href="/guide/(\w+)"', text) == list(ORDER)
        assert f'href="/guide/{name}" aria-current="page"' in text
    assert "<h1>Start: a widget from nothing</h1>" in first.text
    assert 'data-theme="dark"' in first.text
    assert 'href="/guide?theme=dark"' in first.text
    assert 'href="/guide"' in index.text
    assert missing.status_code == 404
    assert "did you mean &#39;schema&#39;?" in missing.text


async def test_page_of_components_shows_each_with_its_properties_and_its_sheet(
    tmp_path: Path,
) -> None:
    async with page_of_greeting(tmp_path) as (_, asking):
        page = unescape((await asking.get("/components")).text)
        sheet = (await asking.get("/gallery/sheet/Table.Cell.json")).json()["result"]
        frame = await asking.get("/gallery/frame")
        missing = await asking.get("/gallery/sheet/Buton.json")
        guide = await asking.get("/guide")

    for type_, component in load_vocabulary().components.items():
        assert f'data-component="{type_}"' in page
        assert component.use in page
        assert all(row["text"] in page for row in describe_properties(component))
    assert sheet["structuredContent"] == build_sheet("Table.Cell")
    assert "sandbox" in frame.headers["content-security-policy"]
    assert missing.status_code == 404
    assert 'href="/components"' in guide.text


async def test_tree_and_call_can_be_copied(tmp_path: Path) -> None:
    async with page_of_greeting(tmp_path) as (url, asking):
        page = unescape((await asking.get("/w/greeting")).text)
        typed = (await asking.post("/w/greeting.json", json={"who": TRICKY})).json()

    assert '<code data-field="tree">{' in page
    for title in SNIPPETS:
        assert f'<code data-field="call {title}">' in page
    assert typed["calls"] == calls(url, "greeting", {"who": TRICKY})
    assert typed["result"]["_meta"]["widgetd/widget"]["type"] == "Card"


async def ran(command: list[str]) -> dict[str, Any]:
    with anyio.fail_after(60):  # a client of its own takes seconds to import
        done = await anyio.run_process(command, stderr=subprocess.PIPE)
    return dict(json.loads(done.stdout))


async def test_copied_python_and_curl_calls_return_the_widget(tmp_path: Path) -> None:
    async with page_of_greeting(tmp_path) as (url, _):
        ready = calls(url, "greeting", {"who": TRICKY})
        python = await ran([sys.executable, "-W", "ignore", "-c", ready["Python"]])
        curl = await ran(["bash", "-c", ready["curl"].replace("curl ", "curl -sS ", 1)])

    assert TRICKY in json.dumps(python, ensure_ascii=False).replace("\\n", "\n").replace(
        '\\"', '"'
    ).replace("\\\\", "\\")
    assert curl["result"]["structuredContent"] == python


@pytest.mark.parametrize("who", ["Ada", TRICKY], ids=["plain", "tricky"])
def test_every_call_snippet_holds_any_arguments(who: str) -> None:
    arguments: Mapping[str, Any] = {"who": who}
    ready = calls("http://127.0.0.1:8787/mcp", "greeting", arguments)

    for title in ("Python", "LangGraph", "ChatKit server"):
        texts = [
            node.value
            for node in ast.walk(ast.parse(ready[title]))
            if isinstance(node, ast.Constant) and isinstance(node.value, str)
        ]
        assert any(text.strip().startswith("{") and json.loads(text) == arguments for text in texts)
        assert "http://127.0.0.1:8787/mcp" in texts
    literal = ready["TypeScript"].partition("arguments: ")[2].partition(",\n});")[0]
    assert json.loads(literal) == arguments
