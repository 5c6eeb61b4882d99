"""Edit values in a sidecar's text and leave the rest as written.

Comments, the order of keys and all other formatting stay the author's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import tomlkit
from tomlkit.items import Item

from widgetd.base.files.source import Source
from widgetd.core.widget.sidecar import read_sidecar

Value = str | Sequence[str]

_SCHEMA = "#:schema"


def set_values(text: str, values: Mapping[str, Value]) -> str:
    """Set top-level keys of `text` to `values`. An empty value removes its key.

    Raises:
        WidgetError: It cannot be parsed (W1111 to W1113).
    """
    read_sidecar(Source.of("", text.encode()))
    document, new = tomlkit.parse(text), tomlkit.document()
    for key, value in values.items():
        if not value:
            document.pop(key, None)
        elif key not in document:
            new[key] = _build_item(value)
        elif document[key] != value:
            document[key] = _build_item(value)
    written, added = document.as_string(), new.as_string()
    # New keys go to the top, because tables follow the last key. But editors expect the reference
    # to a schema in the first line.
    first, line, rest = written.partition("\n")
    return f"{first}{line}{added}{rest}" if first.startswith(_SCHEMA) else added + written


def _build_item(value: Value) -> Item:
    if isinstance(value, str):
        return tomlkit.string(value, multiline="\n" in value)
    return tomlkit.item(list(value))
