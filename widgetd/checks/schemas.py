"""What can be said of a schema, and of what is held against it.

By itself: what some hosts cannot read. Against it: its own defaults, the author's
samples, and what template and sidecar read. None of it is a fault: what is not
declared may still be sent where the schema is open, and a field that is not
shown may be there for an action.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from widgetd.checks.declared_paths import DeclaredPaths, UndeclaredPath
from widgetd.checks.renders import Outcome, ShownInOutput, name_of
from widgetd.errors import CallError, Finding
from widgetd.schema.engine import has_format
from widgetd.schema.json_values import MISSING, Json, pointer
from widgetd.schema.keywords import list_types
from widgetd.schema.phrase import FORMATS
from widgetd.schema.validator import Schema
from widgetd.template import Expression, Read, Template
from widgetd.text_search import compile_pattern
from widgetd.widget.definition import Definition
from widgetd.widget.samples import Sample
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

_COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "if", "enum", "const")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")

_MOST_NAMED = 8

_MOST_ADVISED = 50
"""Looking for what was meant takes long among many names."""

_MOST_TRIED = 50
"""Rendering again takes long."""

_NO_HOST = 'write "format": "uri-reference" to admit addresses without a host'


def portability(schema: Schema) -> Iterator[Finding]:
    """Each thing that some hosts refuse, drop or fail to follow; served all the same (W1212)."""

    def finding(at: str, problem: str, advice: str) -> Finding:
        return Finding(code="W1212", at=f"/jsonSchema{at}", problem=problem, advice=advice)

    document = schema.document
    for keyword in _COMBINATORS:
        if keyword in document.root:
            problem = f"some hosts refuse '{keyword}' at the root of a schema"
            yield finding(f"/{keyword}", problem, "say it inside a property")
    if "properties" not in document.root:
        problem = "some hosts refuse a schema without 'properties'"
        yield finding("", problem, 'write "properties": {}')
    for part in document.subschemas():
        at = document.at(part)
        for keyword in _REFERENCES:
            if keyword in part:
                advice = "write the schema out where it is used"
                yield finding(f"{at}/{keyword}", "some hosts do not follow references", advice)
        if "array" in list_types(part) and not part.keys() & {"items", "prefixItems"}:
            problem = "some hosts refuse an array without 'items'"
            yield finding(at, problem, "say what its elements are")


_OPENAI_FORMATS = frozenset(
    {"date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"}
)
"""Source: OpenAI documentation, "Structured Outputs", "Supported properties"."""

CLIENTS: tuple[tuple[str, Callable[[Json], bool], str, str], ...] = (
    (
        "format",
        lambda value: value == "email",
        "CrewAI and AutoGen cannot read the format '{}' by themselves",
        "install 'pydantic[email]' beside them",
    ),
    (
        "format",
        lambda value: value not in _OPENAI_FORMATS,
        "OpenAI's strict mode refuses the format '{}'",
        "leave 'strict' off for these tools, as by convert_schemas_to_strict=False",
    ),
    (
        "additionalProperties",
        lambda value: value is False,
        "google-genai, given an MCP session, fails on a schema that admits no further properties",
        "give it the tools as function declarations, by 'parameters_json_schema'",
    ),
)
"""A keyword and a value which some client stumbles over, what is said of it, and what helps."""


def client_needs(schema: Schema) -> Iterator[str]:
    """What those who set up some clients have to know of `schema`, which is as it should be."""
    parts = list(schema.document.subschemas())
    for keyword, stumbles, problem, advice in CLIENTS:
        values = dict.fromkeys(
            value for part in parts if isinstance(value := part.get(keyword), (str, bool))
        )
        yield from (f"{problem.format(value)}; {advice}" for value in values if stumbles(value))


def unfit_defaults(schema: Schema) -> Iterator[Finding]:
    """Each default and example in the schema that the schema beside it does not admit (W1211)."""
    explainer = schema.explainer()
    for part in schema.document.subschemas():
        at = schema.document.at(part)
        examples = part.get("examples")
        given = [("default", part["default"])] if "default" in part else []
        given += [("examples", one) for one in examples] if isinstance(examples, list) else []
        for keyword, value in given:
            if not explainer.fits(part, value):
                no_host = part.get("format") in {"uri", "iri"} and _is_reference(value)
                yield Finding(
                    code="W1211",
                    at=f"/jsonSchema{at}/{keyword}",
                    problem=f"the schema does not admit its own {keyword.removesuffix('s')}",
                    advice=_NO_HOST if no_host else "correct one of the two",
                )


def unfit_samples(widget: Widget, samples: Iterable[Sample]) -> Iterator[Finding]:
    """Each of the author's samples that the schema does not admit (W1211)."""
    for sample in samples:
        arguments = dict(sample.arguments)
        try:
            widget.schema.check(arguments, strict=True)
        except CallError as error:
            at = sample.at
            if sample.path:  # the sidecar's, whose arguments are there to be read
                schema = widget.schema
                faults = schema.explainer().find_faults(schema.document.root, arguments)
                there = (f.path[:-1] if f.value is MISSING else f.path for f in faults)
                at += f"/arguments{pointer(*next(there, ()))}"
            reason = str(error.invalid_arguments[0]) if error.invalid_arguments else error.message
            more = (
                f" (and {len(error.invalid_arguments) - 1} more)"
                if len(error.invalid_arguments) > 1
                else ""
            )
            no_host = any(
                argument.expected.startswith((FORMATS["uri"], FORMATS["iri"]))
                # A slash, because every word is a relative reference.
                and "/" in argument.got
                and _is_reference(argument.got.strip('"'))
                for argument in error.invalid_arguments
            )
            yield Finding(
                code="W1211",
                path=sample.path,
                at=at,
                problem=f"{sample.name} does not fit the schema: {reason}{more}",
                advice=_NO_HOST if no_host else "correct the sample, or the schema",
            )


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and has_format("uri-reference", value)


