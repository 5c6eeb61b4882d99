"""Read a schema as a document of its own: every reference in it leads somewhere in it.

What is read is a private copy, so that one subschema is one object and the
caller's later changes change nothing. It refuses to know what keywords other
than references mean, and it never fetches anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote, urldefrag, urljoin

from widgetd.errors import Finding, WidgetError, nearest
from widgetd.widget.cycles import components
from widgetd.widget.jsonvalues import copied
from widgetd.widget.limits import Limits
from widgetd.widget.subschemas import Json, Subschema, parts, pointer

# In these drafts a `$ref` hides every keyword beside it.
HIDING_DRAFTS = ("draft-04", "draft-06", "draft-07")
BESIDE_REF = frozenset({"$ref", "$schema", "$defs", "definitions"})
REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One subschema: where it stands, and the address that references in it start from."""

    at: str
    schema: Mapping[str, Json]
    base: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Document:
    """A schema that is complete in itself.

    Attributes:
        root: The schema; a private copy, never changed.
        size: How many subschemas it expands to, each recursion followed once.
    """

    root: Mapping[str, Json]
    size: int
    _targets: Mapping[int, tuple[Subschema, ...]] = field(repr=False)
    _places: Mapping[int, str] = field(repr=False)

    def targets(self, schema: Subschema) -> tuple[Subschema, ...]:
        """What the references directly in `schema`, a part of this document, lead to."""
        return self._targets.get(id(schema), ())

    def at(self, schema: Subschema) -> str:
        """The JSON pointer of `schema`, a part of this document that is no boolean."""
        return self._places[id(schema)]

    def subschemas(self) -> Iterator[Mapping[str, Json]]:
        """Every part of this document that is no boolean."""
        waiting: list[Subschema] = [self.root]
        seen: set[int] = set()
        while waiting:
            schema = waiting.pop()
            if isinstance(schema, bool) or id(schema) in seen:
                continue
            seen.add(id(schema))
            yield schema
            waiting.extend(part.schema for part in parts(schema))
            waiting.extend(self.targets(schema))


def read_document(schema: object, limits: Limits) -> Document:
    """Copy `schema` and resolve every reference in it.

    Raises:
        WidgetError: A reference leads outside (W1202), to nothing or in a circle
            (W1201), or the schema is too large (W1203). `at` points into `schema`.
    """
    root = copied(schema, limits.json_depth)
    if not isinstance(root, dict):
        raise _fault("W1204", "", f"the schema is {root!r}", 'write {"type": "object", …}')
    if any(draft in str(root.get("$schema")) for draft in HIDING_DRAFTS):
        _hide_siblings(root)
    reader = _Reader(root, limits.schema_nodes)
    reader.read()
    return Document(root=root, size=reader.size(), _targets=reader.targets, _places=reader.places())


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


