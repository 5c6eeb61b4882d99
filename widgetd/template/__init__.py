"""Turn a template's text into closures that render arguments, inside a budget.

Jinja's parser reads the text, and that is all of Jinja there is: nothing is
compiled, nothing of Python is in reach, and whatever a template makes pays from
one budget. It refuses to know what a widget is; it knows JSON.
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
