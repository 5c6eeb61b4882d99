"""Put what is wrong with a call into words that its caller can act on.

Short, because a model reads it; free of whatever the widget calls sensitive. It
refuses to know how the faults were found.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import orjson

from widgetd.errors import CallError, Slip
from widgetd.widget.arguments.describe import shown
from widgetd.widget.arguments.document import Document
from widgetd.widget.arguments.faults import NOTHING, Fault
from widgetd.widget.arguments.subschemas import Json
from widgetd.widget.jsonvalues import Path, dotted, kind

LONGEST = 600
MOST_SLIPS = 5
LONGEST_PATH = 80


def slips(
    document: Document, faults: Sequence[Fault], sensitive: Collection[str]
) -> tuple[Slip, ...]:
    """`faults` as a caller may see them, each place once, at most five."""
    told: dict[str, Slip] = {}
    for fault in faults:
        path = fault.path
        hidden = _hidden(path, sensitive)
        if hidden is not None:
            path = path[:hidden]
        place = _shortened(dotted(path))
        told.setdefault(
            place, Slip(path=place, expected=fault.expected(document), got=_got(fault, hidden))
        )
    return tuple(told.values())[:MOST_SLIPS]


def refusal(found: Sequence[Slip], example: Json) -> CallError:
    """The error that tells `found`, and ends with `example` where there is room for it."""
    ending = _ending(found[0].path, example)
    message = str(found[0])
    for slip in found[1:]:
        if len(f"{message}; {slip}{ending}") >= LONGEST:
            break
        message += f"; {slip}"
    return CallError("W2002", message + ending, path=found[0].path, slips=tuple(found))


def _got(fault: Fault, hidden: int | None) -> str:
    value = fault.value
    if value is NOTHING:
        return "nothing"
    if isinstance(value, list):
        return f"an array of {len(value)}"
    if isinstance(value, dict) or hidden is not None:
        return kind(value)
    return shown(value)


def _hidden(path: Path, sensitive: Collection[str]) -> int | None:
    """How much of `path` may be told when what is there may not; `None` when all may.

    What stands above a sensitive property is hidden too: it may have been sent as a string.
    """
    names = [step for step in path if isinstance(step, str)]
    for entry in sensitive:
        secret = entry.replace("[]", "").split(".")
        shared = min(len(names), len(secret))
        if names[:shared] == secret[:shared]:
            return _length(path, len(secret))
    return None


def _length(path: Path, names: int) -> int:
    """How many steps of `path` lead to and include the first `names` property names."""
    seen = 0
    for length, step in enumerate(path, start=1):
        seen += isinstance(step, str)
        if seen == names:
            return length
    return len(path)


def _shortened(path: str) -> str:
    if len(path) <= LONGEST_PATH:
        return path
    return f"{path[: LONGEST_PATH // 2]}…{path[1 - LONGEST_PATH // 2 :]}"


def _ending(path: str, example: Json) -> str:
    """The smallest valid example: of all arguments, else of the one at fault, else none."""
    if example is None:
        return ""
    ending = f". Smallest valid example: {orjson.dumps(example).decode()}"
    if len(ending) <= LONGEST * 2 // 3:
        return ending
    name = path.partition(".")[0].partition("[")[0]
    if name not in example:
        return ""
    ending = f". Smallest valid example of {name}: {orjson.dumps(example[name]).decode()}"
    return ending if len(ending) <= LONGEST * 2 // 3 else ""
