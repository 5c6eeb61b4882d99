"""The paths that a schema declares: `legs[].from.city`.

Every branch counts, because any may apply. Where a schema does not describe the inside of a value,
everything is declared there.
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
    """A path that leaves what is declared.

    Attributes:
        path: Up to and including the first part that is not declared.
        name: That part.
        known: The names declared in its place.
        idle: The only one of those that is never read; None without one, or with several.
    """

    path: str
    name: str
    known: tuple[str, ...]
    idle: str | None = None

    @property
    def _near(self) -> str | None:
        return nearest(self.name, self.known)

    @property
    def meant(self) -> str | None:
        name = self._near or self.idle
        return name and self.sibling(name)

    def sibling(self, name: str) -> str:
        return self.path[: len(self.path) - len(self.name)] + name

    @property
    def advice(self) -> str:
        """Return the property that was probably meant, or those that exist."""
        if near := self._near:
            return f"did you mean '{near}'?"
        if self.idle:
            return f"did you mean '{self.idle}', which is never used?"
        if not self.known:
            return "declare it"
        return f"declare it, or use {join_alternatives(self.known[: LIMITS.named_fields])}"


class DeclaredPaths:
    """The paths of one schema.

    Args:
        document: The schema.
        state: Names of the local state, below which everything is declared.
    """

    def __init__(self, document: SchemaDocument, state: Collection[str] = ()) -> None:
        self._document = document
        self._state = frozenset(state)
        self._applied: dict[int, list[Subschema]] = {}

    def find_undeclared(self, path: str, *, through_lists: bool = False) -> UndeclaredPath | None:
        """Return where `path` leaves what is declared; None if it does not.

        Args:
            path: As `legs[].from`.
            through_lists: Whether a list may be passed without `[]`, as in `legs.from`.
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
                known = tuple(name for name, _ in self._list_properties(here))
                dotted = f"{walked}.{step}" if walked else step
                return UndeclaredPath(path=dotted, name=step, known=known)
            if not inner:
                return None
            walked += step if step == "[]" or not walked else f".{step}"
            here = self._with_applied(inner)
        return None

    @cached_property
    def fields(self) -> tuple[tuple[str, str], ...]:
        """Return all declared fields with their JSON pointers, outer before inner."""
        found: dict[str, str] = {}
        for path, schema in self._below("", [self._document.root], 0, frozenset()):
            found.setdefault(path, "" if isinstance(schema, bool) else self._document.at(schema))
        return tuple(found.items())

    def _below(
        self, path: str, schemas: list[Subschema], depth: int, above: frozenset[int]
    ) -> Iterator[tuple[str, Subschema]]:
        here = [one for one in self._with_applied(schemas) if id(one) not in above]
        above = above | {id(one) for one in here}
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
                one.schema
                for one in list_parts(schema)
                if one.reach == "same" and one.pointer != "/not"
            ]
            self._applied[id(schema)] = [*beside, *self._document.targets(schema)]
        return self._applied[id(schema)]

    def _list_properties(self, here: Iterable[Mapping[str, Json]]) -> list[tuple[str, Subschema]]:
        return [pair for schema in here for pair in schema.get("properties", {}).items()]

    def _property(self, here: list[Mapping[str, Json]], name: str) -> list[Subschema] | None:
        properties = [schema.get("properties", {}) for schema in here]
        found = [named[name] for named in properties if name in named]
        if found:
            return found
        says_nothing = not any(schema.keys() & _TELLING for schema in here)
        admits_others = any(
            "patternProperties" in schema or schema.get("additionalProperties") not in (None, False)
            for schema in here
        )
        return [] if says_nothing or admits_others else None

    def _elements(self, here: list[Mapping[str, Json]]) -> list[Subschema]:
        found: list[Subschema] = []
        for schema in here:
            first, rest = split_elements(schema)
            found += [*first, rest]
        return [part for part in found if not isinstance(part, bool)]


def split_path(path: str) -> list[str]:
    """Return the steps of a path: `legs`, `[]`, `from`."""
    return [step[0] for step in read_tokens(_STEP, path)]
