"""Put what is wrong with a call into words that its caller can act on.

Short, because a model reads it; free of whatever the widget calls sensitive.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from widgetd.errors import CallError, InvalidArgument
from widgetd.schema.describe import shown
from widgetd.schema.document import Document
from widgetd.schema.faults import MISSING, Fault
from widgetd.schema.json_values import Json, Path, dotted, kind, path_names

# With its code, and whether to try again, a message stays under 600 characters.
LONGEST = 570
MOST_TOLD = 5
LONGEST_PATH = 80
LONGEST_EXPECTED = 240


def invalid_arguments(
    document: Document, faults: Sequence[Fault], sensitive: Collection[str]
) -> tuple[InvalidArgument, ...]:
    """`faults` as a caller may see them, each place once, at most five."""
    told: dict[str, InvalidArgument] = {}
    for fault in faults:
        path = fault.path
        hidden = _hidden(path, sensitive)
        if hidden is not None:
            path = path[:hidden]
        # A property that is not declared may be a sensitive one whose name came out wrong.
        secret = hidden is not None or (bool(sensitive) and fault.keyword == "additionalProperties")
        place = _shortened(dotted(path), LONGEST_PATH)
        expected = _shortened(fault.expected(document), LONGEST_EXPECTED)
        told.setdefault(
            place, InvalidArgument(path=place, expected=expected, got=_got(fault.value, secret))
        )
    return tuple(told.values())[:MOST_TOLD]


def call_error(found: Sequence[InvalidArgument], example: Json) -> CallError:
    """The error that tells `found`, and ends with `example` where there is room for it."""
    message = str(found[0])
    ending = _ending(found[0].path, example, LONGEST - len(message))
    for argument in found[1:]:
        if len(f"{message}; {argument}{ending}") >= LONGEST:
            break
        message += f"; {argument}"
    return CallError("W2002", message + ending, path=found[0].path, invalid_arguments=tuple(found))


def _got(value: Json, secret: bool) -> str:
    if value is MISSING:
        return "nothing"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    return kind(value) if isinstance(value, dict) or secret else shown(value)


def _hidden(path: Path, sensitive: Collection[str]) -> int | None:
    """How many steps of `path` may be told when what is there may not; `None` when all may.

    What stands above a sensitive property is hidden too: it may have been sent as a string.
    """
    named = [length for length, step in enumerate(path, start=1) if isinstance(step, str)]
    names = [path[length - 1] for length in named]
    for entry in sensitive:
        secret = path_names(entry)
        shared = min(len(names), len(secret))
        if tuple(names[:shared]) == secret[:shared]:
            return named[len(secret) - 1] if len(secret) <= len(named) else len(path)
    return None


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    return f"{text[: longest // 2]}…{text[1 - longest // 2 :]}"


def _ending(path: str, example: Json, room: int) -> str:
    """The smallest valid example: of all arguments, else of the one at fault, else none.

    Args:
        path: What is at fault first.
        example: Of all arguments.
        room: How many characters there are, of which an example may have most.
    """
    if example is None:
        return ""
    room = min(room, LONGEST * 2 // 3)
    ending = f". Smallest valid example: {_json(example)}"
    if len(ending) < room:
        return ending
    name = path.partition(".")[0].partition("[")[0]
    if name not in example:
        return ""
    ending = f". Smallest valid example of {name}: {_json(example[name])}"
    return ending if len(ending) < room else ""


def _json(value: Json) -> str:
    """`value` as JSON; in Python's words, which know integers of any length."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
