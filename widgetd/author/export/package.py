"""A widget as a complete file of ChatKit Studio's: template, schema, preview, and its own source.

Studio edits the JSX in `encodedWidget`, others draw the template. Of 64 exports with a view, all
have the keys below, and 47 have `jsonSchema` and `schemaMode` as well. None has an element of
`states`, so no new element is made up here.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

import orjson

from widgetd.author.export.print_expressions import UnprintableError
from widgetd.author.export.print_template import print_template
from widgetd.author.export.studio_view import cut_view
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.core.studio.choose import find_changed
from widgetd.core.studio.compare import (
    compare,
    describe_differences,
    generate_arguments,
    tree_differences,
)
from widgetd.core.template import compile_template
from widgetd.core.widget.components import tree
from widgetd.core.widget.document import VERSION, decode_package
from widgetd.core.widget.naming import WIDGET_SUFFIX, stem
from widgetd.core.widget.sources import Difference
from widgetd.core.widget.states import SAMPLE, list_states, show_state

if TYPE_CHECKING:
    from widgetd.core.template import Template
    from widgetd.core.template.jsx import View
    from widgetd.core.widget.sources import Drawing
    from widgetd.core.widget.widget import Widget

_ZOD: Final = """\
import { z } from "zod"

const WidgetState = z.strictObject({})

export default WidgetState"""
"""The schema in Studio's other notation, which it does not read in the mode `jsonSchema`."""

_GENERATED_SETS: Final = 20
"""Generated sets of arguments on which both texts of an export are drawn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A file for Studio.

    Attributes:
        content: The bytes of the `.widget` file.
        findings: What it lacks of the widget (W1329), with what to do.
    """

    content: bytes
    findings: tuple[Finding, ...]


def pack(widget: Widget) -> Package:
    """Write `widget` as Studio would export it.

    The JSX is the file's own. The template is printed from it, or from the file's template where
    the two differ, and left empty if it would not draw what is served. A change of the JSX after
    the export is in both texts.

    Raises:
        CallError: The widget cannot be drawn with its sample.
        WidgetError: The JSX draws otherwise without the removed parts.
    """
    definition, sample = widget.definition, show_state(widget, SAMPLE)
    exported = _Export(widget)
    adopts = exported.draws_view and widget.source != "view"
    preview = exported.draw_view(sample.arguments) if adopts else sample.tree(widget)
    encoded, studio = definition.document.encoded_studio, definition.studio
    schema = widget.schema.advertised
    view, template = exported.view, exported.choose_template()
    package = {
        **((decode_package(encoded) if isinstance(encoded, str) else None) or {}),
        "id": studio.id if studio and studio.id else f"wig_{widget.key[:8]}",
        "name": definition.name,
        "view": view,
        "defaultState": sample.arguments,
        "states": list(studio.states) if studio else [],
        "schemaValidity": "valid",
        "viewValidity": "valid",
        "defaultStateValidity": "valid",
    }
    if not package.get("schema"):
        package |= {"schema": _ZOD, "schemaMode": "jsonSchema"}
    package.setdefault("schemaMode", "zod")
    file = {
        **({} if definition.is_jsx else definition.document.content),
        "version": VERSION,
        "name": definition.name,
        "template": template,
        "jsonSchema": schema,
        "outputJsonPreview": preview,
        "encodedWidget": base64.b64encode(
            orjson.dumps({**package, "jsonSchema": schema}, default=dict)
        ).decode(),
    }
    content = orjson.dumps(file, option=orjson.OPT_INDENT_2, default=dict) + b"\n"
    findings = (replace(finding, path=definition.path) for finding in exported.findings)
    return Package(content=content, findings=tuple(findings))


def file_name(widget: Widget) -> str:
    return f"{stem(widget.definition.path)}{WIDGET_SUFFIX}"


NOT_IN_STUDIO: Final = (
    "Studio knows neither the sidecar (description, summary, examples, feed, local state) nor "
    "what widgetd fills in; keep it beside the file."
)


