"""Inline images of results as `data:`, for hosts without access to other origins.

Only from the operator's origins: authors of templates and arguments must not make this server fetch
an address. The request goes to the checked address, without redirects. Only raster images are
taken, because SVG is a document.

Source: modelcontextprotocol/ext-apps#761, anthropics/claude-ai-mcp#40.
"""

from __future__ import annotations

from base64 import b64encode
from collections import OrderedDict
from collections.abc import Collection
from contextlib import aclosing
from typing import TYPE_CHECKING

import anyio

from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.widget.images import find_blocked
from widgetd.server.render.limits import LIMITS
from widgetd.server.store.delivery.addresses import PrivateAddressError, pin_address, tls_context

if TYPE_CHECKING:
    import httpx2

_IMAGE = compile_pattern(rb'"(src|favicon)":"(https?://[^"\\\s]{1,2000})"')
_ORIGIN = compile_pattern(r"\A(https?://[^/?#]+)")

_RASTERS = (
    ("image/png", b"\x89PNG\r\n\x1a\n", b""),
    ("image/jpeg", b"\xff\xd8\xff", b""),
    ("image/gif", b"GIF8", b""),
    ("image/webp", b"RIFF", b"WEBP"),
    ("image/avif", b"", b"ftypavif"),
)
"""Media types with their first bytes, and further bytes at 8 or 4."""


class InlineImages:
    """The images of some origins, as `data:` URIs by address. The most recently used are cached.

    Args:
        origins: Origins of the operator. None of them switches all this off.
        allow_private: Whether addresses on this network may be connected to.
    """

    def __init__(self, origins: Collection[str] = (), *, allow_private: bool = False) -> None:
        self._origins = tuple(origins)
        self._allow_private = allow_private
        self._cached: OrderedDict[str, tuple[float, bytes]] = OrderedDict()

    async def fetch(self, tree: bytes) -> None:
        if not self._origins:
            return
        now = SYSTEM.clock.steady_s()
        missing = [
            address for address in self._find(tree) if self._cached.get(address, (0.0,))[0] <= now
        ]
        if not missing:
            return
        import httpx2  # noqa: PLC0415 - most daemons fetch no images

        with anyio.move_on_after(LIMITS.images_s):
            async with (
                httpx2.AsyncClient(
                    timeout=None, follow_redirects=False, trust_env=False, verify=tls_context()
                ) as client,
                anyio.create_task_group() as tasks,
            ):
                for url in missing:
                    tasks.start_soon(self._keep, client, url)

    def inline(self, tree: bytes) -> bytes:
        left = LIMITS.images_bytes
        for url in self._find(tree) if self._cached else ():
            image = self._cached.get(url, (0.0, b""))[1]
            if image and len(image) <= left:
                left -= len(image)
                for name in (b"src", b"favicon"):
                    before = b'"%b":"%b"' % (name, url.encode())
                    tree = tree.replace(before, b'"%b":"%b"' % (name, image))
        return tree

    def _find(self, tree: bytes) -> list[str]:
        urls = dict.fromkeys(image[2].decode() for image in read_tokens(_IMAGE, tree))
        return [
            url
            for url in urls
            if (origin := _ORIGIN.match(url))
            and not find_blocked((origin[1].lower(),), self._origins)
        ][: LIMITS.images]

    async def _keep(self, client: httpx2.AsyncClient, url: str) -> None:
        image = await self._get(client, url)
        # Failures are cached, too: a dead origin must not delay every call.
        self._cached[url] = (SYSTEM.clock.steady_s() + LIMITS.cached_image_s, image)
        self._cached.move_to_end(url)
        if len(self._cached) > LIMITS.cached_images:
            self._cached.popitem(last=False)

    async def _get(self, client: httpx2.AsyncClient, url: str) -> bytes:
        import httpx2  # noqa: PLC0415 - as above

        content = b""
        try:
            request = client.build_request("GET", url, headers={"accept": "image/*"})
            await pin_address(request, allow_private=self._allow_private)
            async with aclosing(await client.send(request, stream=True)) as answer:
                if answer.status_code != 200:
                    return b""
                async for chunk in answer.aiter_bytes():
                    content += chunk
                    if len(content) > LIMITS.image_bytes:
                        return b""
        except (PrivateAddressError, OSError, httpx2.HTTPError, httpx2.InvalidURL):
            return b""
        return to_data_uri(content)


def to_data_uri(content: bytes) -> bytes:
    """Return a raster image, known by its first bytes, as a `data:` URI, empty for others."""
    for kind, start, later in _RASTERS:
        if content.startswith(start) and (not later or later in content[4:16]):
            return b"data:%b;base64,%b" % (kind.encode(), b64encode(content))
    return b""
