"""Firefox opens the gallery and the chat, by WebDriver BiDi: Playwright has no build of it here."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import anyio
import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from widgetd.base.files.folder import bundled_folder

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")

pytestmark = pytest.mark.skipif(FIREFOX is None, reason="there is no Firefox here")


class Firefox:
    """One tab of a Firefox.

    Attributes:
        errors: Errors that scripts of its pages raised or logged.
    """

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._ids = count(1)
        self._tab = ""
        self.errors: list[str] = []

    async def ask(self, method: str, **params: Any) -> Any:
        number = next(self._ids)
        await self._socket.send(json.dumps({"id": number, "method": method, "params": params}))
        while True:
            message = json.loads(await self._socket.recv())
            if message.get("method") == "log.entryAdded" and message["params"]["level"] == "error":
                self.errors.append(message["params"]["text"])
            if message.get("id") == number:
                assert "error" not in message, message
                return message["result"]

    async def begin(self) -> None:
        await self.ask("session.new", capabilities={})
        await self.ask("session.subscribe", events=["log.entryAdded"])
        self._tab = (await self.ask("browsingContext.getTree"))["contexts"][0]["context"]
        size = {"width": 1280, "height": 900}
        await self.ask("browsingContext.setViewport", context=self._tab, viewport=size)

    async def open(self, url: str) -> None:
        await self.ask("browsingContext.navigate", context=self._tab, url=url, wait="complete")

    async def evaluate(self, expression: str, tab: str = "") -> Any:
        target = {"context": tab or self._tab}
        answer = await self.ask(
            "script.evaluate", expression=expression, target=target, awaitPromise=True
        )
        assert "result" in answer, answer
        return answer["result"].get("value")

    async def frame_text(self, words: str) -> None:
        """Wait until a frame of the page shows `words`."""
        while True:
            tree = await self.ask("browsingContext.getTree", root=self._tab)
            for frame in tree["contexts"][0]["children"]:
                if words in (
                    await self.evaluate("document.body?.innerText ?? ''", frame["context"])
                ):
                    return


@asynccontextmanager
async def firefox(home: Path) -> AsyncIterator[Firefox]:
    """Yield a headless Firefox with its own profile."""
    flags = ["--headless", "--no-remote", "--profile", str(home), "--remote-debugging-port=0"]
    environment = {"HOME": str(home), "MOZ_HEADLESS": "1"}
    async with await anyio.open_process(
        [str(FIREFOX), *flags, "about:blank"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        port = home / "WebDriverBiDiServer.json"
        try:
            while not (port.is_file() and port.read_bytes()):  # noqa: ASYNC110 - Firefox announces no port
                await anyio.sleep(0.05)
            address = json.loads(port.read_bytes())
            at = f"ws://{address['ws_host']}:{address['ws_port']}/session"
            async with connect(at, max_size=None, proxy=None) as socket:
                opened = Firefox(socket)
                await opened.begin()
                yield opened
        finally:
            process.kill()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


async def test_firefox_draws_the_gallery_and_answers_in_the_chat(home: Path) -> None:
    with anyio.fail_after(2 * PATIENCE_S):
        async with serving(bundled_folder(), gallery=True, chat=True) as url, firefox(home) as page:
            site = url.removesuffix("/mcp")
            for path, words in (
                ("/w/flight_tracker?theme=both", "NF 218"),
                ("/w/flight_tracker/grid", "NF 218"),
                ("/components", "iconSize"),
            ):
                await page.open(site + path)
                await page.evaluate(
                    "document.querySelector('[data-component=Button]')?.scrollIntoView()"
                )
                await page.frame_text(words)
            await page.open(f"{site}/chat")
            while await page.evaluate("document.documentElement.dataset.ready") != "true":
                pass
            await page.evaluate(
                "document.getElementById('words').value = 'Where is NF 221?';"
                "document.getElementById('send').click()"
            )
            await page.frame_text("NF 221")

    # The guide's example of an image is at an address that no frame may load from, and a page that
    # is left ends its requests.
    expected = ("violates the following", "Content-Security-Policy", "NetworkError")
    assert [one for one in page.errors if not any(part in one for part in expected)] == []
