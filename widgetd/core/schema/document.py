"""Resolve a schema's references, so each part knows its targets.

A reference leads to a place in the same schema, by pointer, by anchor or by address: nothing is
ever fetched.

Source: JSON Schema 2020-12 core, sections 8.2 and 9.2, and 2019-09 core, section 8.2.4.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import TypeAlias
from urllib.parse import unquote, urldefrag, urljoin

from widgetd.base.errors import WidgetError
from widgetd.base.limits import Limits
from widgetd.base.text_search import did_you_mean
from widgetd.core.schema.json_values import Json, copy_json, error_at, pointer, resolve_pointer
from widgetd.core.schema.keywords import NAMED, REACHES, Reach, Subschema, list_parts

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
"""Keywords that are newer than a draft, and so have no effect in it."""
# In these drafts a `$ref` disables every keyword beside it.
DRAFTS_WITH_LONE_REF = ("draft-04", "draft-06", "draft-07")
BESIDE_REF = frozenset({"$ref", "$schema", "$defs", "definitions"})


_Scope: TypeAlias = Mapping[str, Mapping[str, Json]]
"""The target of a dynamic reference, by anchor."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SchemaDocument:
    """A schema with all its references resolved.

    Attributes:
        root: The schema, never changed.
        size: The number of subschemas after expansion, each recursion followed once.
        is_dynamic: Whether the target of some reference depends on the way to it. Each subschema
            then exists once for every such way.
        apart: The JSON pointers of the subschemas below no keyword, reached only by reference.
    """

    root: Mapping[str, Json]
    size: int
    is_dynamic: bool
    apart: tuple[str, ...]
    _targets: Mapping[int, tuple[Subschema, ...]] = field(repr=False)
    _nodes: Mapping[int, _Node] = field(repr=False)
    _copies: Mapping[int, _Node] = field(repr=False)

    def targets(self, schema: Subschema) -> tuple[Subschema, ...]:
        return self._targets.get(id(schema), ())

    def at(self, schema: Subschema) -> str:
        return (self._nodes.get(id(schema)) or self._copies[id(schema)]).at

    def reach(self, schema: Subschema, *keywords: str) -> Iterator[Mapping[str, Json]]:
        """Yield `schema` and its parts by reference or by `keywords`, without repetition."""
        waiting = deque([schema])
        visited: set[int] = set()
        while waiting:
            part = waiting.popleft()
            if not isinstance(part, bool) and id(part) not in visited:
                visited.add(id(part))
                yield part
                waiting.extend(self.targets(part))
                waiting.extend(inner for keyword in keywords for inner in part.get(keyword, ()))

    def subschemas(self) -> Iterator[Mapping[str, Json]]:
        """Yield every part of this document but booleans, as written, outer before inner."""
        return (node.schema for node in self._nodes.values())


def read_document(schema: dict[str, Json], limits: Limits) -> SchemaDocument:
    """Resolve every reference in `schema`.

    Args:
        schema: A private copy, in which each subschema is a different object. It must not change.
        limits: Its maximum size.

    Raises:
        WidgetError: A reference leads outside (W1202), to nothing or in a circle
            (W1201), or the schema is too large (W1203). `at` points into `schema`.
    """
    draft = next((draft for draft in SILENT if draft in str(schema.get("$schema"))), "")
    root: Mapping[str, Json] = copy_json(schema, limits.json_depth) if draft else schema
    references = _References(root, limits.schema_nodes, draft)
    size = references.count
    if references.targets:
        references.refuse_circles()
        size = references.size()
    if size > limits.schema_nodes:
        written = f"{size:,}" if size < 10**9 else "more than a billion"
        raise _build_size_error(written, limits.schema_nodes)
    if references.is_dynamic:
        root = references.copy_by_scope()
    return SchemaDocument(
        root=root,
        size=size,
        is_dynamic=references.is_dynamic,
        apart=tuple(references.apart),
        _targets=references.targets,
        _nodes=references.nodes,
        _copies=references.copies,
    )


def drop_keywords(
    schema: Mapping[str, Json], is_left_out: Callable[[str, Json], bool], deepest: int
) -> dict[str, Json]:
    """Copy `schema`, and leave some keywords out of it and of all its subschemas.

    Raises:
        WidgetError: It nests deeper than `deepest` (W1103).
    """
    root: dict[str, Json] = copy_json(dict(schema), deepest)
    waiting = [root]
    while waiting:
        part = waiting.pop()
        for keyword in [key for key, value in part.items() if is_left_out(key, value)]:
            del part[keyword]
        waiting += [inner.schema for inner in list_parts(part) if isinstance(inner.schema, dict)]
    return root


def _build_size_error(size: str, limit: int) -> WidgetError:
    problem = f"the schema expands to {size} subschemas"
    return error_at("W1203", "", problem, f"keep it to {limit:,}")


