"""Say in a noun phrase what a schema expects: `an integer from 0 to 100`.

For people and models who sent something else, so it is short before it is complete. It
refuses to decide anything.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from widgetd.schema.document import Document, Subschema
from widgetd.schema.json_values import Json, is_number
from widgetd.schema.types import type_names

LONGEST = 96
MOST_CHOICES = 6
DEEPEST = 4
SAFE_INTEGER = 2**53 - 1

TYPES: Mapping[str, str] = {
    "string": "a string",
    "integer": "an integer",
    "number": "a number",
    "boolean": "true or false",
    "object": "an object",
    "array": "an array",
    "null": "null",
}
FORMATS: Mapping[str, str] = {
    "date": "a date as 2026-01-31",
    "date-time": "a date and time as 2026-01-31T09:30:00Z",
    "time": "a time as 09:30:00Z",
    "duration": "a duration as PT1H30M",
    "email": "an email address",
    "idn-email": "an email address",
    "hostname": "a host name",
    "idn-hostname": "a host name",
    "ipv4": "an IPv4 address",
    "ipv6": "an IPv6 address",
    "uri": "an absolute URI as https://example.com/a",
    "uri-reference": "a URI or a relative reference",
    "iri": "an absolute IRI as https://example.com/a",
    "iri-reference": "an IRI or a relative reference",
    "uri-template": "a URI template",
    "uuid": "a UUID",
    "json-pointer": "a JSON pointer",
    "relative-json-pointer": "a relative JSON pointer",
    "regex": "a regular expression",
}


KEYWORDS: Mapping[str, frozenset[str]] = {
    "string": frozenset(
        {"format", "pattern", "minLength", "maxLength", "contentEncoding", "contentMediaType"}
    ),
    "number": frozenset(
        {"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}
    ),
    "array": frozenset({"items", "prefixItems", "contains", "minItems", "maxItems", "uniqueItems"}),
    "object": frozenset({"properties", "required", "minProperties", "maxProperties"}),
}
"""By which a schema that names no type gives it away."""


def shown(value: object, longest: int = 40) -> str:
    """`value` as JSON, shortened."""
    if isinstance(value, str) and len(value) > longest:
        return json.dumps(value[: longest - 1] + "…", ensure_ascii=False)
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= longest + 2 else text[: longest - 1] + "…"


def describe(document: Document, schema: Subschema) -> str:
    """What `schema`, a part of `document`, expects."""
    phrase = _phrase(document, schema, DEEPEST)
    return phrase if len(phrase) <= LONGEST else phrase[: LONGEST - 1] + "…"


def alternatives(phrases: Sequence[str]) -> str:
    """`phrases` joined with commas and an "or", each said once."""
    unique = list(dict.fromkeys(phrases))
    if len(unique) == 1:
        return unique[0]
    return f"{', '.join(unique[:-1])} or {unique[-1]}"


def choices(phrases: Sequence[str]) -> str:
    """`phrases`, each once, as what may be chosen from; many of them are counted."""
    unique = list(dict.fromkeys(phrases))
    return alternatives(unique) if len(unique) <= MOST_CHOICES else _one_of(unique, len(unique))


def _one_of(phrases: Sequence[str], count: int) -> str:
    more = f" and {count - MOST_CHOICES} more" if count > MOST_CHOICES else ""
    return f"one of {', '.join(phrases[:MOST_CHOICES])}{more}"


def _phrase(document: Document, schema: Subschema, depth: int) -> str:
    if isinstance(schema, bool):
        return "a value" if schema else "nothing"
    if "const" in schema:
        return shown(schema["const"])
    if isinstance(offered := schema.get("enum"), list):
        if len(offered) == 1:
            return shown(offered[0])
        return _one_of([shown(value, 24) for value in offered[:MOST_CHOICES]], len(offered))
    if names := type_names(schema):
        return alternatives([_typed(name, schema) for name in names])
    inner = [*document.targets(schema), *_branches(schema)]
    if inner and depth:
        return alternatives([_phrase(document, part, depth - 1) for part in inner])
    for name, keywords in KEYWORDS.items():
        if schema.keys() & keywords:
            return _typed(name, schema)
    return "another value" if "not" in schema else "a value"


def _branches(schema: Mapping[str, Json]) -> list[Subschema]:
    for keyword in ("anyOf", "oneOf", "allOf"):
        if isinstance(branches := schema.get(keyword), list):
            return branches[:1] if keyword == "allOf" else branches
    return []


def _typed(name: str, schema: Mapping[str, Json]) -> str:
    if name in ("integer", "number"):
        step = schema.get("multipleOf")
        multiple = "" if step is None else f" that is a multiple of {shown(step)}"
        return TYPES[name] + _range(schema) + multiple
    if name == "string":
        noun = FORMATS.get(str(schema.get("format")), TYPES[name])
        noun += _count(schema, "Length", "character")
        if isinstance(held := schema.get("contentMediaType"), str):
            noun += f" that holds {held}"
        if isinstance(encoding := schema.get("contentEncoding"), str):
            noun += f" encoded as {encoding}"
        pattern = schema.get("pattern")
        if not isinstance(pattern, str):
            return noun
        return f"{noun} that matches {pattern if len(pattern) <= 40 else pattern[:39] + '…'}"
    if name == "array":
        unique = " without duplicates" if schema.get("uniqueItems") is True else ""
        return TYPES[name] + _count(schema, "Items", "element") + unique
    if name == "object":
        return TYPES[name] + _count(schema, "Properties", "property")
    return TYPES.get(name, name)


def _range(schema: Mapping[str, Json]) -> str:
    low, high = schema.get("minimum"), schema.get("maximum")
    # The end of the integers that a browser can count tells nobody anything.
    low, high = (None if end in (-SAFE_INTEGER, SAFE_INTEGER) else end for end in (low, high))
    above, below = schema.get("exclusiveMinimum"), schema.get("exclusiveMaximum")
    if above is True:  # draft 4 says only that the bound itself is out
        low, above = None, low
    if below is True:
        high, below = None, high
    if low is not None and high is not None:
        return f" from {shown(low)} to {shown(high)}"
    bounds = {"of at least": low, "above": above, "of at most": high, "below": below}
    said = [f"{word} {shown(bound)}" for word, bound in bounds.items() if is_number(bound)]
    return f" {' and '.join(said)}" if said else ""


def _count(schema: Mapping[str, Json], what: str, noun: str) -> str:
    low, high = schema.get(f"min{what}"), schema.get(f"max{what}")
    plural = noun.removesuffix("y") + "ies" if noun.endswith("y") else noun + "s"
    if low is not None and high is not None and low != high:
        return f" of {shown(low)} to {shown(high)} {plural}"
    bound = high if low is None else low
    word = "" if low == high else "at least " if high is None else "at most "
    return "" if bound is None else f" of {word}{shown(bound)} {noun if bound == 1 else plural}"
