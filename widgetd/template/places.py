"""A read of an argument, and what is known at the place where it stands."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from widgetd.template.paths import Names


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """One place where a template reads an argument.

    Attributes:
        path: What is read, as `legs[].from.city`.
        line: Where, in the template's text.
        guarded: Whether the template provides for its absence: by `default`, by a
            condition on it, or because the read is itself such a condition.
        known: The paths that are certainly there at this place.
        index: Whether it is a loop's position that the exporter forgot to bind,
            if no argument has that name.
    """

    path: str
    line: int
    guarded: bool
    known: frozenset[str]
    index: bool = False


@dataclass(frozen=True, slots=True)
class Place:
    """Where the reader stands.

    Attributes:
        names: What each bound name stands for: a path, or None where that is not certain.
        known: The paths that are certainly there.
        tested: Whether the value only decides something, so that absence is no matter.
        turning: Whether this is in a loop.
    """

    names: Names = field(default_factory=dict)
    known: frozenset[str] = frozenset()
    tested: bool = False
    turning: bool = False

    def binding(self, names: Mapping[str, str | None]) -> Place:
        """Here, with `names` bound."""
        return Place({**self.names, **names}, self.known, self.tested, self.turning)

    def knowing(self, known: Iterable[str]) -> Place:
        """Here, with the paths `known` certainly there."""
        return Place(self.names, self.known.union(known), self.tested, self.turning)

    def testing(self, tested: bool = True) -> Place:
        """Here, where a value only decides something."""
        return Place(self.names, self.known, tested, self.turning)

    def in_loop(self) -> Place:
        """Here, inside a loop."""
        return Place(self.names, self.known, self.tested, turning=True)
