"""Shapes and records in the words of TypeScript and of Python."""

from __future__ import annotations

import json
import keyword
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from widgetd.author.declarations.shape import (
    ListOf,
    Literals,
    MapOf,
    Named,
    Record,
    Scalar,
    Shape,
    Union,
)
from widgetd.base.text_search import compile_pattern


@dataclass(frozen=True, slots=True, kw_only=True)
class Language:
    """A target language of declarations.

    Attributes:
        header: Begins a module.
        between: Stands between two declarations.
        scalars: The name of each scalar.
        list_of: A list, with `{}` for its element.
        map_of: An object with unknown names, with `{}` for its values.
        literals: A choice of JSON scalars.
        alias: Another name for a type, with `{}` for each.
        declare: The lines of a type for a record, under its name.
        guard: A function to narrow a response, with `{name}` for the beginning of its type, and
            `{tool}` and `{ui_type}` as plain words.
    """

    header: str
    between: str
    scalars: Mapping[str, str]
    list_of: str
    map_of: str
    literals: Callable[[tuple[Any, ...]], str]
    alias: str
    declare: Callable[[Record], Iterator[str]]
    guard: str

    def spell(self, shape: Shape) -> str:
        match shape:
            case Scalar(name):
                return self.scalars[name]
            case Literals(values):
                return self.literals(values)
            case ListOf(element):
                return self.list_of.format(self.spell(element))
            case MapOf(value):
                return self.map_of.format(self.spell(value))
            case Union(options):
                return " | ".join(map(self.spell, options))
            case Named(name) | Record(name):
                return name


_PLAIN = compile_pattern(r"[A-Za-z_$][\w$]*")


def _interface(record: Record) -> Iterator[str]:
    yield f"export interface {record.name} {{"
    for field in record.fields:
        if field.description:
            yield f"  /** {' '.join(field.description.split()).replace('*/', '* /')} */"
        key = field.name if _PLAIN.fullmatch(field.name) else json.dumps(field.name)
        yield f"  {key}{'' if field.required else '?'}: {TYPESCRIPT.spell(field.shape)};"
    yield "}"


TYPESCRIPT = Language(
    header="// What widgetd answers, and what its tools take. Made by `widgetd types --lang ts`.",
    between="\n\n",
    scalars={
        "string": "string",
        "number": "number",
        "integer": "number",
        "boolean": "boolean",
        "null": "null",
        "any": "unknown",
    },
    list_of="Array<{}>",
    map_of="Record<string, {}>",
    literals=lambda values: " | ".join(json.dumps(value, ensure_ascii=False) for value in values),
    alias="export type {} = {};",
    declare=_interface,
    guard="""\
export function is{name}(
  response: {{ _meta?: object | undefined }},
): response is {name}Response {{
  const meta = response._meta as Meta | undefined;
  return meta?.["widgetd/ui"]?.uiType === "{ui_type}";
}}""",
)


def _python_literals(values: tuple[Any, ...]) -> str:
    # A number is no literal type in Python where it has a fraction.
    if any(isinstance(value, float) for value in values):
        return "float"
    return f"Literal[{', '.join(map(repr, values))}]"


def _typed_dict(record: Record) -> Iterator[str]:
    shapes = {field.name: PYTHON.spell(field.shape) for field in record.fields}
    for field in record.fields:
        if not field.required:
            shapes[field.name] = f"NotRequired[{shapes[field.name]}]"
    if not all(
        name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("__")
        for name in shapes
    ):
        yield f'{record.name} = TypedDict("{record.name}", {{'
        for name, shape in shapes.items():
            yield f"    {name!r}: {shape!r},"
        yield "})"
        return
    yield f"class {record.name}(TypedDict):"
    for field in record.fields:
        remark = f"  # {' '.join(field.description.split())}" if field.description else ""
        yield f"    {field.name}: {shapes[field.name]}{remark}"
    if not record.fields:
        yield "    pass"


PYTHON = Language(
    header='''"""What widgetd answers, and what its tools take. Made by `widgetd types`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, NotRequired, TypedDict, TypeGuard


def _ui_type(response: Mapping[str, Any]) -> object:
    return ((response.get("_meta") or {}).get("widgetd/ui") or {}).get("uiType")''',
    between="\n\n\n",
    scalars={
        "string": "str",
        "number": "float",
        "integer": "float",
        "boolean": "bool",
        "null": "None",
        "any": "Any",
    },
    list_of="list[{}]",
    map_of="dict[str, {}]",
    literals=_python_literals,
    alias="{} = {}",
    declare=_typed_dict,
    guard="""\
def is_{tool}(response: Mapping[str, Any]) -> TypeGuard[{name}Response]:
    return _ui_type(response) == '{ui_type}'""",
)

LANGUAGES: Mapping[Literal["ts", "python"], Language] = {"ts": TYPESCRIPT, "python": PYTHON}
