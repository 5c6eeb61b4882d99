"""What in a schema some hosts refuse, drop or fail to follow. It is served all the same."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from widgetd.errors import Finding
from widgetd.schema.document import Document
from widgetd.schema.json_values import Json
from widgetd.schema.types import type_names

_COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "if", "enum", "const")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def portability(document: Document) -> Iterator[Finding]:
    """Each thing in the schema that some hosts cannot read (W1212)."""
    yield from _root(document.root)
    for schema in document.subschemas():
        at = document.at(schema)
        for keyword in _REFERENCES:
            if keyword in schema:
                yield _finding(
                    f"{at}/{keyword}",
                    "some hosts do not follow references",
                    "write the schema out where it is used",
                )
        if "array" in type_names(schema) and not schema.keys() & {"items", "prefixItems"}:
            yield _finding(
                at, "some hosts refuse an array without 'items'", "say what its elements are"
            )


def _root(root: Mapping[str, Json]) -> Iterator[Finding]:
    for keyword in _COMBINATORS:
        if keyword in root:
            yield _finding(
                f"/{keyword}",
                f"some hosts refuse '{keyword}' at the root of a schema",
                "say it inside a property",
            )
    if "properties" not in root:
        yield _finding(
            "", "some hosts refuse a schema without 'properties'", 'write "properties": {}'
        )


def _finding(at: str, problem: str, advice: str) -> Finding:
    return Finding(code="W1212", at=f"/jsonSchema{at}", problem=problem, advice=advice)
