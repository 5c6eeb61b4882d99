"""Answers arrive through MCP Inspector, openai-agents and CopilotKit's middleware."""

from __future__ import annotations

import json
import shutil
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from agents.mcp import MCPServerStreamableHttp, MCPUtil
from agents.run_context import RunContextWrapper

from tests.field.server.web.browsing import needs_browser
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from widgetd.author.guide.guide import ORDER

HERE = Path(__file__).parent
INSPECTOR = HERE / "node_modules" / ".bin" / "mcp-inspector"
PAGES = {f"widgetd://guide/{name}" for name in ORDER}

pytestmark = needs_browser

needs_packages = pytest.mark.skipif(
    not INSPECTOR.exists() or shutil.which("node") is None,
    reason="`make environments` installs them, where Node and npm are",
)


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    with anyio.fail_after(100):
        async with serving(tmp_path, toolset=("author", "pictures")) as url:
            yield url


async def inspected(url: str, method: str, *more: str) -> dict[str, Any]:
    command = [str(INSPECTOR), "--cli", url, "--transport", "http", "--method", method, *more]
    done = await anyio.run_process(command)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


@needs_packages
async def test_inspector_lists_and_reads_the_guide_and_receives_a_picture(url: str) -> None:
    listed = await inspected(url, "resources/list")
    read = await inspected(url, "resources/read", "--uri", "widgetd://guide/start")
    how = ("--tool-name", "take_picture", "--tool-arg", 'names=["greeting"]')
    answer = await inspected(url, "tools/call", *how)
    await inspected(url, "tools/list", "--strict")

    assert {one["uri"] for one in listed["resources"]} >= PAGES
    assert read["contents"][0]["text"].startswith("# ")
    assert [(one["type"], one.get("mimeType")) for one in answer["content"]] == [
        ("image", "image/png"),
        ("text", None),
    ]


async def test_openai_agents_lists_and_reads_the_guide_and_shows_a_picture_to_the_model(
    url: str,
) -> None:
    # A first picture waits for a browser to start, longer than the agent's own 5 s.
    patient = MCPServerStreamableHttp({"url": url}, client_session_timeout_seconds=PATIENCE_S)
    async with patient as server:
        listed = await server.list_resources()
        read = await server.read_resource("widgetd://guide/start")
        [tool] = [one for one in await server.list_tools() if one.name == "take_picture"]
        arguments = json.dumps({"names": ["greeting"]})
        content: Any = await MCPUtil.invoke_mcp_tool(
            server, tool, RunContextWrapper(None), arguments
        )

    assert {str(one.uri) for one in listed.resources} >= PAGES
    assert read.contents[0].text.startswith("# ")
    image, text = content
    assert image["image_url"].startswith("data:image/png;base64,iVBOR")
    assert json.loads(text["text"])["width"] == 400


@needs_packages
async def test_middleware_of_copilotkit_hands_text_to_the_model_and_the_page_to_the_user(
    url: str,
) -> None:
    done = await anyio.run_process(["node", str(HERE / "copilotkit.mjs"), url], cwd=HERE)
    events = json.loads(done.stdout)

    assert events["TOOL_CALL_RESULT"]["content"].startswith("Greeting: who Ada\nRender: r_")
    shown = events["ACTIVITY_SNAPSHOT"]["content"]
    assert shown["result"]["_meta"]["widgetd/widget"] == greeting("Hello", "Ada")
    [page] = events["RUN_FINISHED"]["result"]["contents"]
    assert page["mimeType"] == "text/html;profile=mcp-app"
    assert page["uri"] == shown["resourceUri"]
