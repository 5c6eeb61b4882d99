"""A schema as a document of its own: where it holds further schemas, where references lead.

One table of keywords serves every draft. A reference leads to a place in the same schema,
by pointer, by anchor or by address: nothing is ever fetched.

Source: JSON Schema 2020-12 core, sections 8.2 and 9.2; 2019-09 core, section 8.2.4.2.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias, TypeVar
from urllib.parse import unquote, urldefrag, urljoin

from widgetd.errors import WidgetError
from widgetd.limits import Limits
from widgetd.schema.json_values import Json, copied, error_at, pointed, pointer, steps
from widgetd.schema.keywords import NAMED, REACHES, Reach, Subschema, list_parts
from widgetd.text_search import did_you_mean

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_SINCE_2020 = frozenset({"prefixItems", "$dynamicRef"})
_SINCE_2019 = _SINCE_2020 | {
    *("dependentRequired", "dependentSchemas", "minContains", "maxContains"),
    *("unevaluatedItems", "unevaluatedProperties"),
}
_SINCE_7 = _SINCE_2019 | {"if", "then", "else"}
SILENT: Mapping[str, frozenset[str]] = {
    "draft-04": _SINCE_7 | {"contains", "propertyNames"},
    "draft-06": _SINCE_7,
    "draft-07": _SINCE_2019,
    "draft/2019-09": _SINCE_2020,
}
"""Keywords that came later than a draft, in which they say nothing."""
# In these drafts a `$ref` hides every keyword beside it.
HIDING_DRAFTS = ("draft-04", "draft-06", "draft-07")
BESIDE_REF = frozenset({"$ref", "$schema", "$defs", "definitions"})


_Scope: TypeAlias = Mapping[str, Mapping[str, Json]]
"""By anchor, what a dynamic reference leads to."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """A schema that is complete in itself.

    Attributes:
        root: The schema; never changed.
        size: How many subschemas it expands to, each recursion followed once.
        is_dynamic: Whether a reference leads to where the way there says; then each subschema
            stands in it once for every such way.
    """

    root: Mapping[str, Json]
    size: int
    is_dynamic: bool
    _targets: Mapping[int, tuple[Subschema, ...]] = field(repr=False)
    _nodes: Mapping[int, _Node] = field(repr=False)
    _copies: Mapping[int, _Node] = field(repr=False)

    def targets(self, schema: Subschema) -> tuple[Subschema, ...]:
        """What the references directly in `schema`, a part of this document, lead to."""
        return self._targets.get(id(schema), ())

    def at(self, schema: Subschema) -> str:
        """The JSON pointer of `schema`, a part of this document that is no boolean."""
        return (self._nodes.get(id(schema)) or self._copies[id(schema)]).at

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
    root: Mapping[str, Json] = schema
    draft = next((draft for draft in SILENT if draft in str(schema.get("$schema"))), None)
    if draft is not None:
        root = heard = without(schema, SILENT[draft], limits.json_depth)
        if draft in HIDING_DRAFTS:
            _drop_what_references_hide(heard)
    references = _References(root, limits.schema_nodes)
    size = references.count
    if references.targets:
        references.refuse_circles()
        size = references.size()
    if size > limits.schema_nodes:
        said = f"{size:,}" if size < 10**9 else "more than a billion"
        raise _too_large(said, limits.schema_nodes)
    if references.is_dynamic:
        root = references.copied_by_scope()
    return Document(
        root=root,
        size=size,
        is_dynamic=references.is_dynamic,
        _targets=references.targets,
        _nodes=references.nodes,
        _copies=references.copies,
    )


def without(schema: Mapping[str, Json], keywords: frozenset[str], deepest: int) -> dict[str, Json]:
    """A copy of `schema` in which none of its schemas has one of `keywords`.

    Raises:
        WidgetError: It nests deeper than `deepest` (W1103).
    """
    root: dict[str, Json] = copied(dict(schema), deepest)
    waiting = [root]
    while waiting:
        part = waiting.pop()
        for keyword in part.keys() & keywords:
            del part[keyword]
        waiting += [inner.schema for inner in list_parts(part) if isinstance(inner.schema, dict)]
    return root


def _drop_what_references_hide(value: object) -> None:
    if isinstance(value, dict) and isinstance(value.get("$ref"), str):
        for key in value.keys() - BESIDE_REF:
            del value[key]
    for _, inner in steps(value):
        _drop_what_references_hide(inner)


def _too_large(size: str, limit: int) -> WidgetError:
    problem = f"the schema expands to {size} subschemas"
    return error_at("W1203", "", problem, f"keep it to {limit:,}")


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """One subschema: where it stands, and the address that references in it start from."""

    at: str
    schema: Mapping[str, Json]
    base: str


class _References:
    """Every subschema of a schema, and what the references in each lead to.

    Attributes:
        nodes: The subschemas that are no booleans, by identity, in the order they are written.
        targets: What the references directly in a subschema lead to, by its identity.
        possible: The same, and whatever else a dynamic reference may lead to.
        copies: A subschema for each scope that it is entered in, where a reference is dynamic.
        is_dynamic: Whether one is.
        count: How many subschemas there are.

    Raises:
        WidgetError: A reference leads outside (W1202) or nowhere (W1201), or there are
            more subschemas than `limit` (W1203).
    """

    def __init__(self, root: Mapping[str, Json], limit: int) -> None:
        self.nodes: dict[int, _Node] = {}
        self.targets: dict[int, tuple[Subschema, ...]] = {}
        self.possible: dict[int, tuple[Subschema, ...]] = {}
        self.copies: dict[int, _Node] = {}
        self.is_dynamic = False
        self.count = 0
        self._root = root
        self._limit = limit
        # Only one draft knows this one.
        is_2019 = "draft/2019-09" in str(root.get("$schema"))
        self._keywords = tuple(k for k in REFERENCES if is_2019 or k != "$recursiveRef")
        self._naming = "id" if "draft-04" in str(root.get("$schema")) else "$id"
        self._resources: dict[str, Mapping[str, Json]] = {}
        self._anchors: dict[tuple[str, str], Mapping[str, Json]] = {}
        # By the address of a resource, what each of its dynamic anchors names.
        self._dynamic: dict[str, dict[str, Mapping[str, Json]]] = {}
        self._index(_Node("", root, ""))
        resolved: set[int] = set()
        while waiting := [key for key in self.nodes if key not in resolved]:
            # More appear where a reference leads to a place that no keyword holds.
            for key in waiting:
                self._resolve(self.nodes[key])
                resolved.add(key)

    def size(self) -> int:
        """How many subschemas there are when every reference is replaced by what it leads to."""
        sizes: dict[int, int] = {}
        for component in _components(self.nodes, lambda key: self._led_to(key, "same", "inside")):
            onward = [key for one in component for key in self._led_to(one, "same", "inside")]
            inner = [part for one in component for part in list_parts(self.nodes[one].schema)]
            own = len(component) + sum(isinstance(part.schema, bool) for part in inner)
            # What is not known yet is the component itself.
            outside = sum(sizes.get(key, 0) for key in onward)
            sizes.update(dict.fromkeys(component, own + outside))
        return sizes[id(self._root)]

    def refuse_circles(self) -> None:
        """Refuse references that lead back to where they stand while the value is the same.

        Raises:
            WidgetError: There is one (W1201).
        """
        for component in _components(self.nodes, lambda key: self._led_to(key, "same")):
            if len(component) > 1 or component[0] in self._led_to(component[0], "same"):
                nodes = [self.nodes[key] for key in component if key in self.targets]
                node = min(nodes, key=lambda node: node.at)
                keyword = next(keyword for keyword in REFERENCES if keyword in node.schema)
                raise error_at(
                    "W1201",
                    node.at + pointer(keyword),
                    "this reference leads back to itself without looking any deeper",
                    "let the recursion pass through a property or an item",
                )

    def _led_to(self, key: int, *reaches: Reach) -> list[int]:
        """The subschemas that one leads to, by reference or by a keyword of one of `reaches`."""
        inner = [
            part.schema for part in list_parts(self.nodes[key].schema) if part.reach in reaches
        ]
        onward = [*inner, *self.possible.get(key, ())]
        return [id(schema) for schema in onward if not isinstance(schema, bool)]

    def _index(self, start: _Node) -> None:
        waiting = [start]
        while waiting:
            node = waiting.pop()
            if id(node.schema) in self.nodes:
                continue
            node = self._named(node)
            inner = list(list_parts(node.schema))
            self.count += 1 + sum(isinstance(part.schema, bool) for part in inner)
            if self.count > self._limit:
                raise _too_large(f"more than {self._limit:,}", self._limit)
            waiting.extend(
                _Node(node.at + part.pointer, part.schema, node.base)
                for part in reversed(inner)
                if not isinstance(part.schema, bool)
            )

    def _named(self, node: _Node) -> _Node:
        """`node` with the address that it gives itself, entered under each of its names."""
        schema, base = node.schema, node.base
        name = schema.get(self._naming, "")
        if isinstance(name, str) and (name or not node.at):
            if name.startswith("#"):  # until draft 7, an anchor
                self._anchors.setdefault((base, name[1:]), schema)
            elif name:
                base = _joined(base, name)[0]
            self._resources.setdefault(base, schema)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := schema.get(keyword), str):
                self._anchors.setdefault((base, anchor), schema)
        if isinstance(anchor := schema.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(base, {}).setdefault(anchor, schema)
        if schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault(base, {}).setdefault("", schema)
        self.nodes[id(schema)] = named = _Node(node.at, schema, base)
        return named

    def _resolve(self, node: _Node) -> None:
        targets: list[Subschema] = []
        possible: list[Subschema] = []
        for keyword in self._keywords:
            if isinstance(reference := node.schema.get(keyword), str):
                target = self._target(node, keyword, reference)
                targets.append(target)
                possible.append(target)
                anchor = _dynamic_anchor(keyword, reference, target)
                if anchor is not None:
                    self.is_dynamic = True
                    possible += [
                        named[anchor] for named in self._dynamic.values() if anchor in named
                    ]
        if targets:
            self.targets[id(node.schema)] = tuple(targets)
            self.possible[id(node.schema)] = tuple(possible)

    def copied_by_scope(self) -> Mapping[str, Json]:
        """The root, in which each subschema stands once for every scope that it is entered in.

        Raises:
            WidgetError: There are too many (W1203).
        """
        made: dict[tuple[int, frozenset[tuple[str, int]]], dict[str, Json]] = {}
        waiting: list[tuple[_Node, dict[str, Json], _Scope]] = []

        def entered(schema: Json, scope: _Scope) -> Json:
            if not isinstance(schema, Mapping):
                return schema
            node = self.nodes[id(schema)]
            # Of the resources on the way, the first that has an anchor decides.
            scope = {**self._dynamic.get(node.base, {}), **scope}
            key = id(schema), frozenset((anchor, id(target)) for anchor, target in scope.items())
            if key not in made:
                if len(made) >= self._limit:
                    raise _too_large(f"more than {self._limit:,}", self._limit)
                made[key] = copy = dict(schema)
                self.copies[id(copy)] = _Node(node.at, copy, node.base)
                waiting.append((node, copy, scope))
            return made[key]

        root: Mapping[str, Json] = entered(self._root, {})
        while waiting:
            node, copy, scope = waiting.pop()
            for keyword, value in node.schema.items():
                if REACHES.get(keyword, "apart") != "apart":
                    copy[keyword] = _entered_parts(keyword, value, partial(entered, scope=scope))
            if id(node.schema) in self.targets:
                self.targets[id(copy)] = tuple(
                    entered(target if anchor is None else scope.get(anchor, target), scope)
                    for anchor, target in self._led_by_anchor(node.schema)
                )
        return root

    def _led_by_anchor(self, schema: Mapping[str, Json]) -> Iterator[tuple[str | None, Subschema]]:
        """What the references in `schema` lead to, each with the anchor that may lead elsewhere."""
        held = (keyword for keyword in self._keywords if isinstance(schema.get(keyword), str))
        for keyword, target in zip(held, self.targets[id(schema)], strict=True):
            yield _dynamic_anchor(keyword, schema[keyword], target), target

    def _target(self, node: _Node, keyword: str, reference: str) -> Subschema:
        at = node.at + pointer(keyword)
        if reference.startswith("#"):
            address, fragment = node.base, reference[1:]
        else:
            address, fragment = _joined(node.base, reference)
        resource = self._resources.get(address)
        if resource is None:
            raise error_at(
                "W1202",
                at,
                f"'{reference}' lies outside this file, and nothing is ever fetched",
                "put that schema under $defs and refer to it as '#/$defs/…'",
            )
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            target: object = self._anchors.get((address, fragment))
        else:
            target = pointed(resource, fragment)
            if isinstance(target, Mapping):
                holder = self.nodes[id(resource)]
                self._index(_Node(holder.at + fragment, target, holder.base))
        if isinstance(target, (Mapping, bool)):
            return target
        places = (f"#{node.at}" for node in self.nodes.values())
        known = tuple(at for at in places if at.startswith(("#/$defs/", "#/definitions/")))
        advice = did_you_mean(reference, known, "define it under $defs")
        raise error_at("W1201", at, f"'{reference}' leads to no schema", advice)


def _entered_parts(keyword: str, value: Json, entered: Callable[[Json], Json]) -> Json:
    """The `value` of a keyword that holds schemas, with each of them as it is entered."""
    if isinstance(value, list):
        return [entered(part) for part in value]
    if keyword in NAMED and isinstance(value, dict):
        return {name: entered(part) for name, part in value.items()}
    return entered(value)


def _dynamic_anchor(keyword: str, reference: str, target: Subschema) -> str | None:
    """The anchor by which a reference is led elsewhere; None where it leads to its `target`."""
    if isinstance(target, bool) or keyword == "$ref":
        return None
    if keyword == "$recursiveRef":
        return "" if target.get("$recursiveAnchor") is True else None
    anchor = reference.rpartition("#")[2]
    return anchor if target.get("$dynamicAnchor") == anchor else None


def _joined(base: str, reference: str) -> tuple[str, str]:
    """The address that `reference` stands for, seen from `base`, and the fragment."""
    try:
        address, fragment = urldefrag(urljoin(base, reference))
    except ValueError:  # no address at all, and so outside
        return reference, ""
    return address, fragment


_Key = TypeVar("_Key", bound=Hashable)


def _components(
    nodes: Iterable[_Key], edges: Callable[[_Key], Iterable[_Key]]
) -> list[tuple[_Key, ...]]:
    """The strongly connected components of a graph, each after every other that it leads to.

    Iterative, because a chain of references may be longer than Python's stack is deep.

    Source: R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    found: list[tuple[_Key, ...]] = []
    order: dict[_Key, int] = {}
    low: dict[_Key, int] = {}
    unassigned: list[_Key] = []
    settled: set[_Key] = set()
    for start in nodes:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        unassigned.append(start)
        walk = [(start, iter(edges(start)))]
        while walk:
            node, onward = walk[-1]
            step = next((n for n in onward if n not in settled), None)
            if step is None:
                walk.pop()
                if walk:
                    above = walk[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    component = [unassigned.pop()]
                    while component[-1] != node:
                        component.append(unassigned.pop())
                    found.append(tuple(component))
                    settled.update(component)
            elif step in order:
                low[node] = min(low[node], order[step])
            else:
                order[step] = low[step] = len(order)
                unassigned.append(step)
                walk.append((step, iter(edges(step))))
    return found
