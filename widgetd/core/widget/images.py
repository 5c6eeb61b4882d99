"""Find the origins of a tree's images, and the origins blocked by a host.

A host loads images only from the declared origins of a widget. Otherwise the author of an
argument could learn, from the requests for an image, who looks at the widget.

Source: MCP Apps 2026-01-26, "Content Security Policy".
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from widgetd.base.limits import DEFAULTS
from widgetd.base.text_search import compile_pattern, read_tokens

if TYPE_CHECKING:
    from widgetd.core.template.jsx.parse import Node

ORIGIN = r"^https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$"
"""An origin that images may be allowed to come from: `https://*.example.com`."""

_OF_IMAGE = compile_pattern(rb"https?://[^/?#\"\\\s]{1,253}")
_OF_STYLE = compile_pattern(rb"https?://[^/?#\"\\\s')]{1,253}")


def find_image_origins(tree: bytes) -> frozenset[str]:
    """Return the origins of the images in a tree's JSON: `{"https://images.example.com"}`."""
    # A pattern over the whole tree takes several times as long, at each call.
    text, at, origins = tree.lower(), 0, set()
    for before in text.split(b"http")[:-1]:
        at += len(before)
        pattern = None
        if before.rstrip().endswith((b'"src":"', b'"favicon":"')):
            pattern = _OF_IMAGE
        elif before.removesuffix(b"'").removesuffix(b'\\"').rstrip().endswith(b"url("):
            pattern = _OF_STYLE
        if pattern and (origin := pattern.match(text, at)):
            origins.add(origin[0].decode(errors="replace").lower())
        at += len(b"http")
    return frozenset(origins)


_LITERAL = compile_pattern(
    r"""["'](?:url\(\s*\\?["']?)?(https://[A-Za-z0-9.-]+(?::\d{1,5})?)(?:[/?#)\\][^"'{\n]*)?["']"""
)
_CAPTURES = frozenset({"endset", "endmacro", "endcall", "endfilter", "filter"})
"""Tags of blocks whose text is a value of an expression."""


@lru_cache(maxsize=512)
def find_literal_origins(text: str, is_template: bool) -> frozenset[str]:
    """Return the origins of images with a complete address in the source.

    An address with an expression can carry an argument to its host, so the operator must
    name its origin. The same holds of a string within an expression, possibly a part of
    an address.
    """
    if "https://" not in text:
        return frozenset()
    literals = _join_data(text) if is_template else "\n".join(_list_attributes(text))
    return frozenset(literal[1] for literal in read_tokens(_LITERAL, literals))


# The text outside of tags, with a brace for each tag.
def _join_data(template: str) -> str:
    from widgetd.core.template.lexer import normalise, tokens  # noqa: PLC0415 - starts need no lexer

    cut = tokens(normalise(template)) or []
    if any(token.type == "name" and token.value in _CAPTURES for token in cut):
        return ""
    return "".join(
        token.value if token.type == "data" else "{"
        for token in cut
        if token.type in {"data", "variable_begin", "block_begin"}
    )


# Strings that are whole values of attributes, in quotation marks.
def _list_attributes(view: str) -> Iterator[str]:
    from widgetd.core.template.jsx.parse import parse  # noqa: PLC0415 - starts need no parser
    from widgetd.core.template.parser import Fault  # noqa: PLC0415

    try:
        nodes = [parse(view, DEFAULTS)]
    except Fault:
        return
    while nodes:
        node = nodes.pop()
        nodes += node.children
        if node.kind == "jsx_attribute" and len(node.children) > 1:
            yield from _list_choices(node.children[-1])


def _list_choices(value: Node) -> Iterator[str]:
    """Yield the possible results of an expression, as they are."""
    from widgetd.core.template.jsx.syntax import unwrap  # noqa: PLC0415

    value = unwrap(value)
    operator = value.fields.get("operator")
    if value.kind == "string":
        yield value.text
    elif value.kind == "ternary_expression" or (operator and operator.text in {"||", "&&", "??"}):
        for name in ("consequence", "alternative", "left", "right"):
            if name in value.fields:
                yield from _list_choices(value.fields[name])
    elif value.kind in {"object", "pair"}:
        for node in [value.fields["value"]] if value.kind == "pair" else value.children:
            yield from _list_choices(node)


def find_blocked(origins: Collection[str], allowed: Collection[str]) -> tuple[str, ...]:
    return tuple(sorted(o for o in origins if not any(_admits(a, o) for a in allowed)))


def _admits(allowed: str, origin: str) -> bool:
    before, wildcard, after = allowed.partition("*")
    if not wildcard:
        return allowed == origin
    return origin.startswith(before) and origin.endswith(after) and len(origin) > len(allowed) - 1
