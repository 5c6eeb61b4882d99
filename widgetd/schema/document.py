"""Read a schema as a document of its own: every reference in it leads somewhere in it.

It refuses to know what keywords other than references mean, and it never fetches
anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from widgetd.errors import WidgetError
from widgetd.limits import Limits
from widgetd.schema.cycles import components
from widgetd.schema.json_values import copied
from widgetd.schema.references import REFERENCES, Node, References, fault, too_large
from widgetd.schema.subschemas import Json, Subschema, parts, pointer

# In these drafts a `$ref` hides every keyword beside it.
HIDING_DRAFTS = ("draft-04", "draft-06", "draft-07")
BESIDE_REF = frozenset({"$ref", "$schema", "$defs", "definitions"})


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """A schema that is complete in itself.

    Attributes:
        root: The schema; never changed.
        size: How many subschemas it expands to, each recursion followed once.
    """

    root: Mapping[str, Json]
    size: int
    _targets: Mapping[int, tuple[Subschema, ...]] = field(repr=False)
    _nodes: Mapping[int, Node] = field(repr=False)

    def targets(self, schema: Subschema) -> tuple[Subschema, ...]:
        """What the references directly in `schema`, a part of this document, lead to."""
        return self._targets.get(id(schema), ())

    def at(self, schema: Subschema) -> str:
        """The JSON pointer of `schema`, a part of this document that is no boolean."""
        return self._nodes[id(schema)].at

    def subschemas(self) -> Iterator[Mapping[str, Json]]:
        """Every part of this document that is no boolean, as written, outer before inner."""
        return (node.schema for node in self._nodes.values())


def read_document(schema: dict[str, Json], limits: Limits) -> Document:
    """Resolve every reference in `schema`.

    Args:
        schema: A private copy, in which one subschema is one object; nobody changes it.
        limits: How large it may be.

    Raises:
        WidgetError: A reference leads outside (W1202), to nothing or in a circle
            (W1201), or the schema is too large (W1203). `at` points into `schema`.
    """
    root = schema
    if any(draft in str(schema.get("$schema")) for draft in HIDING_DRAFTS):
        root = copied(schema, limits.json_depth)
        _hide_siblings(root)
    references = References(root, limits.schema_nodes)
    size = references.count
    if references.targets:
        _refuse_circles(references)
        size = _size(references, root)
    if size > limits.schema_nodes:
        said = f"{size:,}" if size < 10**9 else "more than a billion"
        raise too_large(said, limits.schema_nodes)
    return Document(root=root, size=size, _targets=references.targets, _nodes=references.nodes)


def _hide_siblings(value: object) -> None:
    if isinstance(value, list):
        for element in value:
            _hide_siblings(element)
    elif isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            for key in value.keys() - BESIDE_REF:
                del value[key]
        for element in value.values():
            _hide_siblings(element)


def _size(references: References, root: Mapping[str, Json]) -> int:
    """How many subschemas there are when every reference is replaced by what it leads to."""
    sizes: dict[int, int] = {}
    for component in components(references.nodes, lambda key: _used(references, key)):
        onward = [key for member in component for key in _used(references, member)]
        own = sum(1 + _booleans(references, member) for member in component)
        # What is not known yet is the component itself.
        outside = sum(sizes.get(key, 0) for key in onward)
        sizes.update(dict.fromkeys(component, own + outside))
    return sizes[id(root)]


def _refuse_circles(references: References) -> None:
    for component in components(references.nodes, lambda key: _held_together(references, key)):
        first = component[0]
        if len(component) > 1 or first in _held_together(references, first):
            raise _circle(references, component)


def _circle(references: References, component: Iterable[int]) -> WidgetError:
    nodes = [references.nodes[key] for key in component if key in references.targets]
    node = min(nodes, key=lambda node: node.at)
    keyword = next(keyword for keyword in REFERENCES if keyword in node.schema)
    return fault(
        "W1201",
        node.at + pointer(keyword),
        "this reference leads back to itself without looking any deeper",
        "let the recursion pass through a property or an item",
    )


def _held_together(references: References, key: int) -> list[int]:
    """The subschemas that the same value is held against."""
    inner = parts(references.nodes[key].schema)
    same = [part.schema for part in inner if part.reach == "same"]
    return _keys([*same, *references.possible.get(key, ())])


def _used(references: References, key: int) -> list[int]:
    inner = parts(references.nodes[key].schema)
    used = [part.schema for part in inner if part.reach != "apart"]
    return _keys([*used, *references.possible.get(key, ())])


def _keys(schemas: Iterable[Subschema]) -> list[int]:
    return [id(schema) for schema in schemas if not isinstance(schema, bool)]


def _booleans(references: References, key: int) -> int:
    return sum(isinstance(part.schema, bool) for part in parts(references.nodes[key].schema))
