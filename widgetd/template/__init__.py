"""Templates: text becomes a program, and closures run it within a budget.

Jinja's parser reads the text, and nothing else of Jinja is used: nothing is compiled, no
object of Python is in reach, and whatever a template makes is charged to one budget. This
room knows JSON, but no widgets.
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
