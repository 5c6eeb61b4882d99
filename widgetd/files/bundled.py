"""The widgets that come with widgetd."""

from __future__ import annotations

from pathlib import Path


def bundled() -> Path:
    """Their folder: in the package where it is installed, beside it in a checkout."""
    package = Path(__file__).parents[1]
    shipped = package / "_widgets"
    return shipped if shipped.is_dir() else package.parent / "widgets"
