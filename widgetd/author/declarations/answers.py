"""The answers of the built-in tools, as data: their structured content.

A text names a scalar of JSON Schema, `object` an object of any names. A list has a kind of
element, a set the possible scalars, a tuple the alternatives. A key ending with `?` may be absent.
A shape stands for itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from widgetd.author.declarations.shape import (
    ANY,
    Field,
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Union,
    camel,
)

Answer = Any
"""An answer in this notation."""

_TEXTS = ["string"]
_ABSENT = {"name": "string", "status": {"not_found"}, "suggestions": _TEXTS}
_SESSION = {"sessionId": "string", "widget": "string", "generation": "string"}
_LISTED_SESSION = {**_SESSION, "expiresInS": "number"}
_EVENTS = ["object"]
_FAILURE = {"code": "string", "message": "string"}

ANSWERS: Mapping[str, Answer] = {
    "search_widgets": {
        "items": [
            {"name": "string", "title": "string", "description": "string", "score": "number"}
        ],
        "total": "integer",
        "hint?": "string",
        "tags?": _TEXTS,
    },
    "get_widget_details": {
        "items": [
            (
                {
                    "name": "string",
                    "status": {"ok"},
                    "title": "string",
                    "description?": "string",
                    "inputSchema?": "object",
                    "example?": ("object", "null"),
                    "actions?": ["object"],
                    "problems?": _TEXTS,
                },
                _ABSENT,
            )
        ],
        "left?": _TEXTS,
    },
    "render_widget": "object",
    "show_render": "object",
    "widget_action": {
        "status": {"accepted", "confirm", "done", "failed", "invalid", "unsure"},
        "next?": "integer",
        "repeated?": "boolean",
        "text?": "string",
        "token?": "string",
        "note?": "string",
        "line?": "string",
        "validationErrors?": "object",
    },
    "await_widget_action": {
        "actions": [
            {
                "seq": "integer",
                "action": "string",
                "payload": "any",
                "at": "number",
                "outcome?": "string",
            }
        ],
        "next": "integer",
        "status": "string",
    },
    "update_render": {"renderId": "string", "version": "integer", "summary": "string"},
    "follow_render": "object",
    "get_status": {
        "version": "string",
        "ready": "boolean",
        "draining": "boolean",
        "widgets": "integer",
        "stale": "integer",
        "refused": "integer",
        "generation": "string",
        "files": "string",
        "watch": {"native", "poll"},
        "degraded": ("string", "null"),
        "drawLimits": _TEXTS,
        "rollback": ({"generation": "string", "since": "string"}, "null"),
        "requiredUpstreams?": "object",
        "allUpstreams?": "object",
        "faults": [
            {"path": "string", "code": "string", "state": {"refused", "stale"}, "problem": "string"}
        ],
        "store": "string",
        "toolsets": _TEXTS,
        "sessions?": "integer",
    },
    "get_logs": {"items": ["object"], "next": "string", "dropped": "integer"},
    "get_usage": {"report": {"errors", "slow", "top"}, "items": ["object"]},
    "get_guide": {
        "items": [
            (
                {
                    "name": "string",
                    "status": {"ok"},
                    "title": "string",
                    "useWhen": "string",
                    "text?": "string",
                },
                _ABSENT,
            )
        ]
    },
    "search_reference": {
        "items": [
            {
                "kind": "string",
                "name": "string",
                "title": "string",
                "snippet": "string",
                "at?": "any",
                "score": "number",
            }
        ],
        "total": "integer",
    },
    "get_component_details": {"items": ["object"]},
    "read_widget": {
        "items": [
            (
                {
                    "name": "string",
                    "status": {"ok"},
                    "file": "string",
                    "digest": "string",
                    "parts": "object",
                    "missing": _TEXTS,
                },
                _ABSENT,
            )
        ],
        "left": _TEXTS,
    },
    "try_widget": {
        "findings": ["object"],
        "tool": "string",
        "arguments?": "object",
        "tree?": "object",
        "state?": "object",
        "summary?": "string",
        "data?": "object",
        "tokens?": {"tool": "integer", "chatkit": "integer", "split": "integer"},
        "steps?": "integer",
        "ms?": "number",
        "actions?": ["object"],
        "error?": "string",
        "trace?": "any",
        "picture?": "object",
    },
    "save_widget": {"file": "string", "tool": "string", "digest": "string", "page?": "string"},
    "start_session": {**_LISTED_SESSION, "screen": "string", "uris": _TEXTS},
    "do_in_session": {
        "status": {"done", "failed"},
        "steps": [
            {
                "keyword": "string",
                "ms": "number",
                "status": {"done", "failed"},
                "target?": "string",
                "result?": "any",
            }
        ],
        "failed?": {**_FAILURE, "index": "integer", "expected": "any", "got": "any"},
        "ended?": _FAILURE,
        "screen?": "string",
        "events": _EVENTS,
    },
    "end_session": {
        "events": _EVENTS,
        "test?": "string",
        "trace?": "string",
        "traceWithheld?": "string",
    },
    "list_sessions": {"items": [_LISTED_SESSION]},
    "take_picture": {
        "width": "integer",
        "height": "integer",
        "bytes": "integer",
        "digest": "string",
        "console": ["any"],
        "overflow": ["any"],
        "left": _TEXTS,
    },
    "get_upstreams": {"items": ["object"], "fault?": "string"},
    "call_upstream": {
        "kind": "string",
        "bytes": "integer",
        "page": "string",
        "mimeType?": "string",
        "next?": "string",
    },
}
"""By the names of the tools; one that shows a widget answers as the widget's own tool does."""


def read_answer(answer: Answer, name: str, records: dict[str, Record]) -> Shape:
    match answer:
        case "any":
            return ANY
        case "object":
            return MapOf(ANY)
        case str():
            return Scalar(answer)
        case set():
            return Literals(tuple(sorted(answer)))
        case list():
            return ListOf(read_answer(answer[0], f"{name}Item", records))
        case tuple():
            names = (name, *(f"{name}{number}" for number in range(2, len(answer) + 1)))
            return Union(
                tuple(read_answer(*variant, records) for variant in zip(answer, names, strict=True))
            )
        case dict():
            fields = tuple(
                Field(
                    key.removesuffix("?"),
                    read_answer(value, name + camel(key), records),
                    required=not key.endswith("?"),
                )
                for key, value in answer.items()
            )
            records[name] = Record(name, fields)
            return Named(name)
    shape: Shape = answer
    return shape
