"""What a widget is for, in words that a model chooses by.

The author's words where there are any. Studio's exports hold none, so else they
are made: what it shows, what it needs, and one sample. It refuses to say
anything that the schema does not admit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson

from widgetd.schema.validator import Schema
from widgetd.widget.definition import Definition
from widgetd.widget.hidden_characters import visible

LONGEST = 500
"""Characters of a description that nobody wrote: every listing of tools pays for them."""

_NOUNS: Mapping[str, str] = {"Card": "card", "ListView": "list", "Basic": "widget"}
_ROOT = re.compile(r'"type"\s*:\s*"(Card|ListView|Basic)"')
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
    written = list(_written(definition, schema))
    for detail, with_sample in _DETAILS:
        told = _fields(schema, detail)
        for sample in chain(written, _smallest(definition, schema)) if with_sample else [""]:
            text = " ".join(part for part in (lead, told, sample) if part)
            if len(text) <= LONGEST:
                return text
    return lead[:LONGEST]


@dataclass(frozen=True, slots=True)
class _Detail:
    """How much is said of the fields: how many of them, and how long a note on each."""

    most: int = 100
    note: int = 0


_FULL, _BRIEF, _NAMES = _Detail(note=70), _Detail(note=36), _Detail()
_DETAILS = (
    (_FULL, True),
    (_BRIEF, True),
    (_FULL, False),
    (_BRIEF, False),
    (_NAMES, True),
    (_NAMES, False),
    (_Detail(most=8), False),
    (_Detail(most=3), False),
)


def _lead(definition: Definition) -> str:
    title = re.sub(r"\s*\((?:copy|\d+)\)$", "", definition.title)
    title = title if " " in title else re.sub(r"[_-]+", " ", title).strip()
    noun = _NOUNS[_root(definition)]
    return f"Show the {title}." if title.casefold().endswith(noun) else f"Show the {title} {noun}."


def _root(definition: Definition) -> str:
    named = (definition.preview or {}).get("type")
    if isinstance(named, str) and named in _NOUNS:
        return named
    written = _ROOT.search(definition.template)
    return written.group(1) if written else "Basic"


def _fields(schema: Schema, detail: _Detail) -> str:
    """What the arguments are."""
    properties: Mapping[str, Any] = schema.advertised["properties"]
    required = [name for name in schema.advertised.get("required", ()) if name in properties]
    told = {name: _field(name, inner, detail) for name, inner in properties.items()}
    needed = _several([told[name] for name in required], detail.most)
    further = _several([told[name] for name in told if name not in required], detail.most)
    if needed and further:
        return f"Needs {needed}. Optional: {further}."
    return f"Needs {needed}." if needed else f"Takes {further}." if further else ""


def _several(names: list[str], most: int) -> str:
    """`names` as a person lists them: `a, b and c`."""
    shown = names[:most]
    if len(names) > most:
        shown.append(f"{len(names) - most} more")
    return " and ".join(part for part in (", ".join(shown[:-1]), *shown[-1:]) if part)


def _field(name: str, schema: Any, detail: _Detail) -> str:
    note = _note(schema) if detail.note and isinstance(schema, Mapping) else ""
    if len(note) > detail.note:
        note = note[: detail.note - 1].rstrip() + "…"
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
    if re.match(r"A |[A-Z][a-z]", sentence):
        return sentence[0].lower() + sentence[1:]
    return sentence


def _written(definition: Definition, schema: Schema) -> Iterator[str]:
    """The author's samples that the schema admits, each as a sentence."""
    studio = definition.studio
    states = (studio.default_state, *studio.states) if studio else ()
    for sample in (*(example.arguments for example in definition.sidecar.examples), *states):
        if schema.admits(dict(sample)):
            yield from _sentence(definition, sample)


def _smallest(definition: Definition, schema: Schema) -> Iterator[str]:
    """The smallest sample as a sentence, made only where no other is short enough."""
    yield from _sentence(definition, schema.smallest)


def _sentence(definition: Definition, sample: Mapping[str, Any] | None) -> Iterator[str]:
    """A sample, where there is something in it and nothing may be secret."""
    if sample and not definition.sidecar.sensitive:
        yield f"For example {orjson.dumps(dict(sample)).decode()}"
