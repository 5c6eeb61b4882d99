"""Changes of a widget that may break its callers.

Compares two schemas property by property. Combinators and conditions are not compared, except for
nullable types.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

from widgetd.base.errors import Finding
from widgetd.core.checks.limits import LIMITS
from widgetd.core.schema.json_values import Json, is_number, pointer, resolve_pointer
from widgetd.core.schema.keywords import list_types
from widgetd.core.schema.phrase import join_alternatives, shorten_json
from widgetd.core.widget.definition import Definition

_BOUNDS = {
    **dict.fromkeys(("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties"), 1),
    **dict.fromkeys(("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties"), -1),
}
"""Keywords with the direction in which their value accepts less."""

_Roots = tuple[Mapping[str, Json], Mapping[str, Json]]
"""Both schemas as a whole, against which references resolve."""

_FIXED = ("const", "pattern", "format", "multipleOf", "uniqueItems")
"""Keywords whose new value may accept less, whatever it is."""


def find_breaking_changes(before: Definition, after: Definition) -> tuple[Finding, ...]:
    """Return the changes from `before` to `after` that may break callers.

    Returns:
        Warnings W1501 to W1504 about the file of `after`.
    """
    findings: list[Finding] = []
    if before.tool != after.tool:
        problem = f"the tool is called '{after.tool}' now, not '{before.tool}'"
        advice = f"callers of '{before.tool}' will not find it; keep the name if they matter"
        findings.append(_finding("W1504", "/name", problem, advice))
    if before.schema is not None and after.schema is not None:
        roots = (before.schema, after.schema)
        findings += _compare("", "/jsonSchema", *roots, roots=roots)
    return tuple(replace(finding, path=after.path) for finding in findings)


def report_removal(definition: Definition) -> Finding:
    """Return the warning that callers will not find a removed widget (W1505)."""
    return Finding(
        code="W1505",
        path=definition.path,
        problem=f"the tool '{definition.tool}' was removed",
        advice="callers will not find it; keep the file if they matter",
    )


def _compare(
    path: str, at: str, before: Json, after: Json, *, roots: _Roots, depth: int = LIMITS.depth
) -> Iterator[Finding]:
    """Yield what the later schema no longer accepts, outer before inner."""
    was, is_now = _resolve(before, roots[0]), _resolve(after, roots[1])
    named = f"'{path}'" if path else "the widget"
    for problem in _list_narrowings(was, is_now):
        advice = "callers that send what was right before are refused"
        yield _finding("W1503", at, f"{named} {problem}", advice)
    yield from _compare_fields(path, at, was, is_now)
    if depth == 0:
        return
    deeper = partial(_compare, roots=roots, depth=depth - 1)
    current = _properties(is_now)
    for name, inner in _properties(was).items():
        if name in current:
            place = f"{at}/properties{pointer(name)}"
            yield from deeper(_join_path(path, name), place, inner, current[name])
    items = was.get("items"), is_now.get("items")
    if all(isinstance(item, Mapping) for item in items):
        yield from deeper(f"{path}[]", f"{at}/items", *items)


def _compare_fields(
    path: str, at: str, before: Mapping[str, Json], after: Mapping[str, Json]
) -> Iterator[Finding]:
    for name in _properties(before):
        if name not in _properties(after):
            closed = after.get("additionalProperties") is False
            yield _finding(
                "W1501",
                f"{at}/properties" if "properties" in after else at,
                f"'{_join_path(path, name)}' was removed",
                f"callers that send it are {'refused' if closed else 'no longer understood'}",
            )
    for name in _list_of(after, "required"):
        if name not in _list_of(before, "required"):
            yield _finding(
                "W1502",
                f"{at}/required",
                f"'{_join_path(path, name)}' is required now",
                "callers that leave it out are refused; leave it optional",
            )


def _list_narrowings(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    """Yield what `after` no longer accepts, as a predicate of the field."""
    types, now_types = list_types(before), list_types(after)
    number = {"integer"} if "number" in now_types else set()
    gone = [name for name in types if name not in number.union(now_types)]
    if now_types and gone:
        yield f"is {join_alternatives(now_types)} now, no longer {join_alternatives(gone)}"
    elif now_types and not types and "enum" not in before and "const" not in before:
        yield f"is {join_alternatives(now_types)} now, where it was anything"
    yield from _list_narrower_choices(before, after)
    for keyword, direction in (_BOUNDS | dict.fromkeys(_FIXED, 0)).items():
        was, now = before.get(keyword), after.get(keyword)
        if direction:
            narrower = is_number(now) and (not is_number(was) or (now - was) * direction > 0)
        else:
            narrower = now not in (None, False) and now != was
        if narrower:
            former = shorten_json(was) if keyword in before else "none"
            yield f"has {keyword} {shorten_json(now)} now, where it had {former}"
    if (
        after.get("additionalProperties") is False
        and before.get("additionalProperties") is not False
    ):
        yield "admits no further fields now"


def _list_narrower_choices(before: Mapping[str, Json], after: Mapping[str, Json]) -> Iterator[str]:
    now = _list_of(after, "enum")
    was = _list_of(before, "enum") or ([before["const"]] if "const" in before else [])
    gone = [shorten_json(choice) for choice in was if choice not in now]
    if now and not was:
        yield f"admits only {join_alternatives([shorten_json(choice) for choice in now[:5]])} now"
    elif now and gone:
        yield f"no longer admits {join_alternatives(gone[:5])}"


def _resolve(schema: Json, root: Mapping[str, Json]) -> Mapping[str, Json]:
    """Follow references, and merge `anyOf: [X, null]` into X or null."""
    plain: dict[str, Json] = dict(schema) if isinstance(schema, Mapping) else {}
    for _ in range(LIMITS.depth):
        reference = plain.pop("$ref", None)
        local = isinstance(reference, str) and reference.startswith("#")
        target = resolve_pointer(root, reference[1:]) if local else None
        if not isinstance(target, Mapping):
            break
        plain = {**target, **plain}
    for keyword in ("anyOf", "oneOf"):
        branches = [branch for branch in _list_of(plain, keyword) if isinstance(branch, Mapping)]
        something = [branch for branch in branches if list_types(branch) != ("null",)]
        if len(something) == 1 and len(branches) == 2:
            inner = _resolve(something[0], root)
            plain = {**plain, **inner, "type": [*list_types(inner), "null"]}
    return plain


def _properties(schema: Mapping[str, Json]) -> Mapping[str, Json]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _list_of(schema: Mapping[str, Json], keyword: str) -> list[Json]:
    listed = schema.get(keyword)
    return listed if isinstance(listed, list) else []


def _join_path(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _finding(code: str, at: str, problem: str, advice: str) -> Finding:
    return Finding(code=code, at=at, problem=problem, advice=advice)
