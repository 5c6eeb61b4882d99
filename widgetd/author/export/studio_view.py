"""The JSX of a widget for Studio's editor: an element, without schema, sample and imports."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from widgetd.base.text_search import compile_pattern
from widgetd.core.template.jsx import View
from widgetd.core.template.jsx.parse import parse
from widgetd.core.template.jsx.syntax import ELEMENTS, unwrap
from widgetd.core.template.jsx.view import statements
from widgetd.core.template.lexer import Lines, normalise

if TYPE_CHECKING:
    from widgetd.base.limits import Limits
    from widgetd.core.template.jsx.parse import Node


@dataclass(frozen=True, slots=True, kw_only=True)
class StudioView:
    """The JSX of an export.

    Attributes:
        text: The element, or all code needed to draw it.
        beside: The line of each statement beside the element, by its name.
    """

    text: str
    beside: Mapping[str, int]

    def compile(self, limits: Limits) -> View:
        return View(self.text, limits)


def cut_view(text: str, *, limits: Limits) -> StudioView:
    """Cut the schema, the sample, imports and `export default` out of compilable JSX."""
    program, lines = parse(text, limits), Lines(text)
    kept = [node for node in statements(program) if node.kind != "import_statement"]
    elements = [unwrap(_value(node)) for node in kept]
    if len(kept) == 1 and elements[0].kind in ELEMENTS:
        return StudioView(text=elements[0].text, beside={})
    beside = {
        _HEAD.match(node.excerpt)[0].strip(): lines.location(node.start)[0]  # type: ignore[index]  # matches always
        for node, element in zip(kept, elements, strict=True)
        if element.kind not in ELEMENTS
    }
    source, parts, end = normalise(text), list[str](), 0
    for node in program.children:
        parts.append(source[end : node.start])
        end = node.start + len(node.text)
        if node in kept:
            parts.append(_value(node).text if "value" in node.fields else node.text)
    parts.append(source[end:])
    return StudioView(text="".join(parts).strip(), beside=beside)


_HEAD: Final = compile_pattern(r"[^=(]*")
"""The beginning of a statement: `const total`, `function Row`."""


def _value(node: Node) -> Node:
    if node.kind == "expression_statement":
        return node.children[0]
    return node.fields.get("value", node)
