"""A sidecar for a widget, with all keys ready to be filled in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from widgetd.core.widget.actions import find_widget_actions
from widgetd.core.widget.widget import Widget

_SCALARS = ("string", "number", "integer", "boolean")

_SIDECAR = """\
# What this widget shows, and when a model should use it.
{description}
title = {title}
tags = []                       # "pinned" keeps it listed where others are searched for
keywords = []                   # what people call it who search for it
# wishes = ["Is my flight late?"] # a search for what people say must find this widget
# never = ["ride_status"]        # and none of these first
ui_type = {ui_type}

# What the model reads of a result, and what it gets as data in the split profile.
summary = {summary}
summary_fields = {summary_fields}
# sensitive = ["passport"]       # shown to no reader: no text, no data, no log
# image_origins = ["https://images.example.com"]  # images may come from there, too
# ids = ["orderId"]              # made by widgetd where a call leaves them out

# permission = "elevated"        # callers need a scope of their own
# version = "1.0.0"
# provider = "flights"
# priority = "medium"            # high, medium or low
# render_mode = "immediate"      # immediate, lazy or progressive
# preload = true
# min_client_version = "1.5.0"   # clients that say they are older are refused
# cache = "none"                 # none, session or persistent
# profile = "auto"               # auto, chatkit or split
# text = "summary"               # summary or markdown
# program = false                # keeps the template from the page, which then waits for results
# source = "view"                # or "template": which of an export's two is drawn
# deprecated = true
# migration_guide = "https://…"

# Arguments that follow from others where a call leaves them out.
# [derived]
# amountText = "amount ~ ' ' ~ currency"

# The arguments, where the file itself has no schema.
# [schema]
# required = ["number"]

# More for the model: expressions over the arguments.
# [summary_data]
# total = "items | length"

# Where the arguments come from that a model is not asked for; see the guide's page feeds.
# [feed]
# upstream = "flights"
# tool = "get_flight"
# ask = ["number"]
# Several of them are written as [[feed]], with a name each.

# Names that the template reads beside its arguments, and actions that change them in the page.
# [state]
# showAll = false
# [local."rows.toggle"]
# showAll = "not showAll"

# What it means when the user takes an action.
{actions}"""

_DESCRIBED_LATER = '# description = "Show … Use it when the user … Not for …"'

_EXAMPLES = """
# Arguments as a model would send them; the first are shown to it, and drawn in the gallery.
# [[examples]]
# name = "usual"
# arguments = {}
"""

_ACTION = """\
# [actions.{type}]
# description = "…"
# repeat = true  # for a counter: otherwise a page takes it once in each version
# [[actions.{type}.checks]]
# field = "until"
# holds = "payload.until > payload.from"
# says = "Choose a later time."
"""


def sidecar_text(widget: Widget) -> str:
    """Return a sidecar with what the file states, and the rest as comments.

    Nothing is invented: the example is the author's own, and a missing description stays missing,
    so checks still report it.
    """
    definition, schema = widget.definition, widget.schema.advertised
    # The required arguments, as far as a sentence has room.
    fields = [
        name
        for name in schema.get("required", ())
        if name.isidentifier()
        and isinstance(argument := schema["properties"].get(name), Mapping)
        and argument.get("type") in _SCALARS
    ][:3]
    values = ", ".join(f"{name} {{{{ {name} }}}}" for name in fields)
    types = sorted({action.type for action in find_widget_actions(widget)}) or ["order.send"]
    text = _SIDECAR.format(
        description=f"description = {_toml(definition.description)}"
        if definition.description
        else _DESCRIBED_LATER,
        title=_toml(definition.title),
        ui_type=_toml(definition.ui_type),
        summary=_toml(f"{definition.title}: {values}" if values else definition.title),
        summary_fields=_toml(fields),
        actions="".join(_ACTION.format(type=_toml(action)) for action in types),
    )
    # The fullest example, as everywhere.
    if not widget.examples:
        return text + _EXAMPLES
    example = _toml(_without_nulls(widget.example))
    return f'{text}\n[[examples]]\nname = "sample"\narguments = {example}\n'


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(element) for element in value if element is not None]
    return value


def _toml(value: Any) -> str:
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