class _Reader:
    """What is known of a schema while its references are being resolved."""

    def __init__(self, root: Mapping[str, Json], limit: int) -> None:
        self.targets: dict[int, tuple[Subschema, ...]] = {}
        self._root = root
        self._limit = limit
        self._count = 0
        self._nodes: dict[int, Node] = {}
        self._resources: dict[str, Mapping[str, Json]] = {}
        self._anchors: dict[tuple[str, str], Mapping[str, Json]] = {}
        self._dynamic: dict[str, list[Subschema]] = {}
        # What a reference may lead to, whichever way the schema is entered.
        self._possible: dict[int, tuple[Subschema, ...]] = {}

    def read(self) -> None:
        """Index every subschema, then resolve every reference."""
        self._index(Node("", self._root, ""))
        resolved: set[int] = set()
        while waiting := [key for key in self._nodes if key not in resolved]:
            # More appear where a reference leads to a place that no keyword holds.
            for key in waiting:
                self._resolve(self._nodes[key])
                resolved.add(key)
        self._refuse_circles()

    def places(self) -> dict[int, str]:
        return {key: node.at for key, node in self._nodes.items()}

    def size(self) -> int:
        """How many subschemas there are when every reference is replaced by what it leads to."""
        sizes: dict[int, int] = {}
        for component in components(self._nodes, self._leads_to):
            onward = [key for node in component for key in self._leads_to(node)]
            own = sum(1 + self._booleans(node) for node in component)
            total = own + sum(sizes[key] for key in onward if key not in component)
            sizes.update(dict.fromkeys(component, total))
        size = sizes[id(self._root)]
        if size > self._limit:
            raise self._too_large(f"{size:,}" if size < 10**9 else "more than a billion")
        return size

    def _index(self, start: Node) -> None:
        waiting = [start]
        while waiting:
            node = self._enter(waiting.pop())
            if node is None:
                continue
            inner = list(parts(node.schema))
            self._count += 1 + sum(isinstance(part.schema, bool) for part in inner)
            if self._count > self._limit:
                raise self._too_large(f"more than {self._limit:,}")
            waiting.extend(
                Node(node.at + part.pointer, part.schema, node.base)
                for part in reversed(inner)
                if not isinstance(part.schema, bool)
            )

    def _enter(self, node: Node) -> Node | None:
        """Note the names of a subschema seen for the first time."""
        key = id(node.schema)
        if key in self._nodes:
            return None
        base = self._base(node)
        self._nodes[key] = node = Node(node.at, node.schema, base)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := node.schema.get(keyword), str):
                self._anchors.setdefault((base, anchor), node.schema)
        if isinstance(anchor := node.schema.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(anchor, []).append(node.schema)
        if node.schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", []).append(node.schema)
        return node

    def _base(self, node: Node) -> str:
        name = node.schema.get("$id", node.schema.get("id"))
        if node.at == "" or (isinstance(name, str) and not name.startswith("#")):
            base = urldefrag(urljoin(node.base, name if isinstance(name, str) else "")).url
            self._resources.setdefault(base, node.schema)
            return base
        if isinstance(name, str):
            self._anchors.setdefault((node.base, name[1:]), node.schema)
        return node.base

    def _resolve(self, node: Node) -> None:
        targets: list[Subschema] = []
        possible: list[Subschema] = []
        for keyword in REFERENCES:
            if isinstance(reference := node.schema.get(keyword), str):
                target = self._target(node, keyword, reference)
                others = self._dynamic_targets(keyword, reference, target)
                # The scope entered first decides; that of the root is entered before all others.
                targets.append(others[0] if others else target)
                possible += [*others, target]
        if targets:
            self.targets[id(node.schema)] = tuple(targets)
            self._possible[id(node.schema)] = tuple(possible)

    def _dynamic_targets(self, keyword: str, reference: str, target: Subschema) -> list[Subschema]:
        if isinstance(target, bool) or keyword == "$ref":
            return []
        anchor = reference.rpartition("#")[2]
        marked = (
            target.get("$dynamicAnchor") == anchor
            if keyword == "$dynamicRef"
            else target.get("$recursiveAnchor") is True
        )
        return self._dynamic.get(anchor, []) if marked else []

    def _target(self, node: Node, keyword: str, reference: str) -> Subschema:
        at = node.at + pointer(keyword)
        if reference.startswith("#"):
            address, fragment = node.base, reference[1:]
        else:
            address, fragment = urldefrag(urljoin(node.base, reference))
        resource = self._resources.get(address)
        if resource is None:
            raise _fault(
                "W1202",
                at,
                f"'{reference}' lies outside this file, and nothing is ever fetched",
                "put that schema under $defs and refer to it as '#/$defs/…'",
            )
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchored(at, reference, (address, fragment))
        return self._pointed(at, reference, self._nodes[id(resource)], fragment)

    def _anchored(self, at: str, reference: str, anchor: tuple[str, str]) -> Subschema:
        if anchor not in self._anchors:
            raise self._leads_nowhere(at, reference)
        return self._anchors[anchor]

    def _pointed(self, at: str, reference: str, resource: Node, fragment: str) -> Subschema:
        target: object = resource.schema
        for step in fragment.split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            if isinstance(target, Mapping) and name in target:
                target = target[name]
            elif isinstance(target, list) and name.isdecimal() and int(name) < len(target):
                target = target[int(name)]
            else:
                raise self._leads_nowhere(at, reference)
        if isinstance(target, Mapping):
            self._index(Node(resource.at + fragment, target, resource.base))
        elif not isinstance(target, bool):
            raise self._leads_nowhere(at, reference)
        return target

    def _leads_nowhere(self, at: str, reference: str) -> WidgetError:
        known = tuple(
            f"#{node.at}"
            for node in self._nodes.values()
            if node.at.startswith(("/$defs/", "/definitions/"))
        )
        meant = nearest(reference, known)
        advice = f"did you mean '{meant}'?" if meant else "define it under $defs"
        return _fault("W1201", at, f"'{reference}' leads to no schema", advice)

    def _refuse_circles(self) -> None:
        for component in components(self._nodes, self._decided_with):
            node = component[0]
            if len(component) > 1 or node in self._decided_with(node):
                raise self._circle(component)

    def _circle(self, component: Iterable[int]) -> WidgetError:
        nodes = [self._nodes[key] for key in component if key in self.targets]
        node = min(nodes, key=lambda node: node.at)
        keyword = next(keyword for keyword in REFERENCES if keyword in node.schema)
        return _fault(
            "W1201",
            node.at + pointer(keyword),
            "this reference leads back to itself without looking any deeper",
            "let the recursion pass through a property or an item",
        )

    def _decided_with(self, key: int) -> list[int]:
        """The subschemas that the same value is held against."""
        same = [part.schema for part in parts(self._nodes[key].schema) if part.reach == "same"]
        return self._keys([*same, *self._possible.get(key, ())])

    def _leads_to(self, key: int) -> list[int]:
        used = [part.schema for part in parts(self._nodes[key].schema) if part.reach != "apart"]
        return self._keys([*used, *self._possible.get(key, ())])

    def _keys(self, schemas: Iterable[Subschema]) -> list[int]:
        return [id(schema) for schema in schemas if not isinstance(schema, bool)]

    def _booleans(self, key: int) -> int:
        return sum(isinstance(part.schema, bool) for part in parts(self._nodes[key].schema))

    def _too_large(self, size: str) -> WidgetError:
        return _fault(
            "W1203",
            "",
            f"the schema expands to {size} subschemas",
            f"keep it to {self._limit:,}",
        )


def _fault(code: str, at: str, problem: str, advice: str) -> WidgetError:
    return WidgetError(Finding(code=code, at=at, problem=problem, advice=advice))
