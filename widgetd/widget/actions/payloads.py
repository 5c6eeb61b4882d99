"""The JSON Schema of a payload, from the keys and the fields that it is made of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from widgetd.widget.actions.fields import Field

Schema = dict[str, Any]

MOST_PRECISE = 2**53
"""Beyond this, a browser does not know one integer from the next."""


def payload_schema(
    keys: Mapping[str, Schema], fields: Iterable[Field], *, submitted: bool, closed: bool = True
) -> Schema:
    """An object with `keys`, all of them required, and `fields`.

    Args:
        keys: What each key of the author's payload may be.
        fields: What the user adds; none of them has the place of a key.
        submitted: Whether the fields must be complete.
        closed: Whether that is all there may be.
    """
    root = _object(closed)
    for key, schema in keys.items():
        root["properties"][key] = schema
        root["required"].append(key)
    for field in fields:
        _place(root, field, submitted=submitted, closed=closed)
    return _tidy(root)


def exactly(value: Any) -> Schema:
    """The schema of a value that the author wrote, as it comes back from a browser."""
    heard = as_browser(value)
    return {"const": value} if heard == value else {"enum": [value, heard]}


def as_browser(value: Any) -> Any:
    """A JSON value after a browser has read and written it: large integers lose their end."""
    if isinstance(value, dict):
        return {key: as_browser(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [as_browser(inner) for inner in value]
    if type(value) is int and abs(value) > MOST_PRECISE:
        return int(float(value))
    return value


def _place(root: Schema, field: Field, *, submitted: bool, closed: bool) -> None:
    inner = root
    needed = submitted and field.required
    for part in field.path[:-1]:
        if needed and part not in inner["required"]:
            inner["required"].append(part)
        inner = inner["properties"].setdefault(part, _object(closed))
        if "properties" not in inner:  # a field of that name stands there already
            inner.clear()
            return
    last = field.path[-1]
    if needed and last not in inner["required"]:
        inner["required"].append(last)
    taken = last in inner["properties"]
    inner["properties"][last] = {} if taken else field.schema(submitted=submitted)


def _object(closed: bool) -> Schema:
    bounds = {"additionalProperties": False} if closed else {}
    return {"type": "object", "properties": {}, "required": [], **bounds}


def _tidy(schema: Schema) -> Schema:
    """The same without empty lists of required properties, which old drafts do not allow."""
    for inner in schema.get("properties", {}).values():
        _tidy(inner)
    if schema.get("required") == []:
        del schema["required"]
    return schema