@dataclass(frozen=True, slots=True, eq=False)
class _Node:
    """A subschema: its JSON pointer, and the base address of references in it."""

    at: str
    schema: Mapping[str, Json]
    base: str


class _References:
    """The subschemas of a schema, and the targets of the references in each.

    Attributes:
        nodes: The subschemas except booleans, by identity, in the order of the text.
        targets: The targets of the references directly in a subschema, by its identity.
        possible: The same, with every other possible target of a dynamic reference.
        copies: A subschema for each scope of its use, if a reference is dynamic.
        is_dynamic: Whether a reference is.
        apart: The JSON pointers of the subschemas reached only by reference.
        count: The number of subschemas.

    Raises:
        WidgetError: A reference leads outside (W1202) or nowhere (W1201), or there are
            more subschemas than `limit` (W1203).
    """

    def __init__(self, root: Mapping[str, Json], limit: int, draft: str) -> None:
        self.nodes: dict[int, _Node] = {}
        self.targets: dict[int, tuple[Subschema, ...]] = {}
        self.possible: dict[int, tuple[Subschema, ...]] = {}
        self.copies: dict[int, _Node] = {}
        self.is_dynamic = False
        self.apart: list[str] = []
        # The anchor of each replaceable target, in the order of `targets`.
        self._target_anchors: dict[int, tuple[str | None, ...]] = {}
        self.count = 0
        self._root = root
        self._limit = limit
        self._silent = SILENT.get(draft, frozenset())
        self._has_lone_ref = draft in DRAFTS_WITH_LONE_REF
        # Only draft 2019-09 has `$recursiveRef`.
        is_2019 = draft == "draft/2019-09"
        self._keywords = tuple(k for k in REFERENCES if is_2019 or k != "$recursiveRef")
        self._naming = "id" if draft == "draft-04" else "$id"
        self._resources: dict[str, Mapping[str, Json]] = {}
        self._anchors: dict[tuple[str, str], Mapping[str, Json]] = {}
        # By a resource's address, the schemas named by its dynamic anchors.
        self._dynamic: dict[str, dict[str, Mapping[str, Json]]] = {}
        self._index(_Node("", root, ""))
        resolved: set[int] = set()
        while waiting := [key for key in self.nodes if key not in resolved]:
            # More nodes appear when a reference leads to a place below no keyword.
            for key in waiting:
                self._resolve(self.nodes[key])
                resolved.add(key)

    def size(self) -> int:
        """Count the subschemas after replacing every reference by its target."""
        sizes: dict[int, int] = {}
        for component in _find_components(
            self.nodes, lambda key: self._list_onward(key, "same", "inside")
        ):
            onward = [
                key for node in component for key in self._list_onward(node, "same", "inside")
            ]
            inner = [part for node in component for part in list_parts(self.nodes[node].schema)]
            own = len(component) + sum(isinstance(part.schema, bool) for part in inner)
            # A size still unknown is the component's own.
            outside = sum(sizes.get(key, 0) for key in onward)
            sizes.update(dict.fromkeys(component, own + outside))
        return sizes[id(self._root)]

    def refuse_circles(self) -> None:
        """Refuse references back to themselves while the value stays the same.

        Raises:
            WidgetError: There is such a reference (W1201).
        """
        for component in _find_components(self.nodes, lambda key: self._list_onward(key, "same")):
            if len(component) > 1 or component[0] in self._list_onward(component[0], "same"):
                nodes = [self.nodes[key] for key in component if key in self.targets]
                node = min(nodes, key=lambda node: node.at)
                keyword = next(keyword for keyword in REFERENCES if keyword in node.schema)
                raise error_at(
                    "W1201",
                    node.at + pointer(keyword),
                    "this reference leads back to itself without looking any deeper",
                    "let the recursion pass through a property or an item",
                )

    def _list_onward(self, key: int, *reaches: Reach) -> list[int]:
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
            node = self._register(node)
            inner = list(list_parts(node.schema))
            self.count += 1 + sum(isinstance(part.schema, bool) for part in inner)
            if self.count > self._limit:
                raise _build_size_error(f"more than {self._limit:,}", self._limit)
            waiting.extend(
                _Node(node.at + part.pointer, part.schema, node.base)
                for part in reversed(inner)
                if not isinstance(part.schema, bool)
            )

    def _register(self, node: _Node) -> _Node:
        """Register `node` under each of its names, and return it with its declared address.

        Keywords without effect in the draft are deleted from its schema.
        """
        schema, base = node.schema, node.base
        if isinstance(schema, dict):
            is_lone = self._has_lone_ref and isinstance(schema.get("$ref"), str)
            for keyword in schema.keys() - BESIDE_REF if is_lone else schema.keys() & self._silent:
                del schema[keyword]
        name = schema.get(self._naming, "")
        if isinstance(name, str) and (name or not node.at):
            if name.startswith("#"):  # until draft 7, an anchor
                self._anchors.setdefault((base, name[1:]), schema)
            elif name:
                base = _join_address(base, name)[0]
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
        anchors: list[str | None] = []
        others: list[Subschema] = []
        for keyword in self._keywords:
            if isinstance(reference := node.schema.get(keyword), str):
                target = self._find_target(node, keyword, reference)
                anchor = _find_dynamic_anchor(keyword, reference, target)
                targets.append(target)
                anchors.append(anchor)
                if anchor is not None:
                    self.is_dynamic = True
                    others += [named[anchor] for named in self._dynamic.values() if anchor in named]
        if targets:
            self.targets[id(node.schema)] = tuple(targets)
            self.possible[id(node.schema)] = (*targets, *others)
            self._target_anchors[id(node.schema)] = tuple(anchors)

    def copy_by_scope(self) -> Mapping[str, Json]:
        """Copy the root, with a copy of each subschema for every scope of its use.

        Raises:
            WidgetError: There are too many (W1203).
        """
        copies: dict[tuple[int, frozenset[tuple[str, int]]], dict[str, Json]] = {}
        waiting: list[tuple[_Node, dict[str, Json], _Scope]] = []

        def enter(schema: Json, scope: _Scope) -> Json:
            if not isinstance(schema, Mapping):
                return schema
            node = self.nodes[id(schema)]
            # The outermost resource with the anchor decides.
            scope = {**self._dynamic.get(node.base, {}), **scope}
            key = id(schema), frozenset((anchor, id(target)) for anchor, target in scope.items())
            if key not in copies:
                if len(copies) >= self._limit:
                    raise _build_size_error(f"more than {self._limit:,}", self._limit)
                copies[key] = copy = dict(schema)
                self.copies[id(copy)] = _Node(node.at, copy, node.base)
                waiting.append((node, copy, scope))
            return copies[key]

        root: Mapping[str, Json] = enter(self._root, {})
        while waiting:
            node, copy, scope = waiting.pop()
            for keyword, value in node.schema.items():
                if REACHES.get(keyword, "apart") != "apart":
                    copy[keyword] = _enter_parts(keyword, value, partial(enter, scope=scope))
            if targets := self.targets.get(id(node.schema)):
                self.targets[id(copy)] = tuple(
                    enter(target if anchor is None else scope.get(anchor, target), scope)
                    for target, anchor in zip(
                        targets, self._target_anchors[id(node.schema)], strict=True
                    )
                )
        return root

    def _find_target(self, node: _Node, keyword: str, reference: str) -> Subschema:
        at = node.at + pointer(keyword)
        if reference.startswith("#"):
            address, fragment = node.base, reference[1:]
        else:
            address, fragment = _join_address(node.base, reference)
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
            target = resolve_pointer(resource, fragment)
            if isinstance(target, Mapping):
                holder = self.nodes[id(resource)]
                if id(target) not in self.nodes:
                    self.apart.append(holder.at + fragment)
                self._index(_Node(holder.at + fragment, target, holder.base))
        if isinstance(target, (Mapping, bool)):
            return target
        places = (f"#{node.at}" for node in self.nodes.values())
        definitions = tuple(at for at in places if at.startswith(("#/$defs/", "#/definitions/")))
        advice = did_you_mean(reference, definitions, "define it under $defs")
        raise error_at("W1201", at, f"'{reference}' leads to no schema", advice)


