"""The samples that an author gives, and whether the schema admits them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from widgetd.checks.declared_paths import DeclaredPaths
from widgetd.errors import CallError, Finding, Slip
from widgetd.schema.describe import FORMATS
from widgetd.schema.engine import has_format
from widgetd.schema.validator import Schema
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Arguments that an author wrote.

    Attributes:
        name: As `the example 'on time'`.
        path: The file they stand in; empty for the widget's own.
        at: Where in it, as a JSON pointer.
        arguments: By property.
    """

    name: str
    path: str = ""
    at: str
    arguments: Mapping[str, Any]


def samples(definition: Definition) -> tuple[Sample, ...]:
    """Every sample that the author gives, the one that the preview was made from first."""
    found: list[Sample] = []
    studio = definition.studio
    if studio is not None:
        states = (studio.default_state, *studio.states)
        found += [
            Sample(name="the sample in encodedWidget", at="/encodedWidget", arguments=dict(state))
            for state in states
            if state
        ]
    path = definition.path + SUFFIX
    for index, example in enumerate(definition.sidecar.examples):
        name = f"the example '{example.name}'" if example.name else f"example {index + 1}"
        at = f"/examples/{index}"
        found.append(Sample(name=name, path=path, at=at, arguments=example.arguments))
    return tuple(found)


def misfits(samples: tuple[Sample, ...], schema: Schema) -> Iterator[Finding]:
    """Each sample that the schema does not admit (W1211)."""
    for sample in samples:
        try:
            schema.check(dict(sample.arguments), strict=True)
        except CallError as error:
            told = str(error.slips[0]) if error.slips else error.message
            more = f" (and {len(error.slips) - 1} more)" if len(error.slips) > 1 else ""
            relative = any(_is_relative(slip) for slip in error.slips)
            yield Finding(
                code="W1211",
                path=sample.path,
                at=sample.at,
                problem=f"{sample.name} does not fit the schema: {told}{more}",
                advice='write "format": "uri-reference" to admit addresses without a host'
                if relative
                else "correct the sample, or the schema",
            )


def ill_defaults(schema: Schema) -> Iterator[Finding]:
    """Each default and example in the schema that the schema beside it does not admit (W1211)."""
    explainer = schema.explainer()
    for part in schema.document.subschemas():
        at = schema.document.at(part)
        examples = part.get("examples")
        given = [("default", part["default"])] if "default" in part else []
        given += [("examples", one) for one in examples] if isinstance(examples, list) else []
        for keyword, value in given:
            if not explainer.fits(part, value):
                uri = part.get("format") in {"uri", "iri"} and _is_reference(value)
                yield Finding(
                    code="W1211",
                    at=f"/jsonSchema{at}/{keyword}",
                    problem=f"the schema does not admit its own {keyword.removesuffix('s')}",
                    advice='write "format": "uri-reference" to admit addresses without a host'
                    if uri
                    else "correct one of the two",
                )


def unknown_fields(definition: Definition, declared: DeclaredPaths) -> Iterator[Finding]:
    """Each field that the sidecar names and the schema does not declare (W1213)."""
    sidecar = definition.sidecar
    for key in ("summary_fields", "sensitive"):
        for field in getattr(sidecar, key):
            missing = declared.missing(field, through_lists=key == "sensitive")
            if missing is not None:
                yield Finding(
                    code="W1213",
                    path=definition.path + SUFFIX,
                    at=f"/{key}",
                    problem=f"the schema does not declare '{missing.path}'",
                    advice=missing.advice,
                )


def _is_relative(slip: Slip) -> bool:
    addressed = slip.expected.startswith((FORMATS["uri"], FORMATS["iri"]))
    # A slash, because every word is a relative reference.
    return addressed and "/" in slip.got and _is_reference(slip.got.strip('"'))


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and has_format("uri-reference", value)
