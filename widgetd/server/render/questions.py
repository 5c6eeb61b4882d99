"""The text of a question to a person, in pages, on cards and in elicitation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from widgetd.base.errors import CallError
from widgetd.core.schema.json_values import to_json
from widgetd.server.render.limits import LIMITS

_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0") | set(map(chr, range(0xFE00, 0xFE10)))
"""Printable characters without a visible shape."""


def write_question(title: str, arguments: Mapping[str, Any]) -> str:
    """Return a question with a line for each argument.

    Raises:
        CallError: It is too long for a person (W2403).
    """
    rows = [f"{name}: {value}" for name, value in list_arguments(arguments)]
    return "\n".join([escape_hidden(title), *rows])


def list_arguments(arguments: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the arguments for a person, complete, and the short arguments first.

    Raises:
        CallError: They are too long for a person (W2403).
    """
    rows = [
        (escape_hidden(name), escape_hidden(to_text(value))) for name, value in arguments.items()
    ]
    length = sum(len(name) + len(value) for name, value in rows)
    if length > LIMITS.question_chars:
        problem = (
            f"a person is asked about at most {LIMITS.question_chars:,} characters, got {length:,}"
        )
        raise CallError("W2403", f"{problem}; send less at once")
    # A long value must not push the recipient and the amount out of sight.
    return sorted(rows, key=lambda row: len(row[1]))


def escape_hidden(text: str) -> str:
    return "".join(
        char if char.isprintable() and char not in _BLANK else ascii(char)[1:-1] for char in text
    )


def to_text(value: object) -> str:
    return value if isinstance(value, str) else to_json(value).decode()
