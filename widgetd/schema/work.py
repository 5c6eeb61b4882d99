"""What deciding about arguments may cost, said before it is tried.

jsonschema-rs keeps the interpreter while it decides, in whatever thread. A value is held to all
that its place in the schema leads to, so the work is counted by a walk over the value and those
places, without deciding anything: every alternative counts, and every condition.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from widgetd.schema.applicators import element_parts
from widgetd.schema.document import Document, Subschema, parts
from widgetd.schema.json_values import Json, size

MOST = 1_500_000
"""Values held to a subschema; each takes a sixth of a microsecond at most."""

# A unit lets a text of so many characters be looked through.
CHARACTERS = 64


class Work:
    """Counts what the engine may have to do for a value; remembers the places of one document."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._places: dict[frozenset[int], _Place] = {}
        self._left = 0
        # What the walk cannot find to be more: a comparison looks at all that is within, as do
        # those on the few levels above it.
        compared = max(map(_comparisons, document.subschemas()), default=0)
        self._at_most = (document.size + 1) * (1 + 8 * compared)

    def is_too_much(self, value: Json) -> bool:
        """Whether holding `value`, which is JSON, to the document may take more than `MOST`."""
        if size(value, MOST) * self._at_most <= MOST:
            return False
        self._left = MOST
        try:
            self._count(value, self._place((self._document.root,)))
        except _TooMuchError:
            return True
        return False

    def _count(self, value: Json, place: _Place) -> int:
        """Pay for `value` and all within it; of how many values it is made."""
        count = 1
        self._left -= place.parts
        if isinstance(value, str):
            self._left -= place.parts * (len(value) // CHARACTERS)
        elif isinstance(value, dict):
            keys = len(value) + sum(map(len, value)) // CHARACTERS if place.keyed else 0
            self._left -= place.keyed * keys
            for name, inner in value.items():
                count += self._count(inner, self._within(place, name))
        elif isinstance(value, list):
            for index, inner in enumerate(value):
                count += self._count(inner, self._within(place, min(index, place.placed)))
        self._left -= place.compared * count
        if self._left < 0:
            raise _TooMuchError
        return count

    def _within(self, place: _Place, step: str | int) -> _Place:
        inner = place.within.get(step)
        if inner is None:
            inner = self._place(part for held in place.held for part in _inner(held, step))
            place.within[step] = inner
        return inner

    def _place(self, schemas: Iterable[Subschema]) -> _Place:
        # The engine remembers what it held against what, so each is entered once.
        entered = {id(schema): schema for schema in schemas if isinstance(schema, Mapping)}
        key = frozenset(entered)
        if key not in self._places:
            place = _Place(list(self._held(entered.values())))
            place.keyed += sum(
                len(list(self._held([part["propertyNames"]])))
                for part in place.held
                if "propertyNames" in part
            )
            self._left -= place.parts
            self._places[key] = place
        return self._places[key]

    def _held(self, schemas: Iterable[Subschema]) -> Iterator[Mapping[str, Json]]:
        """All that a value is held to where it is held to `schemas`, each as often as it is."""
        waiting = list(schemas)
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, Mapping):
                yield schema
                waiting += self._document.targets(schema)
                waiting += [part.schema for part in parts(schema) if part.reach == "same"]


class _TooMuchError(Exception):
    """There is more to do than may be."""


class _Place:
    """What a value at one place is held to.

    Attributes:
        held: The subschemas.
        parts: How many they are.
        keyed: How many of them look at each key.
        compared: How often the whole value is hashed, or compared with another.
        placed: From which element on all are held to the same.
        within: By name or index, the places in it.
    """

    __slots__ = ("compared", "held", "keyed", "parts", "placed", "within")

    def __init__(self, held: list[Mapping[str, Json]]) -> None:
        self.held = held
        self.parts = len(held)
        self.keyed = sum(len(part.get("patternProperties", ())) for part in held)
        self.compared = sum(map(_comparisons, held))
        self.placed = max((len(element_parts(part)[0]) for part in held), default=0)
        self.within: dict[str | int, _Place] = {}


def _comparisons(part: Mapping[str, Json]) -> int:
    offered = part["enum"] if isinstance(part.get("enum"), list) else [part.get("const")]
    return (part.get("uniqueItems") is True) + sum(
        isinstance(choice, (dict, list)) for choice in offered
    )


def _inner(schema: Mapping[str, Json], step: str | int) -> Iterator[Subschema]:
    """What the property or element at `step` may be held to, whatever else is true of it."""
    if isinstance(step, int):
        first, rest = element_parts(schema)
        yield first[step] if step < len(first) else rest
        yield schema.get("contains", True)
        yield schema.get("unevaluatedItems", True)
        return
    named = schema.get("properties", {})
    if step in named:
        yield named[step]
    else:
        yield schema.get("additionalProperties", True)
    yield from schema.get("patternProperties", {}).values()
    yield schema.get("unevaluatedProperties", True)
