"""Which components there are, what each may say and what it may hold.

Read from the installed `chatkit.widgets`, so that it cannot go stale.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel

from widgetd.widget.components.chatkit import widgets
from widgetd.widget.components.shapes import Record, Shape, record, shape

TYPESCRIPT_ONLY = ("Table", "Table.Row", "Table.Cell")
"""Components that Studio and ChatKit's web component know and the Python package does not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Component:
    """One type of component.

    Attributes:
        type: Its name.
        record: Its properties; None where nobody here knows them.
        holds: The types that may be its children; None where any may.
    """

    type: str
    record: Record | None
    holds: frozenset[str] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """Every component and every icon.

    Attributes:
        components: By type.
        icons: The names that may stand alone; `vendor:` and `lucide:` open further sets.
    """

    components: Mapping[str, Component]
    icons: tuple[str, ...]

    def is_icon(self, shape: Shape) -> bool:
        """Whether `shape` is that of a property which names an icon."""
        return bool(self.icons) and shape.values == self.icons


@cache
def vocabulary() -> Vocabulary:
    """The vocabulary of the installed `chatkit.widgets`."""
    chatkit = widgets()
    inner = get_args(get_args(chatkit.StrictWidgetComponent)[0])
    roots = get_args(get_args(chatkit.StrictWidgetRoot)[0])
    common = frozenset(_type(kind) for kind in inner) | frozenset(TYPESCRIPT_ONLY)
    components = {
        _type(kind): Component(type=_type(kind), record=record(kind), holds=_holds(kind, common))
        for kind in (*inner, *roots)
    }
    for name in TYPESCRIPT_ONLY:
        components[name] = Component(type=name, record=None, holds=None)
    return Vocabulary(components=components, icons=shape(chatkit.WidgetIcon).values)


def _type(kind: Any) -> str:
    return str(kind.model_fields["type"].default)


def _holds(kind: Any, common: frozenset[str]) -> frozenset[str] | None:
    """Which types the annotation of `children` names.

    The union of all components names `common`; a list of one class names that class.
    """
    if "children" not in kind.model_fields:
        return frozenset()
    if kind.model_config.get("extra") == "allow":
        return None
    hint = get_type_hints(kind)["children"]
    items = get_args(hint)[0] if get_origin(hint) is list else hint
    if isinstance(items, type) and issubclass(items, BaseModel):
        return frozenset({_type(items)})
    return common
