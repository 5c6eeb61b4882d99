"""The cache of compiled parts keeps those of the widgets that were called last."""

from __future__ import annotations

import gc
import weakref

from tests.support.widgets import build_widget, greeting
from widgetd.base.limits import AT_WORK
from widgetd.core.widget.widget import CompiledCache


def test_least_recently_called_widget_is_released_and_can_be_called() -> None:
    cache = CompiledCache(most=2)
    # Compiled schemas are cached by path, and one of another test's widget may be alive: a daemon
    # that starts in this process exempts all that there is, garbage too, from collection.
    first, second, third = (
        build_widget(name, path=f"called/{name}.widget") for name in ("First", "Second", "Third")
    )
    parts = {each.tool: weakref.ref(each.schema) for each in (first, second, third)}

    for called in (first, second, first, third):
        cache.touch(called)
    for number in range(AT_WORK):  # files that are worked on since
        build_widget(f"Other {number}").compile()
    gc.collect()

    assert [tool for tool, part in parts.items() if part() is None] == ["second"]
    assert second.call({"who": "Ada"}).tree == greeting("Hello", "Ada")


def test_call_does_not_retain_an_unserved_widget() -> None:
    cache = CompiledCache()
    widget = build_widget()
    cache.touch(widget)
    reference = weakref.ref(widget)

    del widget
    gc.collect()

    assert reference() is None
