"""Checks of a schema, and of its defaults, samples and readers.

None of these findings is a fault: an open schema still accepts undeclared arguments, and a field
without a visible effect may serve an action.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import replace
from itertools import islice

from widgetd.base.errors import CallError, Finding
from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.checks.declared_paths import DeclaredPaths, UndeclaredPath, split_path
from widgetd.core.checks.limits import LIMITS
from widgetd.core.checks.renders import Outcome, OutputProbe, source_name
from widgetd.core.checks.texts import sidecar_finding
from widgetd.core.schema.document import REFERENCES
from widgetd.core.schema.engine import has_format
from widgetd.core.schema.json_values import MISSING, pointer
from widgetd.core.schema.keywords import list_types
from widgetd.core.schema.phrase import FORMATS
from widgetd.core.schema.validator import Schema
from widgetd.core.template import Expression, Read, Template
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.local_state import PAYLOAD
from widgetd.core.widget.samples import list_authored
from widgetd.core.widget.widget import Widget

_COMBINATORS = ("anyOf", "oneOf", "allOf", "not", "if", "enum", "const")

_NO_HOST = 'write "format": "uri-reference" to admit addresses without a host'


def check_portability(schema: Schema) -> Iterator[Finding]:
    """Yield constructs that some hosts refuse, drop or fail to follow (W1212)."""

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
        for keyword in REFERENCES:
            if keyword in part:
                advice = "write the schema out where it is used"
                yield finding(f"{at}/{keyword}", "some hosts do not follow references", advice)
        if "array" in list_types(part) and not part.keys() & {"items", "prefixItems"}:
            problem = "some hosts refuse an array without 'items'"
            yield finding(at, problem, "say what its elements are")


def check_defaults(schema: Schema) -> Iterator[Finding]:
    """Yield each default and example that the schema beside it does not accept (W1211)."""
    explainer = schema.explainer()
    for part in schema.document.subschemas():
        at = schema.document.at(part)
        examples = part.get("examples")
        values = [("default", part["default"])] if "default" in part else []
        values += (
            [("examples", example) for example in examples] if isinstance(examples, list) else []
        )
        for keyword, value in values:
            if not explainer.fits(part, value):
                no_host = part.get("format") in {"uri", "iri"} and _is_reference(value)
                yield Finding(
                    code="W1211",
                    at=f"/jsonSchema{at}/{keyword}",
                    problem=f"the schema does not admit its own {keyword.removesuffix('s')}",
                    advice=_NO_HOST if no_host else "correct one of the two",
                )


def check_samples(widget: Widget) -> Iterator[Finding]:
    for sample in list_authored(widget.definition):
        arguments = dict(sample.arguments)
        try:
            widget.schema.check(arguments, strict=True)
        except CallError as error:
            at = sample.at
            if sample.path:  # the sidecar's samples show their arguments
                schema = widget.schema
                faults = schema.explainer().find_faults(schema.document.root, arguments)
                there = (f.path[:-1] if f.value is MISSING else f.path for f in faults)
                at += f"/arguments{pointer(*next(there, ()))}"
            invalid = error.invalid_arguments
            reason = str(invalid[0]) if invalid else error.message
            more = f" (and {len(invalid) - 1} more)" if len(invalid) > 1 else ""
            no_host = any(
                argument.expected.startswith((FORMATS["uri"], FORMATS["iri"]))
                # A slash, because every word is a relative reference.
                and "/" in argument.got
                and _is_reference(argument.got.strip('"'))
                for argument in invalid
            )
            line, column = sample.place(widget.definition.view)
            yield Finding(
                code="W1211",
                path=sample.path,
                at=at,
                line=line,
                column=column,
                problem=f"{sample.name} does not fit the schema: {reason}{more}",
                advice=_NO_HOST if no_host else "correct the sample, or the schema",
            )


def _is_reference(value: object) -> bool:
    return isinstance(value, str) and has_format("uri-reference", value)


def check_schema_exists(widget: Widget) -> Iterator[Finding]:
    """Yield a warning if there is no schema, so arguments are inferred from reads (W1215)."""
    names = ", ".join(sorted(widget.schema.advertised["properties"])[: LIMITS.named_fields])
    if widget.definition.schema is None and names:
        what, write = "jsonSchema", "export the widget again, or write one"
        if widget.definition.is_jsx:
            what, write = "schema", "write `const schema = {…};` before the JSX"
        yield Finding(
            code="W1215",
            problem=f"there is no {what}, so the arguments are inferred from what the "
            f"{source_name(widget.drawing_at)} reads: {names}",
            advice=f"{write}: callers learn no types",
        )


def check_template_reads(
    widget: Widget, declared: DeclaredPaths, strict: bool
) -> Iterator[Finding]:
    """Yield each undeclared path at its first read, as a fault (W1321) if `strict`, else W1320."""
    name = source_name(widget.drawing_at)
    for count, (read, missing) in enumerate(_find_misread(widget, declared)):
        advice = missing.advice if count < LIMITS.suggestions else "declare it"
        if read.path.startswith("props."):
            advice = f"write {read.path.removeprefix('props.')}: arguments come by their names"
        yield Finding(
            code="W1321" if strict else "W1320",
            at=widget.drawing_at,
            line=read.line,
            column=read.column,
            problem=f"the {name} reads '{missing.path}', which the schema does not declare",
            advice=advice,
        )


def check_sidecar_reads(widget: Widget, declared: DeclaredPaths) -> Iterator[Finding]:
    for at, reader in _sidecar_readers(widget).items():
        for _, missing in _find_undeclared(reader.reads, declared):
            if not (at.startswith("/local/") and split_path(missing.path)[0] == PAYLOAD):
                yield _undeclared_finding(widget.definition, at, missing)


def check_state_is_read(widget: Widget) -> Iterator[Finding]:
    readers = (widget.drawing, *_sidecar_readers(widget, deep=True).values())
    read = {
        split_path(path)[0] for reader in readers for path in (r.path for r in reader.reads) if path
    }
    for name in widget.local.initial:
        if name not in read:
            problem = f"nothing reads the state '{name}'"
            advice = "read it in the template, or remove it"
            at = pointer("state", name)
            yield sidecar_finding(widget.definition, "W1614", at, problem, advice)


def check_sidecar_fields(definition: Definition, declared: DeclaredPaths) -> Iterator[Finding]:
    """Yield each undeclared field in the sidecar (W1119, W1213)."""
    for key in ("summary_fields", "sensitive", "ids", "derived"):
        for field in getattr(definition.sidecar, key):
            missing = declared.find_undeclared(field, through_lists=key in ("sensitive", "derived"))
            if missing is not None:
                at = pointer(key, field) if key == "derived" else f"/{key}"
                yield _undeclared_finding(definition, at, missing)


def _undeclared_finding(definition: Definition, at: str, missing: UndeclaredPath) -> Finding:
    # A derived argument that reads what is absent never exists.
    code = {"derived": "W1119", "local": "W1613"}.get(at.split("/")[1], "W1213")
    problem = f"the schema does not declare '{missing.path}'"
    return sidecar_finding(definition, code, at, problem, missing.advice)


def _sidecar_readers(widget: Widget, *, deep: bool = False) -> dict[str, Template | Expression]:
    """Return the sidecar's templates and expressions by pointer, as far as they read arguments.

    Args:
        widget: The widget.
        deep: Include derived values inside of arguments. They also read their siblings.
    """
    summary = widget.summary
    readers: dict[str, Template | Expression] = {}
    if summary.template is not None:
        readers["/summary"] = summary.template
    for name, expression in summary.expressions.items():
        readers[f"/summary_data{pointer(name)}"] = expression
    for path, expression in widget.filler.derived.items():
        if deep or "." not in path:
            readers[f"/derived{pointer(path)}"] = expression
    for action, assigned in widget.local.actions.items():
        for name, expression in assigned.items():
            readers[f"/local{pointer(action, name)}"] = expression
    for action, checks in widget.checks.items():
        for index, check in enumerate(checks):
            readers[pointer("actions", action, "checks", str(index), "items")] = check["items"]
    return readers


def _find_undeclared(
    reads: Iterable[Read], declared: DeclaredPaths
) -> Iterator[tuple[Read, UndeclaredPath]]:
    reported: set[str] = set()
    for read in reads:
        missing = None if read.index else declared.find_undeclared(read.path)
        if missing is not None and missing.path not in reported:
            reported.add(missing.path)
            yield read, missing


def _find_misread(widget: Widget, declared: DeclaredPaths) -> Iterator[tuple[Read, UndeclaredPath]]:
    readers = (widget.drawing, *_sidecar_readers(widget).values())
    used = {
        part for reader in readers for read in reader.reads for part in _list_prefixes(read.path)
    }
    undeclared = _find_undeclared(widget.drawing.reads, declared)
    for read, missing in islice(undeclared, LIMITS.suggestions):
        idle = [name for name in missing.declared if missing.sibling(name) not in used]
        yield read, replace(missing, idle=idle[0] if len(idle) == 1 else None)
    yield from undeclared


_STEP_START = compile_pattern(r"[.\[]")


def _list_prefixes(path: str) -> Iterator[str]:
    yield from (path[: step.start()] for step in read_tokens(_STEP_START, path))
    yield path


def check_unused_fields(
    widget: Widget, declared: DeclaredPaths, outcomes: Collection[Outcome]
) -> Iterator[Finding]:
    """Yield each unused field of the schema (W1210), outermost only.

    A field counts as used if a misspelt read probably means it.
    """
    readers = (widget.drawing, *_sidecar_readers(widget).values())
    paths = {read.path for reader in readers for read in reader.reads}
    misspelt = islice(_find_misread(widget, declared), LIMITS.suggestions)
    paths.update(missing.meant for _, missing in misspelt if missing.meant)
    read = frozenset(paths.union(widget.definition.sidecar.summary_fields))
    samples = [outcome.sample for outcome in outcomes]
    lists = (check["items"] for checks in widget.checks.values() for check in checks)
    items = tuple(f"{field.path}[]" for fields in lists for field in fields.reads)
    for path, at in find_unread_fields(read, declared, shows=OutputProbe(widget, samples)):
        if not path.startswith(items):
            problem, advice = f"'{path}' is never used", "show it, or take it out of the schema"
            yield Finding(code="W1210", at=f"/jsonSchema{at}", problem=problem, advice=advice)


def find_unread_fields(
    read: Collection[str], declared: DeclaredPaths, *, shows: Callable[[str], bool]
) -> Iterator[tuple[str, str]]:
    """Yield each declared field that is not shown, outermost only, with its JSON pointer.

    A field is shown if its path is in `read`, or if `shows` finds that it changes the output.
    """
    within = {part for read_path in read for part in _list_prefixes(read_path)}
    deeper = {part for read_path in read for part in _list_prefixes(read_path) if part != read_path}
    settled: set[str] = set()
    tried = 0
    for path, at in declared.fields:
        above = [part for part in _list_prefixes(path) if part != path]
        if path in within or not settled.isdisjoint(above):
            continue
        settled.add(path)
        around = [part for part in above if part in read]
        if around:
            tried += 1
            # Nothing is read within the innermost of them: it is used as a whole.
            if around[-1] not in deeper:
                continue
            if tried > LIMITS.probed_fields or shows(path):
                continue
        yield path, at
