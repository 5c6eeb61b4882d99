"""Write a sidecar for a widget that has none: everything it may say, ready to be filled in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from widgetd.errors import ConfigError
from widgetd.widget.actions import widget_actions
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

_SCALARS = ("string", "number", "integer", "boolean")


def write_sidecar(path: Path, widget: Widget) -> Path:
    """Write the sidecar beside the file at `path`, and answer where.

    Args:
        path: The `.widget` file.
        widget: What is in it.

    Raises:
        ConfigError: There is a sidecar already (W0002); it is left as it is.
    """
    target = path.with_name(path.name + SUFFIX)
    try:
        with target.open("x", encoding="utf-8") as file:
            file.write(sidecar_text(widget))
    except FileExistsError:
        advice = "edit that one, or move it away first"
        raise ConfigError("W0002", f"{target} is there already", advice) from None
    return target


def sidecar_text(widget: Widget) -> str:
    """A sidecar in which everything stands, and only what was made needs to be changed."""
    return "\n".join(_lines(widget)) + "\n"


def _lines(widget: Widget) -> Iterator[str]:
    definition = widget.definition
    fields = _fields(widget.schema.advertised)
    yield "# What this widget shows, and when a model should use it."
    yield f"description = {_toml(widget.description)}"
    yield f"title = {_toml(definition.title)}"
    yield 'tags = []                       # "pinned" keeps it listed where others are searched for'
    yield "keywords = []                   # what people call it who search for it"
    yield f"ui_type = {_toml(definition.ui_type)}"
    yield ""
    yield "# What the model reads of a result, and what it gets as data in the split profile."
    shown = ", ".join(f"{name} {{{{ {name} }}}}" for name in fields[:3])
    yield f"summary = {_toml(f'{definition.title}: {shown}' if shown else definition.title)}"
    yield f"summary_fields = {_toml(fields[:3])}"
    yield '# sensitive = ["passport"]       # told to nobody: no text, no data, no log'
    yield '# ids = ["orderId"]              # made by widgetd where a call leaves them out'
    yield ""
    yield '# permission = "elevated"        # callers need a scope of their own'
    yield '# version = "1.0.0"'
    yield '# provider = "flights"'
    yield '# priority = "medium"            # high, medium or low'
    yield '# render_mode = "immediate"      # immediate, lazy or progressive'
    yield "# preload = true"
    yield '# min_client_version = "1.5.0"   # clients that say they are older are refused'
    yield '# cache = "none"                 # none, session or persistent'
    yield '# profile = "auto"               # auto, chatkit or split'
    yield "# deprecated = true"
    yield '# migration_guide = "https://…"'
    yield ""
    yield "# Arguments that follow from others where a call leaves them out."
    yield "# [derived]"
    yield "# amountText = \"amount ~ ' ' ~ currency\""
    yield ""
    yield "# More for the model: expressions over the arguments."
    yield "# [summary_data]"
    yield '# total = "items | length"'
    yield ""
    yield "# What it means when the user takes an action."
    for action in sorted({action.type for action in widget_actions(widget)}) or ["order.send"]:
        yield f"# [actions.{_toml(action)}]"
        yield '# description = "…"'
        yield f"# [[actions.{_toml(action)}.checks]]"
        yield '# field = "until"'
        yield '# holds = "payload.until > payload.from"'
        yield '# says = "Choose a later time."'
    if widget.example is not None:
        yield ""
        yield "[[examples]]"
        yield 'name = "sample"'
        yield f"arguments = {_toml(_without_nulls(widget.example))}"


def _fields(schema: Mapping[str, Any]) -> list[str]:
    """The required arguments that can be told in a sentence."""
    properties = schema["properties"]
    return [
        name
        for name in schema.get("required", ())
        if name.isidentifier()
        and isinstance(properties.get(name), Mapping)
        and properties[name].get("type") in _SCALARS
    ]


def _without_nulls(value: Any) -> Any:
    """TOML knows no null, and an absent argument is as good."""
    if isinstance(value, Mapping):
        return {k: _without_nulls(v) for k, v in value.items() if v is not None}
    if isinstance(value, list):
        return [_without_nulls(element) for element in value if element is not None]
    return value


def _toml(value: Any) -> str:
    """A value as TOML writes it in one line; its strings and numbers are those of JSON."""
    if isinstance(value, Mapping):
        inner = ", ".join(f"{json.dumps(k)} = {_toml(v)}" for k, v in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007F")
