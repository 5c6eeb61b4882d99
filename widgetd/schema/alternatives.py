"""Compare a value with an alternative from outside, without descending into either.

What is seen at a glance is certain, but seldom all: an alternative that looks
right may still not fit. It refuses to know what does not fit, if not a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from widgetd.schema.applicable import needed
from widgetd.schema.assertions import Texts, fails
from widgetd.schema.document import Document
from widgetd.schema.effort import GLANCE, MARK, Effort
from widgetd.schema.faults import Fault
from widgetd.schema.subschemas import Json, Subschema

MARKS = frozenset({"const", "enum"})
# What a value of another type costs when alternatives are compared.
MISFIT = 1_000


class Outside(NamedTuple):
    """What there is to see of a schema.

    Attributes:
        parts: The schema, and what it refers to.
        marks: The properties by whose fixed values its objects are told from others.
    """

    parts: tuple[Mapping[str, Json], ...]
    marks: tuple[tuple[str, Mapping[str, Json]], ...]


class Glances:
    """Looks at alternatives of one schema; remembers what there is to see of each.

    Args:
        document: The schema.
        texts: Decides about patterns and formats.
        effort: Pays for looking at several alternatives.
    """

    def __init__(self, document: Document, texts: Texts, effort: Effort) -> None:
        self._document = document
        self._texts = texts
        self._effort = effort
        self._seen: dict[int, Outside] = {}
        self._likely: dict[tuple[int, int], tuple[Sequence[Subschema], Json]] = {}

    def likeliest(self, parts: Sequence[Subschema], value: Json) -> Sequence[Subschema]:
        """Of several alternatives the first that `value` misfits least; all, where none will do."""
        key = (id(parts), id(value))
        if key not in self._likely:
            self._likely[key] = (self._nearest(parts, value), value)
        return self._likely[key][0]

    def _nearest(self, parts: Sequence[Subschema], value: Json) -> Sequence[Subschema]:
        best, least = parts[0], MISFIT
        for part in parts:
            self._effort.left -= MARK
            if not self.other_mark(part, value):
                self._effort.left -= GLANCE
                misfit = self._misfit(part, value)
                if misfit < least:
                    best, least = part, misfit
            if not least or self._effort.exhausted:
                break
        return [best] if least < MISFIT or self._effort.exhausted else parts

    def other_mark(self, schema: Subschema, value: Json) -> Fault | None:
        """The property by which `value` says that it is not meant for `schema`."""
        if isinstance(schema, bool) or not isinstance(value, dict):
            return None
        for name, part in self._outside(schema).marks:
            if name in value:
                keyword = fails(part, value[name], self._texts)
                if keyword in MARKS:
                    return Fault((name, ()), keyword, value[name], part)
        return None

    def _misfit(self, schema: Subschema, value: Json) -> int:
        """How badly `value` fits `schema`, marks aside; 0 where nothing is wrong from outside."""
        if isinstance(schema, bool):
            return 0 if schema else MISFIT
        lacking = 0
        for part in self._outside(schema).parts:
            if fails(part, value, self._texts):
                return MISFIT
            if isinstance(value, dict):
                lacking += sum(name not in value for name in needed(part, value))
        return lacking

    def _outside(self, schema: Mapping[str, Json]) -> Outside:
        if id(schema) not in self._seen:
            parts = tuple(self._around(schema))
            self._seen[id(schema)] = Outside(parts, tuple(_marks(parts)))
        return self._seen[id(schema)]

    def _around(self, schema: Mapping[str, Json]) -> Iterator[Mapping[str, Json]]:
        waiting: list[Subschema] = [schema]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Mapping):
                yield part
                waiting += self._document.targets(part)


def _marks(parts: Iterable[Mapping[str, Json]]) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for schema in parts:
        for name, part in schema.get("properties", {}).items():
            if isinstance(part, Mapping) and part.keys() & MARKS:
                yield name, part
