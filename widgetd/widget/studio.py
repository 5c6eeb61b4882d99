"""What ChatKit Studio packs into a file beside the template: its own source of the widget.

Only ever used to explain and to give examples; a widget is served without it.
Its schema is the text of a zod schema. The JSON Schema that newer exports hold
beside it is often a stale placeholder, so it is not read.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import orjson

_STANDARD = str.maketrans("-_", "+/")


@dataclass(frozen=True, slots=True, kw_only=True)
class Studio:
    """One widget as Studio keeps it.

    Attributes:
        id: Studio's own, as `wig_1a2b3c4d`.
        name: Often another than the file's.
        view: The JSX that the template was made from.
        default_state: A sample of arguments; not always one that the schema admits.
        schema_text: The zod schema, as TypeScript.
        states: Further samples, as Studio keeps them.
    """

    id: str
    name: str
    view: str
    default_state: Mapping[str, Any]
    schema_text: str
    states: tuple[Mapping[str, Any], ...]


def decode_studio(encoded: str) -> Studio | None:
    """What `encoded` holds; None where that is nothing of Studio's.

    Args:
        encoded: Base64, URL-safe or standard, with or without padding, of JSON.
    """
    compact = "".join(encoded.split()).translate(_STANDARD).rstrip("=")
    try:
        packed = base64.b64decode(compact + "=" * (-len(compact) % 4), validate=True)
        held = orjson.loads(packed)
    except (binascii.Error, ValueError):
        return None
    return _studio(held) if isinstance(held, dict) else None


def _studio(held: Mapping[str, Any]) -> Studio:
    state, states = held.get("defaultState"), held.get("states")
    return Studio(
        id=_text(held.get("id")),
        name=_text(held.get("name")),
        view=_text(held.get("view")),
        default_state=MappingProxyType(state if isinstance(state, dict) else {}),
        schema_text=_text(held.get("schema")),
        states=tuple(
            MappingProxyType(one)
            for one in (states if isinstance(states, list) else ())
            if isinstance(one, dict)
        ),
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