def guessed(widget: Widget) -> Iterator[Finding]:
    """That there is no schema, so that arguments are what is read (W1215)."""
    if widget.definition.schema is None:
        names = ", ".join(sorted(widget.schema.advertised["properties"])[:_MOST_NAMED])
        of = f" from what the {name_of(widget.drawing_at)} reads: {names}" if names else ""
        what, write = "jsonSchema", "export the widget again, or write one"
        if widget.definition.is_jsx:
            what, write = "schema", "write `const schema = {…};` before the JSX"
        yield Finding(
            code="W1215",
            problem=f"there is no {what}, so the arguments are guessed{of}",
            advice=f"{write}: whoever calls it is told no types",
        )


def undeclared(widget: Widget, declared: DeclaredPaths, strict: bool) -> Iterator[Finding]:
    """Each path that the template reads and the schema does not declare, where it is read first.

    Where it is `strict`, this is a fault (W1321), else a warning (W1320).
    """
    name = name_of(widget.drawing_at)
    for count, (read, missing) in enumerate(_misread(widget, declared)):
        yield Finding(
            code="W1321" if strict else "W1320",
            at=widget.drawing_at,
            line=read.line,
            column=read.column,
            problem=f"the {name} reads '{missing.path}', which the schema does not declare",
            advice=missing.advice if count < _MOST_ADVISED else "declare it",
        )


def undeclared_by_sidecar(widget: Widget, declared: DeclaredPaths) -> Iterator[Finding]:
    """Each path that an expression of the sidecar reads and nothing declares (W1213)."""
    for at, reader in _sidecar_readers(widget).items():
        for _, missing in _undeclared(reader.reads, declared):
            yield _not_in_schema(widget.definition, at, missing)


def unknown_sidecar_fields(definition: Definition, declared: DeclaredPaths) -> Iterator[Finding]:
    """Each field that the sidecar names and the schema does not declare (W1213)."""
    for key in ("summary_fields", "sensitive", "ids", "derived"):
        for field in getattr(definition.sidecar, key):
            missing = declared.missing(field, through_lists=key in ("sensitive", "derived"))
            if missing is not None:
                yield _not_in_schema(definition, f"/{key}", missing)


