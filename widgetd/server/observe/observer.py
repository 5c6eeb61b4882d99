"""Observers of calls, renders and notices. Metrics and the audit implement `Observer`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, TypeVar

from widgetd.base.system import SYSTEM
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller

Outcome = Literal["ok", "error", "failed"]
"""A result, an error result, or an exception."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallRecord:
    """A finished call. Observers must not keep `arguments` or `answer`.

    Attributes:
        tool: The called tool. Empty for an unknown name.
        widget: The widget of the call. None if it concerns no served widget.
        code: The error's code, as `W2002`. Empty without one.
        principal: Name of the caller's principal. Empty if it has none.
        client: `clientInfo.name`. Empty if not sent.
        client_version: `clientInfo.version`.
        arguments: The widget's arguments as received.
        answer: The result as sent, as values or as JSON. Empty after an exception.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionRecord:
    """A finished action of a tool of an upstream.

    Attributes:
        outcome: `done`, `failed` or `unsure`.
    """

    widget: str
    action: str
    upstream: str
    tool: str
    outcome: str
    code: str
    seconds: float
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """A finished upload.

    Attributes:
        uploader: The name of the uploader, if any.
        path: The widget's file. Empty if no file has a widget's name.
        tool: The tool of the widget. Empty if the upload was refused.
        code: The reason for a refusal, such as `W1006`.
        size_bytes: Size of all files.
    """

    uploader: str
    path: str
    tool: str
    code: str
    size_bytes: int

    @property
    def outcome(self) -> Outcome:
        """Return `ok`, `error` for a refusal, or `failed` for a defect."""
        return "ok" if self.tool else "error" if self.code else "failed"


class EncodedResult(NamedTuple):
    """A result as JSON, with facts that observers would have to parse it for.

    Attributes:
        json: The result as sent.
        code: The error's code. Empty without an error.
    """

    json: bytes
    is_error: bool = False
    code: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """Changes to announce to clients.

    Attributes:
        tools: Whether the list of tools changed.
        resources: Whether the list of resources changed.
        updated: URIs of changed resources.
    """

    tools: bool = False
    resources: bool = False
    updated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.tools or self.resources or bool(self.updated)


RecordDuration = Callable[[float, Mapping[str, str]], None]
"""Records the seconds of a request with its attributes. Must neither wait nor raise."""


class Observer:
    """An observer of nothing. Subclasses override methods. They must not wait or raise."""

    def on_call(self, call: CallRecord) -> None:
        """Record a finished call."""

    def on_render(self, widget: Widget, steps: int) -> None:
        """Record a render and the steps of its template."""

    def on_difference(self, widget: Widget) -> None:
        """Record a difference between the trees of a page and of the server."""

    def on_notice(self, notice: Notice) -> None:
        """Record a notice to clients."""

    def on_action(self, action: ActionRecord) -> None:
        """Record an action of an upstream's tool."""


T = TypeVar("T")


async def observe_call(
    handler: Callable[[], Awaitable[T]],
    params: Mapping[str, Any],
    target: tuple[str, Mapping[str, Any]],
    caller: Caller,
    *,
    builtin: Collection[str],
    observers: Collection[Observer],
) -> T:
    """Await the answer to a call of `target`, its widget and arguments, and report the call."""
    started_s = SYSTEM.clock.steady_s()
    answer: Any = {}
    try:
        answer = await handler()
        return answer  # type: ignore[no-any-return]  # the handler's own type
    finally:
        seconds = SYSTEM.clock.steady_s() - started_s
        tool, (name, arguments) = _text(params.get("name")), target
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
            arguments=arguments,
            answer=content,
        )
        for observer in observers:
            observer.on_call(call)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
