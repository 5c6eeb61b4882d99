"""JSX as Studio's editor shows it: the second front end beside Jinja.

tree-sitter parses, an allow-list is evaluated, from the same budget as templates and with
the same weights. Nothing of JavaScript is run, and what cannot be compiled is named with
its place in the JSX.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from widgetd.template.jsx.view import View, constants

if TYPE_CHECKING:
    from widgetd.limits import Limits

__all__ = ["View", "compile_view", "constants"]


def compile_view(text: str, *, limits: Limits) -> View:
    """Compile the view of a widget.

    Raises:
        WidgetError: `W1327`, with the line and column of `text`.
    """
    return View(text, limits)
