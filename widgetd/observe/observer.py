"""What the server tells whoever counts or records; metrics and the audit implement `Observer`.

It refuses to know what is counted, or for whom.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol, TypeVar

from widgetd.access.principal import Caller
from widgetd.widget.widget import Widget

Outcome = Literal["ok", "error", "failed"]
"""An answer, an answer that says why there is none, or neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """One call that is over.

    Attributes:
        tool: The tool that was called; empty where there is none of that name.
        widget: The widget that it was about; None where it was about none that is served.
        outcome: How it ended.
        code: The error's code, as `W2002`; empty without one.
        seconds: How long it took.
        principal: Who called; empty where nobody has a name.
        client: By which program, as it calls itself; empty where it does not say.
        client_version: That program's version.
        arguments: The widget's arguments as they came; not to be kept.
        answer: The result as it goes out, as values or as JSON; not to be kept, and empty where it
            failed.
    """

    tool: str
    widget: Widget | None
    outcome: Outcome
    code: str
    seconds: float
    principal: str
    client: str = ""
    client_version: str = ""
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any] | bytes


class EncodedResult(NamedTuple):
    """An answer that is JSON already, and what of it observers would have to look for.

    Attributes:
        json: The result as it goes out.
        is_error: Whether it says why there is none.
        code: The error's code; empty without one.
    """

    json: bytes
    is_error: bool = False
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """What clients are to be told, once.

    Attributes:
        tools: The list of tools is another one now.
        resources: The list of resources is another one now.
        updated: URIs of resources whose content is another one now.
    """

    tools: bool = False
    resources: bool = False
    updated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.tools or self.resources or bool(self.updated)


class Observer(Protocol):
    """Is told what goes on. CallRecord in the event loop; must neither wait nor raise."""

    def on_call(self, call: CallRecord) -> None:
        """A call is over."""

    def on_render(self, widget: Widget, steps: int) -> None:
        """A widget was rendered, and its template took so many steps."""

    def on_notice(self, notice: Notice) -> None:
        """Clients were told of a change."""


T = TypeVar("T")


async def observe_call(
    handler: Callable[[], Awaitable[T]],
    params: Mapping[str, Any],
    caller: Caller,
    *,
    builtin: Collection[str],
    observers: Collection[Observer],
) -> T:
    """What `handler` answers to a call, once all observers know of it."""
    started_s = time.perf_counter()
    answer: Any = {}
    try:
        answer = await handler()
        return answer  # type: ignore[no-any-return]  # it is what the handler gave
    finally:
        seconds = time.perf_counter() - started_s
        tool, arguments = _text(params.get("name")), _object(params.get("arguments"))
        name, given = tool, arguments
        if tool == "render_widget":
            name, given = _text(arguments.get("name")), _object(arguments.get("arguments"))
        widgets = caller.snapshot.widgets
        if isinstance(answer, EncodedResult):
            content, is_error, code = answer
        else:
            content, is_error = answer, bool(answer.get("isError"))
            code = _text(_object(_object(answer.get("_meta")).get("widgetd/error")).get("code"))
        call = CallRecord(
            tool=tool if tool in widgets or tool in builtin else "",
            widget=widgets.get(name),
            outcome="failed" if not content else "error" if is_error else "ok",
            code=code,
            seconds=seconds,
            principal=caller.principal.name,
            client=caller.client.name,
            client_version=caller.client.version,
            arguments=given,
            answer=content,
        )
        for observer in observers:
            observer.on_call(call)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
