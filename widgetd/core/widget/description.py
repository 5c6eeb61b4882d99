"""Describe a widget's purpose, for a model to choose by.

Takes the author's words if there are any. Studio's exports have none, so otherwise the description
is generated: the widget's subject, its fields, and a valid sample.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import orjson

from widgetd.base.text_search import compile_pattern
from widgetd.core.schema.validator import Schema
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.hidden_characters import strip_hidden
from widgetd.core.widget.limits import LIMITS

_NOUNS: Mapping[str, str] = {"Card": "card", "ListView": "list", "Basic": "widget"}
_COPY = compile_pattern(r"(?<!\s)\s*\((?:copy|\d+)\)$")
_WORD_GAP = compile_pattern(r"[_-]+")
_SENTENCE_END = compile_pattern(r"(?<=[^\d])\.(?:\s|$)")
_CAPITALIZED = compile_pattern(r"\A(?:A |[A-Z][a-z])")
_ROOT = compile_pattern(r'(?:"type"\s*:\s*"|<)(Card|ListView|Basic)\b')


_DETAILS = (
    (True, 100, 70),
    (True, 100, 36),
    (False, 100, 70),
    (False, 100, 36),
    (True, 100, 0),
    (False, 100, 0),
    (False, 8, 0),
    (False, 3, 0),
)
"""Whether to include a sample, how many fields, and the length of their notes; best first."""


def describe(definition: Definition, schema: Schema) -> str:
    text = definition.description or _generate(definition, schema)
    sidecar = definition.sidecar
    if not sidecar.deprecated:
        return text
    guide = f"; see {sidecar.migration_guide}" if sidecar.migration_guide else "."
    return f"{text} Deprecated{guide}".strip()


def _generate(definition: Definition, schema: Schema) -> str:
    lead = _write_lead(definition)
    studio = definition.studio
    examples = (example.arguments for example in definition.sidecar.examples)
    authored = sort_by_content((*examples, *(studio.samples if studio else ())))
    admitted = (sample for sample in authored if schema.admits(dict(sample)))
    texts = [text for sample in admitted for text in _write_example(definition, sample)]
    for has_sample, most, longest in _DETAILS:
        fields = _list_fields(schema, most, longest)
        samples = chain(texts, _generate_example(definition, schema)) if has_sample else [""]
        for sample in samples:
            text = " ".join(part for part in (lead, fields, sample) if part)
            if len(text) <= LIMITS.description_chars:
                return text
    return lead[: LIMITS.description_chars]


def _write_lead(definition: Definition) -> str:
    title = _COPY.sub("", definition.title)
    title = title if " " in title else _WORD_GAP.sub(" ", title).strip()
    root = (definition.document.preview or {}).get("type")
    if not isinstance(root, str) or root not in _NOUNS:
        written = _ROOT.search(definition.template or definition.view)
        root = written.group(1) if written else "Basic"
    noun = _NOUNS[root]
    return f"Show the {title}." if title.casefold().endswith(noun) else f"Show the {title} {noun}."


def _list_fields(schema: Schema, most: int, longest: int) -> str:
    properties: Mapping[str, Any] = schema.advertised["properties"]
    required = [name for name in schema.advertised.get("required", ()) if name in properties]
    phrases: dict[str, str] = {}
    for name, inner in properties.items():
        note = _describe_field(inner) if longest and isinstance(inner, Mapping) else ""
        if len(note) > longest:
            note = note[: longest - 1].rstrip() + "…"
        phrases[name] = f"{name} ({note})" if note else name
    needed = _join_names([phrases[name] for name in required], most)
    optional = _join_names([phrases[name] for name in phrases if name not in required], most)
    if needed and optional:
        return f"Needs {needed}. Optional: {optional}."
    return f"Needs {needed}." if needed else f"Takes {optional}." if optional else ""


def _join_names(names: list[str], most: int) -> str:
    listed = names[:most]
    if len(names) > most:
        listed.append(f"{len(names) - most} more")
    return " and ".join(part for part in (", ".join(listed[:-1]), *listed[-1:]) if part)


def _describe_field(schema: Mapping[str, Any]) -> str:
    description = schema.get("description")
    if isinstance(description, str) and description.strip():
        words = " ".join(strip_hidden(description).split())
        sentence = _SENTENCE_END.split(words, maxsplit=1)[0].rstrip(".")
        is_plain = _CAPITALIZED.match(sentence)
        return sentence[0].lower() + sentence[1:] if is_plain else sentence
    choices = schema.get("enum")
    if isinstance(choices, list) and len(choices) <= LIMITS.described_parts:
        return " | ".join(str(choice) for choice in choices)
    items = schema.get("items")
    if isinstance(items, Mapping):
        parts = _list_parts(items)
        return f"list of {parts}" if parts else "list"
    return _list_parts(schema)


def _list_parts(schema: Mapping[str, Any]) -> str:
    properties = schema.get("properties")
    names = list(properties) if isinstance(properties, Mapping) else []
    more = ["…"] if len(names) > LIMITS.described_parts else []
    return ", ".join(names[: LIMITS.described_parts] + more)


def sort_by_content(samples: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sort `samples` stably, those with no more than an empty state last."""
    return sorted(samples, key=lambda arguments: not arguments or [] in arguments.values())


def _generate_example(definition: Definition, schema: Schema) -> Iterator[str]:
    """Write a generated sample. A generator, because sampling is slow and seldom needed."""
    yield from _write_example(definition, schema.telling)


def _write_example(definition: Definition, sample: Mapping[str, Any] | None) -> Iterator[str]:
    if sample and not definition.sidecar.sensitive:
        yield f"For example {orjson.dumps(dict(sample)).decode()}"
