"""What a widget is for, in words that a model chooses by.

The author's words where there are any. Studio's exports hold none, so else they
are made: what it shows, what it needs, and one sample. It refuses to say
anything that the schema does not admit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import chain, product
from typing import Any

import orjson

from widgetd.widget.definition import Definition
from widgetd.widget.schema import Schema
from widgetd.widget.visible import visible

LONGEST = 500
"""Characters of a description that nobody wrote: every listing of tools pays for them."""

_NOUNS: Mapping[str, str] = {"Card": "card", "ListView": "list", "Basic": "widget"}
_ROOT = re.compile(r'"type"\s*:\s*"(Card|ListView|Basic)"')
_LONGEST_NOTE = 70
_MOST_PARTS = 5


def purpose(definition: Definition, schema: Schema) -> str:
    """The description of the widget's tool."""
    said = definition.description or _made(definition, schema)
    return f"{said} {_farewell(definition)}".strip()


def _farewell(definition: Definition) -> str:
    sidecar = definition.sidecar
    if not sidecar.deprecated:
        return ""
    return (
        f"Deprecated; see {sidecar.migration_guide}" if sidecar.migration_guide else "Deprecated."
    )


def _made(definition: Definition, schema: Schema) -> str:
    """The most telling description that is short enough."""
    lead = _lead(definition)
    for told, sample in product(_fields(schema), chain(_samples(definition, schema), [""])):
        text = " ".join(part for part in (lead, told, sample) if part)
        if len(text) <= LONGEST:
            return text
    return lead[:LONGEST]


def _lead(definition: Definition) -> str:
    noun = _NOUNS[_root(definition)]
    title = definition.title
    if title.casefold().split()[-1:] == [noun]:
        return f"Show the {title}."
    return f"Show the {title} {noun}."


def _root(definition: Definition) -> str:
    named = (definition.preview or {}).get("type")
    if named in _NOUNS:
        return str(named)
    written = _ROOT.search(definition.template)
    return written.group(1) if written else "Basic"


def _fields(schema: Schema) -> Iterator[str]:
    """What the arguments are, at decreasing length."""
    properties: Mapping[str, Any] = schema.advertised["properties"]
    required = [name for name in schema.advertised.get("required", ()) if name in properties]
    optional = [name for name in properties if name not in required]
    if not properties:
        yield ""
        return
    for most, noted in ((len(properties), True), (len(properties), False), (8, False), (3, False)):
        needed = _several([_field(name, properties[name], noted=noted) for name in required], most)
        further = _several([_field(name, properties[name], noted=noted) for name in optional], most)
        sentences = [
            f"Needs {needed}." if required else "",
            f"Takes {further}." if optional else "",
        ]
        if required and optional:
            sentences[1] = f"Optional: {further}."
        yield " ".join(sentence for sentence in sentences if sentence)


def _several(names: list[str], most: int) -> str:
    """`names` as a person lists them: `a, b and c`."""
    shown = names[:most]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def _field(name: str, schema: Any, *, noted: bool) -> str:
    note = _note(schema) if noted and isinstance(schema, Mapping) else ""
    return f"{name} ({note})" if note else name


def _note(schema: Mapping[str, Any]) -> str:
    """What a field is: the author's first sentence, its choices, or its parts."""
    told = schema.get("description")
    if isinstance(told, str) and told.strip():
        return _first_sentence(visible(told))
    choices = schema.get("enum")
    if isinstance(choices, list) and len(choices) <= _MOST_PARTS:
        return " | ".join(str(choice) for choice in choices)
    items = schema.get("items")
    if isinstance(items, Mapping):
        parts = _parts(items)
        return f"list of {parts}" if parts else "list"
    return _parts(schema)


def _parts(schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    return ", ".join(names[:_MOST_PARTS]) + (", …" if len(names) > _MOST_PARTS else "")


def _first_sentence(text: str) -> str:
    words = " ".join(text.split())
    sentence = re.split(r"(?<=[^\d])\.(?:\s|$)", words, maxsplit=1)[0].rstrip(".")
    lower = sentence[:1].lower() + sentence[1:] if sentence[1:2].islower() else sentence
    return lower if len(lower) <= _LONGEST_NOTE else lower[: _LONGEST_NOTE - 1].rstrip() + "…"


def _samples(definition: Definition, schema: Schema) -> Iterator[str]:
    """Samples that the schema admits, each as the end of the description; none of what is secret."""
    if definition.sidecar.sensitive:
        return
    studio = definition.studio
    states = (studio.default_state, *studio.states) if studio else ()
    written = (example.arguments for example in definition.sidecar.examples)
    smallest = schema.smallest
    for sample in (*written, *states, *([] if smallest is None else [smallest])):
        if sample and schema.admits(dict(sample)):
            yield f"For example {orjson.dumps(dict(sample)).decode()}"
