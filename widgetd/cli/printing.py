"""How a command says what it found, and what was wrong."""

from __future__ import annotations

import sys

import orjson


def print_json(value: object) -> None:
    """Print `value` for programs, and so that people can read it."""
    print(orjson.dumps(value, option=orjson.OPT_INDENT_2).decode())


def complain(sentence: str, exit_code: int) -> int:
    """Say on stderr what was wrong, and answer the exit code that says it to programs."""
    print(f"widgetd: {sentence}", file=sys.stderr)
    return exit_code
