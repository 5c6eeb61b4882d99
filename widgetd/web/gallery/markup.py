"""HTML that cannot be broken by what stands in it: all text is escaped, once, here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

VOID = frozenset({"input", "meta", "link", "br", "hr", "img"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


Child = str | None | Iterable["Child"]
"""What may stand in an element: text, elements, any number of either, or nothing."""


def el(tag: str, *children: Child, **attributes: str | bool | float | None) -> Markup:
    """One element.

    Args:
        tag: Its name.
        children: Text is escaped, markup is not; None is nothing.
        attributes: `class_` is `class`, `data_tool` is `data-tool`; True stands alone, and None
            and False leave the attribute out.
    """
    opened = tag + "".join(_attribute(name, value) for name, value in attributes.items())
    if tag in VOID:
        return Markup(f"<{opened}>")
    return Markup(f"<{opened}>{''.join(_flat(children))}</{tag}>")


def fragment(*children: Child) -> Markup:
    """Several elements beside each other."""
    return Markup("".join(_flat(children)))


def data_block(json: bytes, **attributes: str) -> Markup:
    """JSON for a script to read; nothing in it can end the block or be run."""
    text = json.decode().replace("<", "\\u003c")
    said = "".join(_attribute(name, value) for name, value in attributes.items())
    return Markup(f'<script type="application/json"{said}>{text}</script>')


def _attribute(name: str, value: str | bool | float | None) -> str:
    if value is None or value is False:
        return ""
    shown = name.rstrip("_").replace("_", "-")
    return f" {shown}" if value is True else f' {shown}="{escape(str(value))}"'


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if isinstance(child, Markup):
            yield child
        elif isinstance(child, str):
            yield escape(child, quote=False)
        elif child is not None:
            yield from _flat(child)
