"""Paths declared by a schema, such as `legs[].from.city`.

Every branch counts, because any may apply. Below a value without a description, all paths count
as declared.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from widgetd.base.text_search import compile_pattern, nearest, read_tokens
from widgetd.core.checks.limits import LIMITS
from widgetd.core.schema.document import SchemaDocument
from widgetd.core.schema.json_values import Json
from widgetd.core.schema.keywords import Subschema, list_parts, split_elements
from widgetd.core.schema.phrase import join_alternatives

_STEP = compile_pattern(r"\[\]|[^.\[\]]+")
_TELLING = frozenset(
    {"type", "enum", "const", "properties", "patternProperties", "items", "prefixItems", "required"}
)
"""Keywords by which a schema describes the inside of a value, or excludes one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndeclaredPath:
    """A path outside the schema.

    Attributes:
        path: The path up to and including the first undeclared name.
        name: The undeclared name.
        declared: The names declared in its place.
        idle: The only declared name without a reader, if there is exactly a single such name.
    """

    path: str
    name: str
    declared: tuple[str, ...]
    idle: str | None = None

    @property
    def _near(self) -> str | None:
        return nearest(self.name, self.declared)

    @property
    def meant(self) -> str | None:
        name = self._near or self.idle
        return name and self.sibling(name)

    def sibling(self, name: str) -> str:
        return self.path[: len(self.path) - len(self.name)] + name

    @property
    def advice(self) -> str:
        if near := self._near:
            return f"did you mean '{near}'?"
        if self.idle:
            return f"did you mean '{self.idle}', which is never used?"
        if not self.declared:
            return "declare it"
        return f"declare it, or use {join_alternatives(self.declared[: LIMITS.named_fields])}"


class DeclaredPaths:
    """The paths of a schema.

    Args:
        document: The schema.
        state: Names of the local state. All paths below them are declared.
    """

    def __init__(self, document: SchemaDocument, state: Collection[str] = ()) -> None:
        self._document = document
        self._state = frozenset(state)
        self._applied: dict[int, list[Subschema]] = {}

    def find_undeclared(self, path: str, *, through_lists: bool = False) -> UndeclaredPath | None:
        """Find where `path` leaves the schema, None if it does not.

        Args:
            path: For example `legs[].from`.
            through_lists: Whether `legs.from` may stand for `legs[].from`.
        """
        here = self._with_applied([self._document.root])
        walked, steps = "", split_path(path)
        if not self._state.isdisjoint(steps[:1]):
            return None
        for step in steps:
            inner = self._elements(here) if step == "[]" else self._property(here, step)
            if inner is None and through_lists:
                here = self._with_applied(self._elements(here)) or here
                inner = self._property(here, step)
            if inner is None:
                names = tuple(name for name, _ in self._list_properties(here))
                dotted = f"{walked}.{step}" if walked else step
                return UndeclaredPath(path=dotted, name=step, declared=names)
            if not inner:
                return None
            walked += step if step == "[]" or not walked else f".{step}"
            here = self._with_applied(inner)
        return None

    @cached_property
    def fields(self) -> tuple[tuple[str, str], ...]:
        pointers: dict[str, str] = {}
        for path, schema in self._below("", [self._document.root], 0, frozenset()):
            pointers.setdefault(path, "" if isinstance(schema, bool) else self._document.at(schema))
        return tuple(pointers.items())

    def _below(
        self, path: str, schemas: list[Subschema], depth: int, above: frozenset[int]
    ) -> Iterator[tuple[str, Subschema]]:
        here = [schema for schema in self._with_applied(schemas) if id(schema) not in above]
        above = above | {id(schema) for schema in here}
        if depth == LIMITS.depth:
            return
        for name, part in self._list_properties(here):
            inner = f"{path}.{name}" if path else name
            yield inner, part
            yield from self._below(inner, [part], depth + 1, above)
        elements = self._elements(here)
        if elements:
            yield from self._below(f"{path}[]", elements, depth + 1, above)

    def _with_applied(self, schemas: Iterable[Subschema]) -> list[Mapping[str, Json]]:
        around: dict[int, Mapping[str, Json]] = {}
        waiting = list(schemas)
        for schema in waiting:  # grows during the loop
            if not isinstance(schema, bool) and id(schema) not in around:
                around[id(schema)] = schema
                waiting += self._list_applied(schema)
        return list(around.values())

    def _list_applied(self, schema: Mapping[str, Json]) -> list[Subschema]:
        if id(schema) not in self._applied:
            beside = [
                part.schema
                for part in list_parts(schema)
                if part.reach == "same" and part.pointer != "/not"
            ]
            self._applied[id(schema)] = [*beside, *self._document.targets(schema)]
        return self._applied[id(schema)]

    def _list_properties(self, here: Iterable[Mapping[str, Json]]) -> list[tuple[str, Subschema]]:
        return [pair for schema in here for pair in schema.get("properties", {}).items()]

    def _property(self, here: list[Mapping[str, Json]], name: str) -> list[Subschema] | None:
        properties = [schema.get("properties", {}) for schema in here]
        matches = [named[name] for named in properties if name in named]
        if matches:
            return matches
        says_nothing = not any(schema.keys() & _TELLING for schema in here)
        admits_others = any(
            "patternProperties" in schema or schema.get("additionalProperties") not in (None, False)
            for schema in here
        )
        return [] if says_nothing or admits_others else None

    def _elements(self, here: list[Mapping[str, Json]]) -> list[Subschema]:
        elements: list[Subschema] = []
        for schema in here:
            first, rest = split_elements(schema)
            elements += [*first, rest]
        return [part for part in elements if not isinstance(part, bool)]


def split_path(path: str) -> list[str]:
    """Split a path into steps: `legs`, `[]`, `from`."""
    return [step[0] for step in read_tokens(_STEP, path)]
