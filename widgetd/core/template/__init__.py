"""Templates: text becomes a program, and closures run it within a budget.

Of Jinja only the parser is used: nothing is compiled to Python, no Python object is in reach, and
every value of a template is charged to its budget. This room knows JSON, but no widgets.

Each name is imported at its first use: a start with proven widgets compiles no template.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from widgetd.core.template.references import Read
    from widgetd.core.template.template import (
        Expression,
        Rendering,
        Template,
        compile_template,
        compile_text,
    )

__all__ = ["Expression", "Read", "Rendering", "Template", "compile_template", "compile_text"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'widgetd.core.template' has no attribute '{name}'")
    module = "references" if name == "Read" else "template"
    value = globals()[name] = getattr(import_module(f"widgetd.core.template.{module}"), name)
    return value
