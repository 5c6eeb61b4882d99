"""A sidecar's text with other values in it: what nobody changed stays as it was written.

Comments, the order of keys and the layout of everything else are the author's own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tomlkit
from tomlkit.items import Item

from widgetd.files.source import Source
from widgetd.widget.sidecar import read_sidecar

Value = str | Sequence[str]

EDITABLE = ("description", "summary", "tags", "keywords")
"""What can be edited without knowing TOML."""

_SCHEMA = "#:schema"


def with_values(text: str, values: Mapping[str, Value]) -> str:
    """`text` with `values` for its top-level keys; an empty one takes its key away.

    Args:
        text: A sidecar; empty where there is none.
        values: By key.

    Raises:
        WidgetError: It cannot be read (W1111 to W1113).
    """
    read_sidecar(Source.of("", text.encode()))
    document, new = tomlkit.parse(text), tomlkit.document()
    for key, value in values.items():
        if not value:
            document.pop(key, None)
        elif key not in document:
            new[key] = _item(value)
        elif document[key] != value:
            document[key] = _item(value)
    written, added = document.as_string(), new.as_string()
    # An editor looks for its schema in the first line; behind the last key stand tables.
    first, line, rest = written.partition("\n")
    return f"{first}{line}{added}{rest}" if first.startswith(_SCHEMA) else added + written


def _item(value: Value) -> Item:
    if isinstance(value, str):
        return tomlkit.string(value, multiline="\n" in value)
    return tomlkit.item(list(value))
