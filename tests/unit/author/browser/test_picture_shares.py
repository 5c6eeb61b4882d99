"""Pictures that tools store count against the principal who requested them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.support.widgets import build_widget, snapshot_of
from widgetd.author.browser import pictures
from widgetd.author.browser.camera import Camera
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.limits import BrowserLimits
from widgetd.author.browser.picture import Picture
from widgetd.server.access.principal import Caller, Principal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin import CORE_TOOLS
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.store.factory import local_store

MOST = 4


class BlankCamera(Camera):
    """A camera that draws nothing and needs no browser.

    Attributes:
        drawn: The owner of each picture that was not kept.
    """

    def __init__(self) -> None:
        limits = BrowserLimits(cached_pictures=MOST)
        super().__init__(Chromium(), limits=limits, charge=self._note_charge)
        self.drawn: list[str] = []
        self.charged: list[tuple[str, int]] = []

    async def _note_charge(self, owner: str, cost: int) -> None:
        self.charged.append((owner, cost))

    async def _with_page(self, _screenshot: Any, _use: Any, owner: str) -> Any:
        self.drawn.append(owner)
        return Picture(content=b"blank", format="png", width=1, height=1)

    async def _lay_out(self, pictures: Iterable[tuple[str, Picture]], **_layout: Any) -> Picture:
        return next(picture for _, picture in pictures)


async def take_picture(server: Server, owner: str, width: int) -> None:
    caller = Caller(snapshot=server.registry.current, principal=Principal(name=owner))
    arguments = {"names": ["greeting"], "width": width}
    result = await server.call("take_picture", arguments, caller)
    assert not result.is_error, result.content


async def read_picture(server: Server, owner: str, width: int) -> None:
    names = [f"greeting_{number}" for number in range(2 * MOST)]
    caller = Caller(snapshot=server.registry.current, principal=Principal(name=owner))
    [resource] = pictures.RESOURCES
    assert (
        await resource.read(server.context(caller).of("pictures"), names[width % len(names)])
        == b"blank"
    )


@pytest.mark.parametrize("take", [take_picture, read_picture])
async def test_pictures_of_one_principal_displace_none_of_another(take: Any) -> None:
    camera = BlankCamera()
    served = (build_widget(), *(build_widget(f"Greeting {number}") for number in range(2 * MOST)))
    options = ServerOptions(
        builtin=(*CORE_TOOLS, *pictures.TOOLS),
        toolsets=("pictures",),
        readable=pictures.RESOURCES,
        services={"pictures": camera},
    )
    server = build(Registry(snapshot_of(*served)), local_store(), options)

    await take(server, "ann", 300)
    for width in range(301, 301 + 2 * MOST - 1):
        await take(server, "bob", width)
    await take(server, "ann", 300)

    # Also the last, which is drawn already
    assert camera.charged == [("ann", 4), *[("bob", 4)] * (2 * MOST - 1), ("ann", 4)]
    assert camera.drawn == ["ann", *["bob"] * (2 * MOST - 1)]


async def test_client_that_asks_hears_of_each_picture_of_a_sheet() -> None:
    reports = []

    async def note(done: float, total: float | None, word: str | None) -> None:
        reports.append((done, total, word))

    camera = BlankCamera()
    options = ServerOptions(
        builtin=(*CORE_TOOLS, *pictures.TOOLS),
        toolsets=("pictures",),
        services={"pictures": camera},
    )
    served = snapshot_of(build_widget(), build_widget("Pale"))
    server = build(Registry(served), local_store(), options)
    caller = Caller(snapshot=served, report=note)
    result = await server.call("take_picture", {"names": ["greeting", "pale"]}, caller)

    assert not result.is_error, result.content
    assert reports == [(1, 2, "greeting"), (2, 2, "pale")]
