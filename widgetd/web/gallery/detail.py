"""The page of one widget: the picture, what may be changed in it, and what is known of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson
from starlette.datastructures import QueryParams
from starlette.responses import Response

from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.tokens import tokens_of_tool
from widgetd.web.gallery.faults import fault_card, problem_json
from widgetd.web.gallery.gallery import Gallery
from widgetd.web.gallery.layout import bar, choice, copy_button, kept, page, theme_of
from widgetd.web.gallery.markup import Markup, data_block, el, fragment
from widgetd.web.gallery.panels import facets
from widgetd.web.gallery.preview import Told, entry, told
from widgetd.web.gallery.problems import Problem
from widgetd.widget.states import SAMPLE, State, arguments_of, states
from widgetd.widget.widget import Widget

WIDTHS = ("320", "400", "768")
WIDTH = "400"
"""A chat column on a desktop; 320 is the narrowest phone, 768 a tablet."""

CARRIED = ("state", "theme", "width", "tab")
"""What of the address goes along to the next widget."""


async def widget_page(gallery: Gallery, widget: Widget, query: QueryParams) -> Response:
    """One widget as a page."""
    snapshot = gallery.snapshot
    shown = _state(widget, query)
    call = await told(gallery.server, widget, arguments_of(widget, shown.key))
    fault = gallery.problems.fault(snapshot, widget.definition.path)
    body = fragment(
        bar(_trail(gallery, widget, query), query=query, mark=gallery.mark),
        el(
            "main",
            el(
                "section",
                _heading(widget),
                _toolbar(widget, shown, query),
                _stage(fault),
                class_="workbench",
                aria_label="Preview",
            ),
            facets(gallery, widget, call, chosen=query.get("tab", "")),
            id="main",
            class_="detail",
            data_page="widget",
            data_tool=widget.tool,
            data_title=widget.definition.title,
            data_state=shown.key,
        ),
        data_block(orjson.dumps(_client(snapshot, widget, call), default=dict), id="shown"),
    )
    return page(widget.definition.title, body, script="widget.js", query=query)


async def widget_json(
    gallery: Gallery, widget: Widget, query: QueryParams, arguments: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Everything the page says, but for the warnings, which take longer to find.

    Args:
        gallery: Where the widget is shown.
        widget: The widget.
        query: The address's query; it holds the state.
        arguments: Instead of those of the state.
    """
    snapshot = gallery.snapshot
    definition = widget.definition
    given = arguments_of(widget, _state(widget, query).key) if arguments is None else arguments
    fault = gallery.problems.fault(snapshot, definition.path)
    return {
        **_client(snapshot, widget, await told(gallery.server, widget, given)),
        "name": widget.tool,
        "title": definition.title,
        "description": widget.description,
        "path": definition.path,
        "tags": definition.tags,
        "digest": widget.key,
        "tool": entry(gallery.server, widget),
        "toolTokens": tokens_of_tool(widget),
        "states": [{"key": one.key, "label": one.label} for one in states(widget)],
        "fault": None if fault is None else problem_json(fault),
        "view": definition.studio.view if definition.studio else None,
        "problems": f"/w/{widget.tool}/problems.json",
    }


def _client(snapshot: Snapshot, widget: Widget, call: Told) -> dict[str, Any]:
    """What the script draws from."""
    return {
        "schema": widget.schema.advertised,
        "arguments": call.arguments,
        "result": call.result,
        "error": call.error,
        "summary": call.summary,
        "ms": call.ms,
        "mended": call.mended,
        "tokens": call.tokens,
        "renderId": call.render_id,
        "generation": snapshot.generation,
    }


def _state(widget: Widget, query: QueryParams) -> State:
    offered = {state.key: state for state in states(widget)}
    return offered.get(query.get("state", ""), offered[SAMPLE])


def _trail(gallery: Gallery, widget: Widget, query: QueryParams) -> Markup:
    before, after = gallery.neighbours(widget)
    return el(
        "nav",
        el("a", "All widgets", href=kept("/", query, "theme"), class_="back"),
        _step("Previous", "prev", before, "k", query) if before != widget.tool else None,
        _step("Next", "next", after, "j", query) if after != widget.tool else None,
        class_="trail",
        aria_label="Widgets",
    )


def _step(label: str, rel: str, tool: str, key: str, query: QueryParams) -> Markup:
    href = kept(f"/w/{tool}", query, *(name for name in CARRIED if name != "state"))
    return el("a", label, " ", el("kbd", key, aria_hidden="true"), href=href, rel=rel)


def _heading(widget: Widget) -> Markup:
    definition = widget.definition
    return el(
        "div",
        el("h1", definition.title),
        el(
            "p",
            el("code", widget.tool),
            copy_button("Copy name", widget.tool),
            *(
                el("a", tag, href=kept("/", QueryParams({"tag": tag}), "tag"), class_="tag")
                for tag in definition.tags
            ),
            class_="marks",
        ),
        class_="heading",
        data_part="heading",
    )


def _toolbar(widget: Widget, shown: State, query: QueryParams) -> Markup:
    theme = query.get("theme", "")
    width = query.get("width", WIDTH)
    return el(
        "form",
        el(
            "label",
            el("span", "State"),
            el(
                "select",
                *(
                    el(
                        "option",
                        state.label,
                        value=state.key,
                        selected=state.key == shown.key,
                        data_locale=state.locale or None,
                    )
                    for state in states(widget)
                ),
                el("option", "Edited", value="edited", hidden=True),
                name="state",
                id="state",
            ),
            class_="picked",
        ),
        choice(
            "Width in pixels",
            "width",
            tuple((one, one) for one in WIDTHS),
            width if width in WIDTHS else WIDTH,
        ),
        choice(
            "Theme",
            "theme",
            (("", "Auto"), ("light", "Light"), ("dark", "Dark"), ("both", "Both")),
            "both" if theme == "both" else theme_of(query),
        ),
        class_="toolbar",
        action=f"/w/{widget.tool}",
    )


def _stage(fault: Problem | None) -> Markup:
    return el(
        "div",
        el("h2", "Preview", class_="hidden"),
        el("div", class_="frames", id="frames"),
        el(
            "div",
            fault_card(fault, "This file broke; the last good version is shown") if fault else None,
            class_="overlay",
            id="fault",
            role="alert",
            data_part="fault",
            hidden=fault is None,
        ),
        el("div", class_="overlay", id="refusal", role="alert", hidden=True),
        class_="stage",
    )
