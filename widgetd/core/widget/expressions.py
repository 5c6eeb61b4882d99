"""Compile a sidecar's expressions. An error names the key of the faulty expression."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from widgetd.base.errors import WidgetError
from widgetd.base.limits import Limits
from widgetd.core import template as templates
from widgetd.core.schema.json_values import pointer


def compile_expressions(
    texts: Mapping[str, str], at: str, limits: Limits
) -> Mapping[str, templates.Expression]:
    """Compile the expressions below the JSON pointer `at` of a sidecar.

    Raises:
        WidgetError: An expression cannot be read.
    """
    compiled = {}
    for name, text in texts.items():
        with errors_at(f"{at}{pointer(name)}"):
            compiled[name] = templates.Expression(text, limits)
    return compiled


@contextmanager
def errors_at(at: str) -> Iterator[None]:
    """Put errors raised inside at the JSON pointer of a value, in place of a line of its text.

    The line is the expression's, mostly the first, and a reader would take it for the file's.
    """
    try:
        yield
    except WidgetError as error:
        findings = (replace(finding, at=at, line=None, column=None) for finding in error.findings)
        raise WidgetError(*findings) from None
