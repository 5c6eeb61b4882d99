"""A shape in the words of a language, walked once for all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from widgetd.mcp.declarations.shape import (
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Union,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """How a language says what shapes are made of.

    Attributes:
        scalars: Each scalar's name.
        list_of: A list, with `{}` for its element.
        map_of: An object whose names are not known, with `{}` for its values.
        literals: One of some JSON scalars.
    """

    scalars: Mapping[str, str]
    list_of: str
    map_of: str
    literals: Callable[[tuple[Any, ...]], str]


class Language(Protocol):
    """What a module of declarations is written with."""

    HEADER: str
    """Begins a module."""
    BETWEEN: str
    """Stands between two declarations."""

    def declare(self, record: Record) -> str:
        """A type for `record`, under its name."""

    def alias(self, name: str, shape: Shape) -> str:
        """Another name for `shape`."""

    def guard(self, name: str, tool: str, ui_type: str) -> str:
        """A function that narrows a response to the type `name` where it is of `ui_type`."""


def spell(shape: Shape, words: Words) -> str:
    """`shape` as `words` say it; records by their names."""
    match shape:
        case Scalar(name):
            return words.scalars[name]
        case Literals(values):
            return words.literals(values)
        case ListOf(element):
            return words.list_of.format(spell(element, words))
        case MapOf(value):
            return words.map_of.format(spell(value, words))
        case Union(options):
            return " | ".join(spell(option, words) for option in options)
        case Named(name) | Record(name):
            return name