def _not_in_schema(definition: Definition, at: str, missing: UndeclaredPath) -> Finding:
    return Finding(
        code="W1213",
        path=definition.path + SUFFIX,
        at=at,
        problem=f"the schema does not declare '{missing.path}'",
        advice=missing.advice,
    )


def _sidecar_readers(widget: Widget) -> dict[str, Template | Expression]:
    """What of the sidecar reads arguments, by where it stands."""
    summary = widget.summary
    readers: dict[str, Template | Expression] = {}
    if summary.template is not None:
        readers["/summary"] = summary.template
    for name, expression in summary.expressions.items():
        readers[f"/summary_data{pointer(name)}"] = expression
    for path, expression in widget.filler.derived.items():
        if "." not in path:  # deeper ones read what is beside them, too
            readers[f"/derived{pointer(path)}"] = expression
    return readers


def _undeclared(
    reads: Iterable[Read], declared: DeclaredPaths
) -> Iterator[tuple[Read, UndeclaredPath]]:
    """Each read of what is not declared, where it comes first."""
    known: set[str] = set()
    for read in reads:
        missing = None if read.index else declared.missing(read.path)
        if missing is not None and missing.path not in known:
            known.add(missing.path)
            yield read, missing


def _misread(widget: Widget, declared: DeclaredPaths) -> Iterator[tuple[Read, UndeclaredPath]]:
    """Each read of the template of what is not declared, and what it may have been meant to be."""
    readers = (widget.drawing, *_sidecar_readers(widget).values())
    used = {part for reader in readers for read in reader.reads for part in _down_to(read.path)}
    found = _undeclared(widget.drawing.reads, declared)
    for read, missing in islice(found, _MOST_ADVISED):
        idle = [name for name in missing.known if missing.beside(name) not in used]
        yield read, replace(missing, idle=idle[0] if len(idle) == 1 else None)
    yield from found


_STEP_START = compile_pattern(r"[.\[]")


def _down_to(path: str) -> Iterator[str]:
    """A path, and each that leads to it: `legs[].from`, `legs[]`, `legs`."""
    yield from (path[: found.start()] for found in _STEP_START.finditer(path))
    yield path


def unused(
    widget: Widget, declared: DeclaredPaths, outcomes: Collection[Outcome]
) -> Iterator[Finding]:
    """Each field of the schema that nothing is made of (W1210), outermost only.

    One that another name is read for is not among them.
    """
    readers = (widget.drawing, *_sidecar_readers(widget).values())
    paths = {read.path for reader in readers for read in reader.reads}
    misspelt = islice(_misread(widget, declared), _MOST_ADVISED)
    paths.update(missing.meant for _, missing in misspelt if missing.meant)
    read = frozenset(paths.union(widget.summary.fields))
    samples = [one.sample for one in outcomes]
    for path, at in unread_fields(read, declared, shows=ShownInOutput(widget, samples)):
        yield Finding(
            code="W1210",
            at=f"/jsonSchema{at}",
            problem=f"nothing is made of '{path}'",
            advice="show it, or take it out of the schema",
        )


def unread_fields(
    read: Collection[str], declared: DeclaredPaths, *, shows: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    """Each declared field that is not shown, outermost only, with its JSON pointer.

    It is shown where its path is among those that are `read`, or if `shows` says that it changes
    the output all the same.
    """
    within = {part for one in read for part in _down_to(one)}
    deeper = {part for one in read for part in _down_to(one) if part != one}
    settled: set[str] = set()
    tried = 0
    for path, at in declared.fields:
        above = [part for part in _down_to(path) if part != path]
        if path in within or not settled.isdisjoint(above):
            continue
        settled.add(path)
        around = [part for part in above if part in read]
        if around:
            tried += 1
            # Nothing is read within the innermost of them: it is used as a whole.
            if around[-1] not in deeper:
                continue
            if tried > _MOST_TRIED or shows(path):
                continue
        yield path, at
