"""Absent arguments as the cause of missing component properties."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.text_search import compile_pattern
from widgetd.core.checks.limits import LIMITS
from widgetd.core.schema.json_values import pointer
from widgetd.core.schema.phrase import join_alternatives
from widgetd.core.widget.components import check_tree
from widgetd.core.widget.widget import Widget

_LACKS = compile_pattern(r"\A(.+) lacks '([^']+)'")


def find_absent_argument(
    widget: Widget, arguments: Mapping[str, Any], donors: Iterable[Mapping[str, Any]], lack: Finding
) -> tuple[str, ...] | None:
    """Return the path of the argument whose absence makes a component lack a property.

    Args:
        widget: The widget.
        arguments: Arguments of a render with such a component.
        donors: Other arguments, the source of values to fill in.
        lack: The finding about the tree of `arguments`.
    """
    trials = (trial for donor in donors for trial in fill_in(arguments, donor))
    for path, trial in islice(trials, LIMITS.absent_renders):
        try:
            problems = list(check_tree(widget.tree(trial)))
        except (CallError, WidgetError):
            continue
        if all((finding.at, finding.problem) != (lack.at, lack.problem) for finding in problems):
            return path
    return None


def fill_in(value: Any, donor: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield `value` with one absent property of `donor`, in all elements of a list at once."""
    for path in _list_absent(value, donor):
        yield path, _fill_at(value, donor, path)


def _list_absent(value: Any, donor: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    if isinstance(value, Mapping) and isinstance(donor, Mapping):
        for key, donated in donor.items():
            if value.get(key) is None and donated is not None:
                yield (*path, key)
            elif key in value:
                yield from _list_absent(value[key], donated, (*path, key))
    elif isinstance(value, list) and isinstance(donor, list) and value and donor:
        yield from _list_absent(value[0], donor[0], (*path, "[]"))


def _fill_at(value: Any, donor: Any, path: tuple[str, ...]) -> Any:
    if not path:
        return donor
    step, *rest = path
    if step == "[]" and isinstance(value, list) and donor:
        return [_fill_at(item, donor[0], tuple(rest)) for item in value]
    if not isinstance(value, Mapping) or not isinstance(donor, Mapping):
        return value
    return {**value, step: _fill_at(value.get(step), donor.get(step), tuple(rest))}


def absence_finding(path: Sequence[str], lacks: Sequence[Finding]) -> Finding:
    owners: dict[str, list[str]] = {}
    for finding in lacks:
        if match := _LACKS.match(finding.problem):
            owners.setdefault(match.group(2), []).append(match.group(1))
    listed = " and ".join(
        f"'{name}' of {join_alternatives(list(dict.fromkeys(of))).replace(' or ', ' and ')}"
        for name, of in owners.items()
    )
    return Finding(
        code="W1407",
        at=schema_pointer(path),
        problem=f"{listed} is nothing where '{join_steps(path)}' is absent",
        advice="require it, give it a default, or show the component only where it is there",
    )


def find_shown_argument(
    value: Any, drawn: Any, path: tuple[str, ...] = ()
) -> tuple[str, ...] | None:
    if path and isinstance(value, Mapping) and value == drawn:
        return path
    inside = list(value.items()) if isinstance(value, Mapping) else []
    inside += [("[]", item) for item in value] if isinstance(value, list) else []
    paths = (find_shown_argument(item, drawn, (*path, step)) for step, item in inside)
    return next(filter(None, paths), None)


def untyped_finding(path: Sequence[str]) -> Finding:
    """Build the finding about an argument drawn as a component, but possibly another value."""
    return Finding(
        code="W1407",
        at=schema_pointer(path),
        problem=f"'{join_steps(path)}' is shown as a component, and need not be one",
        advice="require its 'type' with an enum of components, or show its values in components",
    )


def join_steps(path: Sequence[str]) -> str:
    """Format a path as `rows[].note`."""
    return ".".join(path).replace(".[]", "[]")


def schema_pointer(path: Sequence[str]) -> str:
    steps = ["/items" if step == "[]" else f"/properties{pointer(step)}" for step in path]
    return "/jsonSchema" + "".join(steps)
