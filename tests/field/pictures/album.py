"""The committed pictures: of each bundled widget's sample, light and dark, at one width."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import orjson

from widgetd.author.browser.chromium import Theme
from widgetd.author.browser.picture import Screenshot
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.states import SAMPLE, show_state
from widgetd.server.catalog.catalog import discover_widgets

THEMES: tuple[Theme, ...] = ("light", "dark")

_FOLDER = Path(__file__).parent / "album"
_WIDTH = 400


def shots(theme: Theme) -> Mapping[str, Screenshot]:
    """Pictures to take, by the name of the widget's tool, and of what must not be cut at edges."""
    trees = {
        widget.tool: show_state(widget, SAMPLE).tree(widget)
        for widget in discover_widgets(bundled_folder())
    }
    trees["edges"] = orjson.loads((_FOLDER / "edges.json").read_bytes())
    return {
        tool: Screenshot(tree=tree, title=tool, theme=theme, width=_WIDTH, scale=1.0)
        for tool, tree in trees.items()
    }


def place(tool: str, theme: Theme) -> Path:
    """Return the path of a widget's picture."""
    return _FOLDER / f"{tool}-{theme}.png"


def places() -> set[Path]:
    """Return the folders of pictures."""
    return set(_FOLDER.glob("*.png"))
