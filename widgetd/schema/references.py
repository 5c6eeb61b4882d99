"""Find out where each reference of a schema leads, by pointer, by anchor, or by address.

Only to places in the same schema: nothing is ever fetched. It refuses to know what
keywords other than references mean.

Source: JSON Schema 2020-12 core, sections 8.2 and 9.2; 2019-09 core, section 8.2.4.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, urldefrag, urljoin

from widgetd.errors import Finding, WidgetError, nearest
from widgetd.schema.subschemas import Json, Subschema, parts, pointer

REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """One subschema: where it stands, and the address that references in it start from."""

    at: str
    schema: Mapping[str, Json]
    base: str


class References:
    """Every subschema of a schema, and what the references in each lead to.

    Attributes:
        nodes: The subschemas that are no booleans, by identity, in the order they are written.
        targets: What the references directly in a subschema lead to, by its identity.
        possible: The same, and whatever else a dynamic reference may lead to.
        count: How many subschemas there are.

    Args:
        root: The schema.
        limit: How many subschemas it may have.

    Raises:
        WidgetError: A reference leads outside (W1202) or nowhere (W1201), or there are
            too many subschemas (W1203).
    """

    def __init__(self, root: Mapping[str, Json], limit: int) -> None:
        self.nodes: dict[int, Node] = {}
        self.targets: dict[int, tuple[Subschema, ...]] = {}
        self.possible: dict[int, tuple[Subschema, ...]] = {}
        self._limit = limit
        self.count = 0
        self._naming = "id" if "draft-04" in str(root.get("$schema")) else "$id"
        self._resources: dict[str, Mapping[str, Json]] = {}
        self._anchors: dict[tuple[str, str], Mapping[str, Json]] = {}
        self._dynamic: dict[str, list[Subschema]] = {}
        self._index(Node("", root, ""))
        resolved: set[int] = set()
        while waiting := [key for key in self.nodes if key not in resolved]:
            # More appear where a reference leads to a place that no keyword holds.
            for key in waiting:
                self._resolve(self.nodes[key])
                resolved.add(key)

    def _index(self, start: Node) -> None:
        waiting = [start]
        while waiting:
            node = self._enter(waiting.pop())
            if node is None:
                continue
            inner = list(parts(node.schema))
            self.count += 1 + sum(isinstance(part.schema, bool) for part in inner)
            if self.count > self._limit:
                raise too_large(f"more than {self._limit:,}", self._limit)
            waiting.extend(
                Node(node.at + part.pointer, part.schema, node.base)
                for part in reversed(inner)
                if not isinstance(part.schema, bool)
            )

    def _enter(self, node: Node) -> Node | None:
        """Note the names of a subschema seen for the first time."""
        key = id(node.schema)
        if key in self.nodes:
            return None
        base = self._base(node)
        self.nodes[key] = node = Node(node.at, node.schema, base)
        for keyword in ("$anchor", "$dynamicAnchor"):
            if isinstance(anchor := node.schema.get(keyword), str):
                self._anchors.setdefault((base, anchor), node.schema)
        if isinstance(anchor := node.schema.get("$dynamicAnchor"), str):
            self._dynamic.setdefault(anchor, []).append(node.schema)
        if node.schema.get("$recursiveAnchor") is True:
            self._dynamic.setdefault("", []).append(node.schema)
        return node

    def _base(self, node: Node) -> str:
        name = node.schema.get(self._naming, "")
        if not isinstance(name, str) or (node.at and not name):
            return node.base
        if name.startswith("#"):  # until draft 7, an anchor
            self._anchors.setdefault((node.base, name[1:]), node.schema)
            name = ""
        base = _joined(node.base, name)[0] if name else node.base
        self._resources.setdefault(base, node.schema)
        return base

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
            self.possible[id(node.schema)] = tuple(possible)

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
            address, fragment = _joined(node.base, reference)
        resource = self._resources.get(address)
        if resource is None:
            raise fault(
                "W1202",
                at,
                f"'{reference}' lies outside this file, and nothing is ever fetched",
                "put that schema under $defs and refer to it as '#/$defs/…'",
            )
        fragment = unquote(fragment)
        if fragment and not fragment.startswith("/"):
            return self._anchored(at, reference, (address, fragment))
        return self._pointed(at, reference, self.nodes[id(resource)], fragment)

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
            for node in self.nodes.values()
            if node.at.startswith(("/$defs/", "/definitions/"))
        )
        meant = nearest(reference, known)
        advice = f"did you mean '{meant}'?" if meant else "define it under $defs"
        return fault("W1201", at, f"'{reference}' leads to no schema", advice)


def _joined(base: str, reference: str) -> tuple[str, str]:
    """The address that `reference` stands for, seen from `base`, and the fragment."""
    try:
        address, fragment = urldefrag(urljoin(base, reference))
    except ValueError:  # no address at all, and so outside
        return reference, ""
    return address, fragment


def too_large(size: str, limit: int) -> WidgetError:
    """The fault of a schema that has `size` subschemas."""
    problem = f"the schema expands to {size} subschemas"
    return fault("W1203", "", problem, f"keep it to {limit:,}")


def fault(code: str, at: str, problem: str, advice: str) -> WidgetError:
    """A fault at the pointer `at` of a schema."""
    return WidgetError(Finding(code=code, at=at, problem=problem, advice=advice))
