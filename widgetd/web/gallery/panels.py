"""The panels beside the picture: arguments, what the model sees, problems, actions, source."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from widgetd.mcp.tokens import tokens_of_tool
from widgetd.web.gallery.compare import compared
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.layout import json_block, text_block
from widgetd.web.gallery.markup import Child, Markup, el, fragment
from widgetd.web.gallery.preview import Told
from widgetd.widget.widget import Widget

TABS = (
    ("arguments", "Arguments"),
    ("model", "Model"),
    ("problems", "Problems"),
    ("actions", "Actions"),
    ("source", "Source"),
    ("changes", "Changes"),
)


def facets(gallery: Gallery, widget: Widget, call: Told, *, chosen: str) -> Markup:
    """All panels, of which `chosen` is open, else the first."""
    open_tab = chosen if chosen in dict(TABS) else TABS[0][0]
    panels: dict[str, Child] = {
        "arguments": _arguments(),
        "model": _model(widget, call),
        "problems": el("p", "Looking for problems.", class_="quiet"),
        "actions": _actions(widget, call),
        "source": _source(widget),
        "changes": _changes(gallery, widget),
    }
    return el(
        "section",
        el("h2", "About this widget", class_="hidden"),
        el(
            "div",
            *(_tab(key, label, open_=key == open_tab) for key, label in TABS),
            role="tablist",
            aria_label="About this widget",
            class_="tabs",
        ),
        *(_panel(key, panels[key], open_=key == open_tab) for key, _ in TABS),
        class_="inspector",
        aria_label="About this widget",
    )


def _tab(key: str, label: str, *, open_: bool) -> Markup:
    return el(
        "button",
        label,
        el("span", class_="count", data_count=key, hidden=True),
        type="button",
        role="tab",
        id=f"tab-{key}",
        aria_controls=f"panel-{key}",
        aria_selected="true" if open_ else "false",
        tabindex="0" if open_ else "-1",
        data_tab=key,
    )


def _panel(key: str, inside: Child, *, open_: bool) -> Markup:
    # What scripts own is not fetched again when the file changes.
    scripted = key in ("arguments", "problems", "actions")
    return el(
        "div",
        inside,
        role="tabpanel",
        id=f"panel-{key}",
        aria_labelledby=f"tab-{key}",
        hidden=not open_,
        data_part=None if scripted else key,
        tabindex="0",
    )


def _arguments() -> Markup:
    return fragment(
        el("div", id="controls", class_="controls"),
        el(
            "details",
            el("summary", "As JSON"),
            el("label", "Arguments as JSON", class_="hidden", for_="raw"),
            el("textarea", id="raw", rows="12", spellcheck="false", autocomplete="off"),
            el("p", id="raw-problem", class_="problem", role="alert", hidden=True),
            class_="raw",
        ),
        el(
            "p",
            el("button", "Reset", type="button", id="reset"),
            el("button", "Copy JSON", type="button", class_="copy", data_copy_from="raw"),
            el("button", "Copy link", type="button", id="copy-link"),
            class_="row",
        ),
    )


def _model(widget: Widget, call: Told) -> Markup:
    paid = call.tokens or {}
    return fragment(
        el("h3", "The tool"),
        el("p", el("code", widget.tool), " ", el("span", widget.definition.title, class_="quiet")),
        el("p", widget.description, class_="quote"),
        el("h3", "What the model reads of this result"),
        el("p", call.summary or "Nothing: the call fails.", class_="quote", data_field="summary"),
        el("h3", "What it costs, in tokens"),
        el(
            "dl",
            *_cost("In the list of tools", "", str(tokens_of_tool(widget))),
            *_cost("A result, profile split", "split", _number(paid.get("split"))),
            *_cost("A result, profile chatkit", "chatkit", _number(paid.get("chatkit"))),
            class_="costs",
        ),
        el(
            "p",
            "Estimated at four characters a token. ",
            el("span", _timing(call), data_field="timing"),
            class_="quiet",
        ),
        el("h3", "Input schema"),
        json_block(_pretty(widget.schema.advertised)),
    )


def _cost(label: str, field: str, value: str) -> Iterator[Markup]:
    yield el("dt", label)
    yield el("dd", value, data_field=f"tokens-{field}" if field else None)


def _number(value: int | None) -> str:
    return "none" if value is None else str(value)


def _timing(call: Told) -> str:
    return f"Rendered in {call.ms:.1f} ms." if call.result is not None else ""


def _actions(widget: Widget, call: Told) -> Markup:
    notes = widget.definition.sidecar.actions
    return fragment(
        el(
            "div",
            el("p", "Use the widget: what it sends is listed here, and reaches whoever waits."),
            el(
                "p",
                el("code", "await_widget_action"),
                " with ",
                el("code", call.render_id, id="render-id"),
                el("button", "Copy id", type="button", class_="copy", data_copy_from="render-id"),
                class_="row",
            ),
            class_="quiet stack",
            id="render",
            hidden=not call.render_id,
        ),
        el(
            "p",
            "There is nothing to press or to fill in here.",
            class_="quiet",
            id="no-actions",
            hidden=bool(call.render_id),
        ),
        el("ol", id="log", class_="log", aria_live="polite", aria_label="Actions taken"),
        el("h3", "Described in the sidecar") if notes else None,
        el(
            "dl",
            *(
                (el("dt", el("code", name)), el("dd", note.description))
                for name, note in notes.items()
            ),
            class_="notes",
        )
        if notes
        else None,
    )


def _source(widget: Widget) -> Markup:
    definition = widget.definition
    studio = definition.studio
    return fragment(
        el("h3", "JSX, as it was written in Studio"),
        text_block(studio.view)
        if studio and studio.view
        else el("p", "This file brings none.", class_="quiet"),
        el("h3", "Template"),
        text_block(definition.template, wrap=True),
        el("h3", "File"),
        el("p", el("code", definition.path), class_="quiet"),
    )


def _changes(gallery: Gallery, widget: Widget) -> Markup:
    before = gallery.history.before(widget)
    if before is None:
        return el("p", "Not changed since widgetd started.", class_="quiet")
    difference = compared(before, widget)
    return fragment(
        *(
            el("p", f"{finding.problem}; {finding.advice}.", class_="breaking")
            for finding in difference.breaking
        ),
        *(
            (el("h3", name), el("pre", *map(_line, lines), class_="diff", tabindex="0"))
            for name, lines in difference.parts
        ),
        el("p", "The files differ, and nothing of what they mean.", class_="quiet")
        if not difference.parts
        else None,
    )


def _line(line: str) -> Markup:
    kind = {"+": "ins", "-": "del"}.get(line[:1], "span")
    return el(kind, f"{line}\n", class_="at" if line.startswith("@@") else None)


def _pretty(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2, default=dict).decode()
