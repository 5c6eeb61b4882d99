"""Templates: text becomes a program, and closures run it within a budget.

Of Jinja only the parser is used: nothing is compiled to Python, no Python object is in reach, and
everything that a template makes is charged to one budget. This room knows JSON, but no widgets.
"""

from __future__ import annotations

from widgetd.template.references import Read
from widgetd.template.template import (
    Expression,
    Rendering,
    Template,
    compile_template,
    compile_text,
)

__all__ = ["Expression", "Read", "Rendering", "Template", "compile_template", "compile_text"]
