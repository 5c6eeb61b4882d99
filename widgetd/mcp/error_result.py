"""An error becomes a tool result: for a model to read, and for a program to act on."""

from __future__ import annotations

from typing import Any

from widgetd.errors import CallError
from widgetd.mcp.envelope import Failure
from widgetd.mcp.result import Result, result_of, text_block


def failure(error: CallError) -> Failure:
    """Why a call failed, for a program to act on."""
    slips = tuple({"path": s.path, "expected": s.expected, "got": s.got} for s in error.slips)
    return Failure(
        code=error.code,
        message=error.message,
        path=error.path,
        recoverable=error.recoverable,
        suggestions=error.suggestions,
        retry_after_s=error.retry_after_s,
        details=slips or None,
    )


def error_result(error: CallError, structured: dict[str, Any] | None = None) -> Result:
    """A call that failed, for the model to read and for a program to act on.

    Args:
        error: Why.
        structured: What else there is to say, for whoever called from within a widget.
    """
    place = f"{error.path}: " if error.path and not error.message.startswith(error.path) else ""
    retry = "yes" if error.recoverable else "no"
    text = f"[{error.code}] {place}{error.message} (retry: {retry})"
    meta = {"widgetd/error": failure(error).wire()}
    return result_of([text_block(text)], structured, meta=meta, is_error=True)
