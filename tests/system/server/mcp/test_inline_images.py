"""Images that results bring along: from which origins, of which kind and size, and where."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Any

import anyio
import pytest
from anyio.abc import SocketAttribute, SocketStream
from mcp import Client
from mcp_types import Implementation

from tests.support.patience import PATIENCE_S
from tests.support.widgets import build_widget, snapshot_of
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp import sdk
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import ServerOptions
from widgetd.server.render.inline_images import InlineImages
from widgetd.server.render.limits import LIMITS
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store

PNG = b"\x89PNG\r\n\x1a\n" + b"0" * 100
ANSWERS = {
    "/a.png": (b"200 OK", PNG),
    "/b.png": (b"200 OK", PNG + b"1"),
    "/moved.png": (b"302 Found\r\nlocation: /a.png", b""),
    "/large.png": (b"200 OK", PNG + b"0" * LIMITS.image_bytes),
    "/drawn.svg": (b"200 OK", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
}


class Origin:
    """A server of images, and the paths that it was asked for."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.asked: list[str] = []

    async def answer(self, stream: SocketStream) -> None:
        head = b""
        # A client that has had enough of a large image goes away.
        with suppress(anyio.EndOfStream, anyio.BrokenResourceError):
            async with stream:
                while b"\r\n\r\n" not in head:
                    head += await stream.receive()
                path = head.split()[1].decode()
                self.asked.append(path)
                status, body = ANSWERS[path]
                about = b"content-length: %d\r\nconnection: close" % len(body)
                await stream.send(b"HTTP/1.1 %b\r\n%b\r\n\r\n" % (status, about))
                await stream.send(body)


@pytest.fixture
async def origin() -> AsyncIterator[Origin]:
    listener = await anyio.create_tcp_listener(local_host="127.0.0.1")
    port = listener.extra(SocketAttribute.local_port)
    served = Origin(f"http://127.0.0.1:{port}")
    async with listener, anyio.create_task_group() as tasks:
        tasks.start_soon(listener.serve, served.answer)
        yield served
        tasks.cancel_scope.cancel()


def tree_of(*urls: str) -> bytes:
    images = [{"type": "Image", "src": url} for url in urls]
    return json.dumps({"type": "Card", "children": images}, separators=(",", ":")).encode()


async def sources_of(images: InlineImages, *urls: str) -> list[str]:
    tree = tree_of(*urls)
    with anyio.fail_after(PATIENCE_S):
        await images.fetch(tree)
    inlined: Any = json.loads(images.inline(tree))
    return [one["src"].partition(";")[0] for one in inlined["children"]]


async def test_raster_images_of_allowed_origins_come_along_and_are_fetched_once(
    origin: Origin,
) -> None:
    images = InlineImages((origin.url,), allow_private=True)
    url = f"{origin.url}/a.png"

    assert await sources_of(images, url, url) == ["data:image/png"] * 2
    assert await sources_of(images, url) == ["data:image/png"]
    assert origin.asked == ["/a.png"]


@pytest.mark.parametrize("path", ["/moved.png", "/large.png", "/drawn.svg"])
async def test_redirects_large_images_and_documents_stay_addresses(
    origin: Origin, path: str
) -> None:
    images = InlineImages((origin.url,), allow_private=True)
    url = f"{origin.url}{path}"

    assert await sources_of(images, url) == [url]
    assert await sources_of(images, url) == [url]
    assert origin.asked == [path]


async def test_other_origins_and_private_addresses_are_never_asked(origin: Origin) -> None:
    url = f"{origin.url}/a.png"

    assert await sources_of(InlineImages(("https://a.example",), allow_private=True), url) == [url]
    assert await sources_of(InlineImages((origin.url,)), url) == [url]
    assert await sources_of(InlineImages(), url) == [url]
    assert origin.asked == []


async def test_one_result_has_at_most_a_mebibyte_of_them(
    origin: Origin, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = PNG + b"0" * (LIMITS.image_bytes - len(PNG))
    urls = [f"{origin.url}/{number}.png" for number in range(5)]
    for number in range(5):
        monkeypatch.setitem(ANSWERS, f"/{number}.png", (b"200 OK", body))
    images = InlineImages((origin.url,), allow_private=True)
    sources = await sources_of(images, *urls)

    assert len(images.inline(tree_of(*urls))) < LIMITS.images_bytes + 1000
    assert sources.count("data:image/png") == 2


TEMPLATE = '{"type":"Card","children":[{"type":"Image","src":{{ who | tojson }}}]}'


@pytest.mark.parametrize(("name", "inlined"), [("claude-ai", True), ("a-program", False)])
async def test_images_are_in_meta_for_clients_that_draw_and_never_in_structured_content(
    origin: Origin, name: str, inlined: bool
) -> None:
    images = InlineImages((origin.url,), allow_private=True)
    widget = build_widget("Picture", template=TEMPLATE)
    options = ServerOptions(images=images)
    server = build(Registry(snapshot_of(widget)), local_store(Bounds()), options)
    about = Implementation(name=name, version="1")
    async with Client(sdk.lowlevel_of(server.mcp), mode="legacy", client_info=about) as client:
        with anyio.fail_after(PATIENCE_S):
            result = await client.call_tool("picture", {"who": f"{origin.url}/a.png"})

    assert "data:image" not in json.dumps(result.structured_content)
    assert ("data:image/png;base64," in json.dumps(result.meta)) == inlined
