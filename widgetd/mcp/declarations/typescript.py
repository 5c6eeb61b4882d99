"""Records as TypeScript interfaces."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from widgetd.mcp.declarations.shape import Record, Shape
from widgetd.mcp.declarations.spelling import Words, spell

HEADER = "// What widgetd answers, and what its tools take. Made by `widgetd types --lang ts`."
BETWEEN = "\n\n"

_PLAIN = re.compile(r"[A-Za-z_$][\w$]*")


def _literals(values: tuple[object, ...]) -> str:
    return " | ".join(json.dumps(value, ensure_ascii=False) for value in values)


_WORDS = Words(
    scalars={
        "string": "string",
        "integer": "number",
        "number": "number",
        "boolean": "boolean",
        "null": "null",
        "any": "unknown",
    },
    list_of="Array<{}>",
    map_of="Record<string, {}>",
    literals=_literals,
)


def declare(record: Record) -> str:
    """`export interface Name { … }`."""
    return "\n".join(_lines(record))


def alias(name: str, shape: Shape) -> str:
    """`export type Name = A | B`."""
    return f"export type {name} = {spell(shape, _WORDS)};"


def guard(name: str, tool: str, ui_type: str) -> str:  # noqa: ARG001 - the name is in camel case here
    """`isName(response)`, which narrows to `NameResponse`."""
    return (
        f"export function is{name}(\n"
        f"  response: {{ _meta?: object | undefined }},\n"
        f"): response is {name}Response {{\n"
        f"  const meta = response._meta as Meta | undefined;\n"
        f'  return meta?.["widgetd/ui"]?.uiType === {json.dumps(ui_type)};\n}}'
    )


def _lines(record: Record) -> Iterator[str]:
    yield f"export interface {record.name} {{"
    for field in record.fields:
        if field.description:
            yield f"  /** {' '.join(field.description.split()).replace('*/', '* /')} */"
        key = field.name if _PLAIN.fullmatch(field.name) else json.dumps(field.name)
        yield f"  {key}{'' if field.required else '?'}: {spell(field.shape, _WORDS)};"
    yield "}"
