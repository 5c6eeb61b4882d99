"""Put what is wrong with a call into words that its caller can act on.

Short, because a model reads it; free of whatever the widget calls sensitive.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from widgetd.errors import CallError, InvalidArgument
from widgetd.schema.coerce import replaced
from widgetd.schema.describe import shown
from widgetd.schema.document import Document
from widgetd.schema.faults import MISSING, Fault
from widgetd.schema.json_values import Json, Path, dotted, kind, path_names

# With its code, and what to do next, a message stays under 600 characters.
LONGEST = 560
MOST_TOLD = 5
LONGEST_PATH = 80
LONGEST_EXPECTED = 240
_STEPS = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Arguments that fit, what they are called in an error, and whether others would fit."""

    name: str
    arguments: Mapping[str, Json]
    admits: Callable[[Json], bool]

    def cuts(self, path: str) -> Iterator[tuple[str, Json]]:
        """The arguments, then less and less of them on the way to `path`, each with its place.

        Of an array there is one element, where one is enough.
        """
        yield "", self.arguments
        value: Json = self.arguments
        at: Path = ()
        for name, index in _STEPS.findall(path):
            step = 0 if index else name
            try:
                value, at = value[step], (*at, step)
            except (LookupError, TypeError):
                return
            if isinstance(value, list) and len(value) > 1:
                one = value[:1]
                value = one if self.admits(replaced(self.arguments, {at: one})) else value
            yield dotted(at), value


def invalid_arguments(
    document: Document, faults: Sequence[Fault], sensitive: Collection[str]
) -> tuple[InvalidArgument, ...]:
    """`faults` as a caller may see them, each place once."""
    told: dict[str, InvalidArgument] = {}
    for fault in faults:
        path = fault.path
        hidden = _hidden(path, sensitive)
        path = path[:hidden]
        # A property that is not declared may be a sensitive one whose name came out wrong.
        secret = hidden is not None or (bool(sensitive) and fault.keyword == "additionalProperties")
        place = _shortened(dotted(path), LONGEST_PATH)
        expected = _shortened(fault.expected(document), LONGEST_EXPECTED)
        if fault.value is MISSING:
            got = "nothing"
        elif isinstance(fault.value, list):
            got = f"an array of {len(fault.value)}"
        else:
            is_hidden = secret or isinstance(fault.value, dict)
            got = kind(fault.value) if is_hidden else shown(fault.value)
        told.setdefault(place, InvalidArgument(path=place, expected=expected, got=got))
    return tuple(told.values())


def call_error(
    found: Sequence[InvalidArgument], examples: Iterable[Example], *, more: bool = False
) -> CallError:
    """The error that tells `found`, and ends with an example where there is room for it.

    Args:
        found: What does not fit; at most five of them go with the error, and as many as there is
            room for into its message, which says how many more there are.
        examples: What to end with, best first.
        more: Whether there may be others that were not found.
    """
    message = str(found[0])
    room = LONGEST - len(message) - len(_others(len(found), more=more))
    ending = _ending(found[0].path, examples, min(room, LONGEST * 2 // 3))
    told = 1
    for argument in found[1:MOST_TOLD]:
        left = _others(len(found) - told - 1, more=more)
        if len(f"{message}; {argument}{left}{ending}") >= LONGEST:
            break
        message += f"; {argument}"
        told += 1
    message += _others(len(found) - told, more=more) + ending
    arguments = tuple(found[:MOST_TOLD])
    return CallError("W2002", message, path=found[0].path, invalid_arguments=arguments)


def _others(count: int, *, more: bool) -> str:
    if not count:
        return ""
    return f"; and at least {count} more" if more else f"; and {count} more"


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


def _ending(path: str, examples: Iterable[Example], room: int) -> str:
    """The first of `examples` for which there is room; else what of it stands at `path`."""
    for example in examples:
        for place, value in example.cuts(path):
            of = f" of {place}" if place else ""
            # In Python's words, which know integers of any length.
            text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            ending = f". {example.name}{of}: {text}"
            if len(ending) < room:
                return ending
    return ""
