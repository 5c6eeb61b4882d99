"""Sidecars that ask for far too much; `main` reads each and calls its widget, within limits.

A timer of the kernel ends that process where one takes too long, whatever holds the
interpreter then, and it can have only so much memory.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from tests.support.limits import try_each
from tests.support.widgets import build_widget
from widgetd.base.errors import WidgetError
from widgetd.core.widget.action_checks import find_messages

COSTLY: Final = "range(30000)|map('string')|join|length"
"""An expression that takes about a third of what one render may spend."""

MANY: Final = 2_000


def lines(line: str, count: int = MANY) -> str:
    """Return the line `count` times, with its number in place of `#`."""
    return "".join(line.replace("#", str(number)) for number in range(count))


def quote_names(name: str, count: int = 15_000) -> str:
    """Return a list of `count` names, each with its number in place of `#`."""
    return ",".join(f'"{name.replace("#", str(number))}"' for number in range(count))


SIDECARS: Final[Mapping[str, str]] = {
    "a key of many parts": "a." * 100_000 + "a = 1\n",
    "a key of many parts in a table": "a = {" + "a . " * 50_000 + "a = 1}\n",
    "a key of many quoted parts": '"a".' * 50_000 + "a = 1\n",
    "a deep table of many keys": "[" + "a." * 40_000 + "a]\n" + lines("k# = 1\n", 20_000),
    "deep tables of deep keys": lines("[" + "a#." * 15 + "b]\n" + "a." * 14 + "a = 1\n", 1_500),
    "a costly value in every element": f'[derived]\n"xs.b" = "{COSTLY}"\n',
    "many costly values": "[derived]\n" + lines(f'k# = "{COSTLY}"\n'),
    "many values in every element": "[derived]\n" + lines('"xs.a.k#" = "1"\n', 10_000),
    "many costly facts": "[summary_data]\n" + lines(f'k# = "{COSTLY}"\n'),
    "many costly checks": '[actions.go]\ndescription = "Go."\n'
    + lines(f'[[actions.go.checks]]\nholds = "{COSTLY}"\nsays = "No."\n', 1_000),
    "many sensitive fields": f"sensitive = [{quote_names('xs.k#')}]\n",
    "many sensitive fields, deep": f"sensitive = [{quote_names('xs.a.k#.b')}]\n",
    "many ids of much": f"ids = [{quote_names('k#')}]\n",
}

ARGUMENTS: Final[Mapping[str, Any]] = {
    "xs": [{"a": {"c": n}} for n in range(5_000)],
    "s": "x" * 500_000,
}

SCHEMA: Final = {"type": "object", "properties": {"xs": {"type": "array"}}}


def attacked(sidecar: str) -> None:
    """Read the sidecar, call its widget, and take an action in it."""
    try:
        widget = build_widget(schema=SCHEMA, template='{"type":"Card"}', sidecar=sidecar)
    except WidgetError:
        return
    widget.summary.facts(widget.call(ARGUMENTS).arguments, "")
    find_messages(widget.checks, "go", {})


def main() -> None:
    """Try every sidecar within ten times the bar, and name each before it begins."""
    attacked("")
    try_each((what, partial(attacked, sidecar)) for what, sidecar in SIDECARS.items())
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
