"""Checks of drawing in the page, without a server."""

from __future__ import annotations

from collections.abc import Iterator

from widgetd.base.errors import Finding
from widgetd.core.schema.json_text import line_and_column
from widgetd.core.widget.page_program import MissingOperationError, NoProgramError, page_program
from widgetd.core.widget.widget import Widget


def check_page_program(widget: Widget) -> Iterator[Finding]:
    """Yield the first operation of the drawing that the page lacks (W1332).

    Such a page draws from results alone: not while arguments stream, and not with a reader's own
    arguments on a static site.
    """
    try:
        page_program(widget)
    except MissingOperationError as missing:
        definition, is_view = widget.definition, widget.source == "view"
        text = definition.view if is_view else definition.template
        in_drawing = missing.source is widget.drawing.program()
        line, column = line_and_column(text or "", missing.place) if in_drawing else (None, None)
        yield Finding(
            code="W1332",
            at=("/view" if is_view else "/template") if in_drawing else "",
            line=line,
            column=column,
            problem=f"{missing}, so that the server alone draws the widget",
            advice="write it with another operation, or accept that pages draw results alone, "
            "not while arguments stream nor on a static site",
        )
    except NoProgramError:
        return