def _enter_parts(keyword: str, value: Json, enter: Callable[[Json], Json]) -> Json:
    if isinstance(value, list):
        return [enter(part) for part in value]
    if keyword in NAMED and isinstance(value, dict):
        return {name: enter(part) for name, part in value.items()}
    return enter(value)


def _find_dynamic_anchor(keyword: str, reference: str, target: Subschema) -> str | None:
    if isinstance(target, bool) or keyword == "$ref":
        return None
    if keyword == "$recursiveRef":
        return "" if target.get("$recursiveAnchor") is True else None
    anchor = reference.rpartition("#")[2]
    return anchor if target.get("$dynamicAnchor") == anchor else None


def _join_address(base: str, reference: str) -> tuple[str, str]:
    try:
        address, fragment = urldefrag(urljoin(base, reference))
    except ValueError:  # not an address, so outside the file
        return reference, ""
    return address, fragment


def _find_components(
    nodes: Iterable[int], edges: Callable[[int], Iterable[int]]
) -> list[tuple[int, ...]]:
    """Find the strongly connected components of a graph, each after all its successors.

    Iterative, because a chain of references may be longer than Python's stack is deep.

    Source: R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    components: list[tuple[int, ...]] = []
    order: dict[int, int] = {}
    low: dict[int, int] = {}
    unassigned: list[int] = []
    settled: set[int] = set()
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
                    components.append(tuple(component))
                    settled.update(component)
            elif step in order:
                low[node] = min(low[node], order[step])
            else:
                order[step] = low[step] = len(order)
                unassigned.append(step)
                walk.append((step, iter(edges(step))))
    return components
