"""A daemon's calls keep the parts of the widgets that were called last, and of no others."""

from __future__ import annotations

from functools import partial

import pytest

from tests.support.widgets import build_widget, snapshot_of
from widgetd.core.widget.widget import CompiledCache
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.store.factory import local_store


async def test_call_releases_the_least_recently_called_widget(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widgetd.server.render.calls.CompiledCache", partial(CompiledCache, most=1))
    first, second = build_widget("First"), build_widget("Second")
    snapshot = snapshot_of(first, second)
    server = build(Registry(snapshot), local_store())

    for called in (first, second):
        await server.rendering.call(called, {"who": "Ada"}, Caller(snapshot=snapshot))

    assert "template" not in vars(first)
    assert "template" in vars(second)
