"""The choice between an export's two sources: Studio's JSX, and the template made of it.

Studio's exporter transcribes JSX to a template, with losses. Many authors then edit the template.
A comparison distinguishes the two:

    the template renders as     the JSX               the template is rendered
                                the JSX as exported   the JSX is rendered: the exporter lost some
                                neither               the template is rendered: it was edited
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal

import orjson

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.text_search import compile_pattern
from widgetd.core.studio.compare import compare, differ
from widgetd.core.template.dialect.exporter import WRAPPED, find_converted
from widgetd.core.widget.components import tree
from widgetd.core.widget.sources import Choice

if TYPE_CHECKING:
    from widgetd.core.widget.sources import Source
    from widgetd.core.widget.widget import Widget

_NONE: Final = compile_pattern(r"(?i)\(\s*none\s*\)")


def choose(widget: Widget) -> Choice:
    """Choose the source of `widget` to render, among those that compile.

    Raises:
        WidgetError: Neither compiles, or the sidecar's choice does not.
    """
    definition = widget.definition
    preferred = definition.sidecar.source
    if preferred == "view" and not definition.view:
        problem = "the sidecar asks for the JSX, and the file holds none"
        advice = "export the widget again, or leave 'source' out"
        finding = Finding(code="W1327", problem=problem, advice=advice, path=definition.path)
        raise WidgetError(finding)
    is_asked = preferred == "view" or definition.is_jsx
    if is_asked or (preferred is None and not definition.template.strip()):
        _ = widget.view
        return Choice(source="view", reason="asked" if is_asked else "missing")
    try:
        template = widget.template
    except WidgetError as error:
        if preferred is not None or not _draws_preview(widget, "view"):
            raise
        return Choice(source="view", reason="faulty", fault=error.finding)
    if preferred is not None or not definition.view:
        return Choice(
            source="template" if definition.view else "", reason="asked" if preferred else ""
        )
    # A template without a sign of the exporter's losses has none.
    text = definition.template
    says_none = _NONE.search(text) and any(warning.code == "W1307" for warning in template.warnings)
    if WRAPPED.search(text) or find_converted(text) or says_none:
        return _choose_by_comparison(widget)
    return Choice(source="template")


def _choose_by_comparison(widget: Widget) -> Choice:
    try:
        comparison = compare(widget)
    except WidgetError as error:
        return Choice(source="template", reason="refused", fault=error.finding)
    if comparison.agrees:
        return Choice(source="template")
    if comparison.is_export:
        return Choice(source="view", reason="lost", losses=comparison.losses)
    return Choice(
        source="template",
        reason="edited",
        edits=comparison.edits,
        losses=comparison.losses,
        blame=find_changed(widget),
    )


def find_changed(widget: Widget) -> Literal["template", "view", ""]:
    draws_view, draws_template = _draws_preview(widget, "view"), _draws_preview(widget, "template")
    if draws_view is draws_template:
        return ""
    return "template" if draws_view else "view"


def _draws_preview(widget: Widget, name: Source) -> bool:
    studio, preview = widget.definition.studio, widget.definition.document.preview
    if studio is None or preview is None:
        return False
    try:
        source = widget.view if name == "view" else widget.template
        drawn = tree(source.render(widget.fill(studio.default_state)))
        return not differ(drawn, tree(orjson.dumps(preview)))
    except (CallError, WidgetError):
        return False
