"""The merge of an edited template with the JSX, where the exporter lost some of the JSX.

Each call renders the template, the JSX, and the JSX as Studio exports it. Where the template
differs from the export, the author edited it, and its value is taken; everywhere else the JSX's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.text_search import compare_sequences
from widgetd.core.schema.json_values import copy_exact
from widgetd.core.template.template import Rendering
from widgetd.core.widget.components import tree

if TYPE_CHECKING:
    from widgetd.core.template import Template
    from widgetd.core.template.ir import Program
    from widgetd.core.template.jsx import View
    from widgetd.core.template.references import Read


class MergedDrawing:
    """A template and the JSX beside it, rendered as one.

    Args:
        template: The template as it is served.
        literal: The same, read as other engines read it.
        view: The JSX.
        exported: The JSX as the exporter transcribes it.

    Attributes:
        sources: The literal template, the exported JSX and the JSX, whose trees are merged.
    """

    def __init__(
        self, *, template: Template, literal: Template, view: View, exported: View
    ) -> None:
        self.template = template
        self.view = view
        self.sources = literal, exported, view

    @property
    def reads(self) -> tuple[Read, ...]:
        """Return the reads of arguments in either source."""
        return (*self.template.reads, *self.view.reads)

    @property
    def names(self) -> frozenset[str]:
        """Return the names of the arguments that either source reads."""
        return self.template.names | self.view.names

    def program(self) -> Program | None:
        """Return None: a page would need a second merge beside its evaluator, for few files."""
        return None

    def render(self, arguments: Mapping[str, Any]) -> str:
        """Return the JSON of the tree for `arguments`."""
        return self.rendering(arguments).text

    def rendering(self, arguments: Mapping[str, Any]) -> Rendering:
        """Return the JSON and its cost; that of the template alone where another source fails."""
        own = self.template.rendering(arguments)
        try:
            made = [source.rendering(arguments) for source in self.sources]
            edited, exported, original = (tree(each.text) for each in made)
        except (CallError, WidgetError):
            return own
        merged = merge(_unwrap(edited), _unwrap(exported), original)
        steps = own.steps + sum(each.steps for each in made)
        return Rendering(orjson.dumps(merged).decode(), repaired=own.repaired, steps=steps)


def merge(edited: Any, exported: Any, original: Any) -> Any:
    """Merge three trees: what was edited in the exported one wins over the original."""
    if _same(edited, exported):
        return original
    if isinstance(edited, dict) and isinstance(exported, dict) and isinstance(original, dict):
        if edited.get("type") != exported.get("type"):
            return edited
        values = {
            key: merge(edited.get(key), exported.get(key), original.get(key))
            for key in dict.fromkeys([*edited, *original])
        }
        return {key: value for key, value in values.items() if value is not None}
    if isinstance(edited, list) and isinstance(exported, list) and isinstance(original, list):
        return list(_merge_lists(edited, exported, original))
    return edited


def _unwrap(value: Any) -> Any:
    """Return a tree in which each object that the exporter made a `Text` of is that object."""
    if isinstance(value, list):
        return [_unwrap(each) for each in value]
    if not isinstance(value, dict):
        return value
    inner = value.get("value") if value.get("type") == "Text" else None
    if isinstance(inner, dict):
        return _unwrap(inner)
    return {key: _unwrap(each) for key, each in value.items()}


def _merge_lists(edited: list[Any], exported: list[Any], original: list[Any]) -> Iterator[Any]:
    """Yield the edited elements, each merged with its counterparts.

    What the exporter lost as a whole follows the element that it followed in the original.
    """
    exported_of = _pair(edited, exported)
    original_of = _pair(exported, original)
    lost = set(range(len(original))) - set(original_of.values())
    at = 0

    def lost_before(end: int) -> Iterator[Any]:
        return (original[each] for each in range(at, end) if each in lost)

    for index, element in enumerate(edited):
        counterpart = exported_of.get(index)
        source = None if counterpart is None else original_of.get(counterpart)
        if counterpart is None or source is None:
            yield element
            continue
        yield from lost_before(source)
        at = max(at, source + 1)
        yield merge(element, exported[counterpart], original[source])
    yield from lost_before(len(original))


def _pair(left: list[Any], right: list[Any]) -> dict[int, int]:
    """Return the positions in `right` of the elements of `left`: equal ones, then by type."""
    pairs: dict[int, int] = {}
    one, other = ([copy_exact(orjson.dumps(each)) for each in side] for side in (left, right))
    for are_equal, ours, theirs in compare_sequences(one, other):
        if are_equal:
            pairs |= zip(ours, theirs, strict=True)
        else:
            pairs |= _pair_by_kind(left, ours, right, theirs)
    return pairs


def _pair_by_kind(
    left: list[Any], ours: range, right: list[Any], theirs: range
) -> Iterator[tuple[int, int]]:
    kinds = [_kind(left[at]) for at in ours], [_kind(right[at]) for at in theirs]
    for are_equal, some, others in compare_sequences(*kinds):
        # Of a long list, of which a loop made the elements, those in the same places.
        for at, to in zip(some, others, strict=are_equal):
            if kinds[0][at] == kinds[1][to]:
                yield ours[at], theirs[to]


def _kind(value: Any) -> str:
    return str(value.get("type", "")) if isinstance(value, dict) else type(value).__name__


def _same(left: Any, right: Any) -> bool:
    return bool(left == right) and orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        right, option=orjson.OPT_SORT_KEYS
    )
