"""JSX as Studio's editor shows it: the second front end beside Jinja.

tree-sitter parses, an allow-list is evaluated, from the same budget as templates and with
the same weights. Nothing of JavaScript is run, and what cannot be compiled is named with
its place in the JSX.
"""

from __future__ import annotations

from widgetd.core.template.jsx.view import View, constant_offsets, constants

__all__ = ["View", "constant_offsets", "constants"]
