"""Say of each call how it ended, to whoever counts or records; it changes no answer."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from typing import Any

from widgetd.mcp.caller import Caller
from widgetd.mcp.observer import Called, Observer, Outcome

_RENDER = "render_widget"


async def observed(
    answering: Callable[[], Awaitable[Any]],
    params: Mapping[str, Any],
    caller: Caller,
    *,
    standing: Collection[str],
    observers: Collection[Observer],
) -> Any:
    """The answer to a call, once all observers know of it.

    Args:
        answering: Answers.
        params: The call's parameters as they came, `{"name": ..., "arguments": {...}}`.
        caller: Who calls.
        standing: The names of the tools that are always there.
        observers: Are told.
    """
    started_s = time.perf_counter()
    answer: Mapping[str, Any] = {}
    try:
        answer = await answering()
        return answer
    finally:
        seconds = time.perf_counter() - started_s
        call = _called(params, caller, answer, seconds, standing)
        for observer in observers:
            observer.called(call)


def _called(
    params: Mapping[str, Any],
    caller: Caller,
    answer: Mapping[str, Any],
    seconds: float,
    standing: Collection[str],
) -> Called:
    tool, arguments = _text(params.get("name")), _object(params.get("arguments"))
    asked, given = tool, arguments
    if tool == _RENDER:
        asked, given = _text(arguments.get("name")), _object(arguments.get("arguments"))
    widgets = caller.snapshot.widgets
    failure = _object(_object(answer.get("_meta")).get("widgetd/error"))
    return Called(
        tool=tool if tool in widgets or tool in standing else "",
        widget=widgets.get(asked),
        outcome=_outcome(answer),
        code=_text(failure.get("code")),
        seconds=seconds,
        principal=caller.principal.name,
        arguments=given,
        answer=answer,
    )


def _outcome(answer: Mapping[str, Any]) -> Outcome:
    if not answer:
        return "failed"
    return "error" if answer.get("isError") else "ok"


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
