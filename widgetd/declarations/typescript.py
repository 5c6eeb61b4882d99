"""Records as TypeScript interfaces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from widgetd.declarations.shape import (
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Union,
)

_PLAIN = re.compile(r"[A-Za-z_$][\w$]*")


def declare(record: Record) -> str:
    """`export interface Name { … }`."""
    return "\n".join(_lines(record))


def alias(name: str, options: list[str]) -> str:
    """`export type Name = A | B`."""
    return f"export type {name} = {' | '.join(options) or 'never'};"


def guard(name: str, of: str, ui_type: str) -> str:
    """A function that tells whether a result's `_meta` is of one type of response."""
    return (
        f"export function is{name}(meta: {of}): boolean {{\n"
        f'  return meta["widgetd/ui"]?.uiType === {json.dumps(ui_type)};\n}}'
    )


def _lines(record: Record) -> Iterator[str]:
    yield f"export interface {record.name} {{"
    for field in record.fields:
        if field.description:
            yield f"  /** {' '.join(field.description.split()).replace('*/', '* /')} */"
        key = field.name if _PLAIN.fullmatch(field.name) else json.dumps(field.name)
        yield f"  {key}{'' if field.required else '?'}: {_type(field.shape)};"
    yield "}"


def _type(shape: Shape) -> str:
    match shape:
        case Scalar(name):
            return "unknown" if name == "any" else name
        case Literals(values):
            return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)
        case ListOf(element):
            return f"Array<{_type(element)}>"
        case MapOf(value):
            return f"Record<string, {_type(value)}>"
        case Named(name):
            return name
        case Union(options):
            return " | ".join(map(_type, options))
        case Record():
            return shape.name
