"""The toolset `operate`: status, log events and usage, for an agent in charge of the daemon.

The answers match the page and commands of the same names. Names of hidden widgets are replaced by
pseudonyms.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.base.errors import CallError, InvalidArgument
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import LinearPattern, compile_pattern, read_tokens
from widgetd.server.access.principal import OPERATE, pseudonym
from widgetd.server.mcp.builtin.table import BuiltinTool, ToolContext, argument, closed_object
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.observe import audit_report
from widgetd.server.observe.log_ring import LEVELS, LogRing, epoch_s
from widgetd.server.observe.status import Health, status
from widgetd.server.render.result import Result, structured_result

if TYPE_CHECKING:
    from widgetd.server.catalog.registry import Registry

_SPAN = compile_pattern(r"(?<!\d)(\d++(?:\.\d++)?)(ms|s|m|h|d)")
_UNITS = {"ms": "milliseconds", "s": "seconds", "m": "minutes", "h": "hours", "d": "days"}

# Fields of a log event that name a widget.
_NAMING = ("path", "tool", "widget")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """The sources of these tools' answers.

    Attributes:
        audit: The audit file. None without one.
        names: The names of all built-in tools.
        sections: Further sections of the status, by name, computed per request.
    """

    registry: Registry
    health: Health
    log: LogRing
    audit: Path | None = None
    names: Container[str] = ()
    sections: dict[str, Callable[[], Any]] = field(default_factory=dict)


async def get_status(context: ToolContext[Operations], _arguments: Mapping[str, Any]) -> Result:
    """Return the content of `/status` and `{"toolsets", "store", "sessions"?, …}`."""
    operations = context.services
    answer = status(operations.registry, operations.health, context.caller.snapshot)
    more = {name: read() for name, read in operations.sections.items()}
    return structured_result({**answer, "store": context.store.mode(), **more})


async def get_logs(context: ToolContext[Operations], arguments: Mapping[str, Any]) -> Result:
    """Return `{"items": [{"at", "level", "event", …}], "next", "dropped"}`, oldest first.

    Raises:
        CallError: `since` is not a time (W2002), the pattern needs more than linear time (W3101),
            or the cursor is from another process (W3102).
    """
    ring = context.services.log
    audience, snapshot = context.caller.principal.audience, context.caller.snapshot
    since_s = 0.0 if arguments.get("after") else _since(arguments["since"])
    least, contains = LEVELS.index(arguments["level"]), arguments.get("contains", "")
    widget = arguments.get("widget", "")
    try:
        matches = LinearPattern(arguments.get("pattern", "")).matches
    except ValueError as error:
        raise CallError("W3101", str(error), path="pattern") from None
    events, dropped = ring.after(arguments.get("after", ""))
    named_widget = snapshot.widgets.get(widget)
    about = {widget} if named_widget is None else {widget, named_widget.definition.path}
    visible = None
    if not audience.sees_everything:
        paths = (widget.definition.path for widget in snapshot.widgets.values())
        visible = frozenset((*snapshot.widgets, *snapshot.faults, *paths))
    items: list[Mapping[str, Any]] = []
    upto, weight = ring.cursor_of(events[-1] if events else None), 0
    for at, event in enumerate(events):
        if event.epoch_s < since_s or event.fields["level"] not in LEVELS[least:]:
            continue
        fields = event.fields if visible is None else _redact(event.fields, visible)
        line = event.line if fields is event.fields else orjson.dumps(fields)
        text = line.decode()
        is_wanted = contains in text and (not widget or _concerns(fields, about)) and matches(text)
        if not is_wanted:
            continue
        # The first event comes at any size: an empty answer would hide all later events.
        if items and (len(items) == arguments["limit"] or weight + len(line) > LIMITS.log_bytes):
            upto = ring.cursor_of(events[at - 1])
            break
        items.append(fields)
        weight += len(line)
    return structured_result({"items": items, "next": upto, "dropped": dropped})


def _concerns(fields: Mapping[str, Any], about: set[str]) -> bool:
    tools = fields.get("tools")
    named = [str(fields.get(key)) for key in _NAMING]
    return not about.isdisjoint(named + tools if isinstance(tools, list) else named)


def _since(text: str) -> float:
    """Parse a duration, an ISO 8601 time or epoch seconds into seconds since the epoch."""
    # CallError: it is none of these (W2002).
    try:
        spans = [span.groups() for span in read_tokens(_SPAN, text)]
        if spans and "".join(number + unit for number, unit in spans) == text:
            ago = timedelta(**{_UNITS[unit]: float(number) for number, unit in spans})
            return SYSTEM.clock.wall_s() - ago.total_seconds()
        is_number = text.replace(".", "", 1).isdecimal()
        return float(text) if is_number else datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        wrong = InvalidArgument(
            path="since",
            expected='a duration like "5m", a time like "2026-05-01T12:00:00Z", or epoch seconds',
            got=f"'{text[:80]}'",
        )
        raise CallError("W2002", str(wrong), path="since", invalid_arguments=(wrong,)) from None


def _redact(fields: Mapping[str, Any], visible: frozenset[str]) -> Mapping[str, Any]:
    named = [fields[key] for key in _NAMING if isinstance(fields.get(key), str)]
    if all(name in visible for name in named):
        return fields if named else {k: v for k, v in fields.items() if not _is_prose(k, v)}
    return {
        key: pseudonym(value) if key in _NAMING else value
        for key, value in fields.items()
        if key in _NAMING or not _is_prose(key, value)
    }


def _is_prose(key: str, value: object) -> bool:
    return isinstance(value, (str, list)) and key not in {"at", "level", "event"}


async def get_usage(context: ToolContext[Operations], arguments: Mapping[str, Any]) -> Result:
    """Return `{"report", "items": [...]}`, the rows of the report.

    Raises:
        CallError: The daemon writes no audit file (W3103).
    """
    path = context.services.audit
    if path is None:
        problem = "nothing is recorded: widgetd was started without --audit"
        raise CallError("W3103", problem)
    since_s, report = _since(arguments["since"]), audit_report.REPORTS[arguments["report"]]

    def read_report() -> list[dict[str, Any]]:
        calls = audit_report.read_calls(path)
        return report(call for call in calls if epoch_s(call.get("at")) >= since_s)

    rows = await SYSTEM.threads.run_blocking(read_report)
    seen = context.caller.snapshot.widgets
    if not context.caller.principal.audience.sees_everything:
        own = context.services.names
        rows = [
            {**row, "widget": name if name in seen or name in own else pseudonym(name)}
            for row in rows
            for name in [row["widget"]]
        ]
    return structured_result({"report": arguments["report"], "items": rows[: LIMITS.report_rows]})


_tool = partial(BuiltinTool, scope=OPERATE, toolset="operate")

TOOLS = (
    _tool(
        name="get_status",
        description="Say how widgetd is: what it serves, what it refuses and why.",
        input_schema=closed_object({}),
        handler=get_status,
    ),
    _tool(
        name="get_logs",
        description="Read the latest log events, oldest first; `after`: the `next` of an answer.",
        input_schema=closed_object(
            {
                "since": argument("string", "5m, 2h, a time.", default="5m"),
                "level": {"type": "string", "enum": list(LEVELS), "default": "info"},
                "contains": {"type": "string"},
                "pattern": {"type": "string"},
                "widget": {"type": "string"},
                "limit": {"type": "integer", "minimum": 1, "maximum": 1000, "default": 100},
                "after": {"type": "string"},
            }
        ),
        handler=get_logs,
    ),
    _tool(
        name="get_usage",
        description="Say which widgets are called, fail or take most.",
        input_schema=closed_object(
            {
                "report": {
                    "type": "string",
                    "enum": list(audit_report.REPORTS),
                    "default": "top",
                },
                "since": {"type": "string", "default": "24h"},
            }
        ),
        handler=get_usage,
    ),
)
