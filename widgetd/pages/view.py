"""The page that draws results, as it was built from `view/`; a value, read once."""

from __future__ import annotations

from functools import cache
from importlib.resources import files


@cache
def view_html() -> str:
    """The whole page, with everything that it needs in it."""
    return (files("widgetd.pages") / "view.html").read_text(encoding="utf-8")
