"""Run every kind of finding over one widget, and put them into an order to read them in."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from widgetd.checks.actions import hidden_fields, misdescribed
from widgetd.checks.declared_paths import DeclaredPaths
from widgetd.checks.exporter import exporter_losses, wrapped_data
from widgetd.checks.fields import undeclared, undeclared_by_sidecar, unused
from widgetd.checks.portability import portability
from widgetd.checks.previews import preview_differences
from widgetd.checks.renders import (
    Case,
    authored,
    failures,
    generated,
    outcome,
    shows,
    vocabulary,
)
from widgetd.checks.samples import ill_defaults, misfits, samples, unknown_fields
from widgetd.checks.texts import texts
from widgetd.errors import Finding
from widgetd.template import Expression, Template
from widgetd.widget.actions import known_actions
from widgetd.widget.definition import Definition
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

_LOST = "W1307"


def findings(widget: Widget | Definition, *, strict: bool = False) -> tuple[Finding, ...]:
    """Everything that can be said about `widget`, in the order of its file's parts.

    Args:
        widget: A compiled widget; of a mere definition only its texts are looked at.
        strict: Whether it is a fault that a template reads what its schema does not declare.
    """
    definition = widget if isinstance(widget, Definition) else widget.definition
    found = list(texts(definition))
    if isinstance(widget, Widget):
        found += _of_template(widget, strict=strict)
        found += _of_samples(widget)
        found += _of_actions(widget)
    placed = (one if one.path else replace(one, path=definition.path) for one in found)
    return tuple(dict.fromkeys(placed))


def _of_template(widget: Widget, *, strict: bool) -> Iterator[Finding]:
    definition = widget.definition
    lost = []
    if definition.studio is not None:
        lost = list(exporter_losses(definition.studio.view, definition.template))
    for warning in widget.template.warnings:
        # What the JSX tells of a loss is more than the template alone can.
        if warning.code != _LOST or warning.line not in {one.line for one in lost}:
            yield replace(warning, at="/template")
    yield from lost
    yield from wrapped_data(definition.template)
    if definition.schema is not None:
        yield from undeclared(
            widget.template.reads, DeclaredPaths(widget.schema.document), strict=strict
        )


def _of_samples(widget: Widget) -> Iterator[Finding]:
    definition, schema = widget.definition, widget.schema
    written = samples(definition)
    cases = (*authored(widget, written), *generated(widget))
    outcomes = [outcome(widget, case) for case in cases]
    if definition.schema is not None:
        declared = DeclaredPaths(schema.document)
        yield from portability(schema.document)
        yield from unused(_read(widget), declared, shows=shows(widget, cases))
        yield from unknown_fields(definition, declared)
        yield from undeclared_by_sidecar(widget.facts, definition.path + SUFFIX, declared)
        yield from ill_defaults(schema)
    yield from misfits(written, schema)
    yield from failures(outcomes)
    yield from vocabulary(outcomes)
    if definition.preview is not None and definition.studio is not None:
        state = Case(name="", arguments=definition.studio.default_state, authored=True)
        rendered = outcome(widget, state).tree
        if rendered is not None:
            yield from preview_differences(rendered, definition.preview)


def _of_actions(widget: Widget) -> Iterator[Finding]:
    known = known_actions(widget)
    yield from hidden_fields(known)
    yield from misdescribed(widget.definition, known)


def _read(widget: Widget) -> frozenset[str]:
    """The paths that the template or the sidecar's summary and data read."""
    facts = widget.facts
    readers: list[Template | Expression] = [widget.template, *facts.expressions.values()]
    readers += [] if facts.written is None else [facts.written]
    paths = {read.path for reader in readers for read in reader.reads}
    return frozenset(paths.union(facts.fields))