class _Export:
    """The two texts of an export.

    Attributes:
        draws_view: Whether the export draws as the JSX, as it is served or was changed since.
        view: The JSX, or empty if the file holds none.
        findings: What the export lacks.
    """

    def __init__(self, widget: Widget) -> None:
        self._widget = widget
        self.findings: list[Finding] = []
        self.draws_view, self.view = widget.source == "view", ""
        states = (show_state(widget, state.key) for state in list_states(widget))
        sets = [state.arguments for state in states if state.render is None]
        studio = widget.definition.studio
        sets += studio.samples if studio is not None else ()
        sets += generate_arguments(widget.schema, _GENERATED_SETS)
        self._sets = [widget.fill(arguments) for arguments in sets]
        self._agrees = self._take_view()

    @property
    def source(self) -> Drawing:
        return self._widget.view if self.draws_view else self._widget.template

    def _report(self, at: str, problem: str, advice: str) -> None:
        self.findings.append(Finding(code="W1329", at=at, problem=problem, advice=advice))

    def _take_view(self) -> bool:
        widget, definition = self._widget, self._widget.definition
        if not definition.view:
            advice = "draw it in Studio, or write its JSX"
            self._report("", "the file holds no JSX, so Studio's editor opens empty", advice)
            return False
        at = definition.view_at
        try:
            original = widget.view
            cut = cut_view(definition.view, limits=widget.limits)
        except WidgetError as error:
            self.view = definition.view
            advice = "correct it, or edit the template alone"
            self._report(at, f"the JSX cannot be drawn: {error.finding.problem}", advice)
            return False
        self.view = cut.text
        if cut.beside:
            listed = ", ".join(f"{name} (line {line})" for name, line in cut.beside.items())
            problem = f"Studio's editor takes one element, and this stands beside it: {listed}"
            self._report(at, problem, "write its values where they are used")
        if self._find_differences(cut.compile(widget.limits), original):
            raise WidgetError(
                Finding(code="W1329", problem="the JSX reads its own schema", advice="write values")
            )
        differences = self._find_differences(original, self.source)
        if not differences:
            return True
        described = describe_differences(differences, "where the template says")
        blame = find_changed(widget) if compare(widget).edits else ""
        self.draws_view = blame == "view"
        problem, advice = _CHANGED[blame]
        self._report(at, f"{problem}: {described}", advice)
        return self.draws_view

    def choose_template(self) -> str:
        widget, reasons = self._widget, list[str]()
        for text in self._print_templates(reasons):
            try:
                template = compile_template(text, limits=widget.limits)
            except WidgetError as error:
                reasons.append(error.finding.problem)
                continue
            if not self._find_differences(template, self.source):
                return text
        reason = f"Jinja lacks {reasons[0]}" if reasons else "it would be drawn otherwise"
        advice = "widgetd draws the JSX; simplify it for others, who draw the template"
        self._report("/template", f"the template is left empty, because {reason}", advice)
        return ""

    def _print_templates(self, reasons: list[str]) -> Iterator[str]:
        widget = self._widget
        sources: list[View | Template] = [widget.view] if self._agrees else []
        sources += [] if self.draws_view else [widget.template]
        for source in sources:
            try:
                yield print_template(source.program(), widget.schema.advertised)
            except UnprintableError as error:
                reasons.append(str(error))
        if not self.draws_view:
            yield widget.definition.template

    def draw_view(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Return the tree drawn by the JSX.

        Raises:
            CallError: It fails on the arguments.
        """
        return tree(self._widget.view.render(self._widget.fill(arguments)))

    def _find_differences(self, source: Drawing, other: Drawing) -> Sequence[Difference]:
        for arguments in () if source is other else self._sets:
            drawn = (_draw(program, arguments) for program in (source, other))
            if differences := tuple(tree_differences(*drawn)):
                return differences
        return ()


_CHANGED: Final[Mapping[str, tuple[str, str]]] = {
    "template": (
        "the template was edited after the export, and the JSX lacks that",
        "make the same edit in the JSX",
    ),
    "view": (
        "the JSX was changed after the export, and both texts have that",
        "restore the JSX if you want to have it as it is drawn now",
    ),
    "": ("the JSX draws otherwise than the template, which is served", "correct the JSX"),
}
"""The problem and advice of a difference, by the source that was changed."""


def _draw(source: Drawing, arguments: Mapping[str, Any]) -> Any:
    try:
        return tree(source.render(arguments))
    except (CallError, WidgetError) as error:
        return type(error).__name__
