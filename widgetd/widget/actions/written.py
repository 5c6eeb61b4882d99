"""The actions that stand in a template's own text, as far as that is certain.

What a sample does not reach, because a branch was not taken or a list was empty,
can still be read: the exporter writes an action as JSON with expressions in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Any

import orjson

_PLACE = re.compile(r'"(?:action|\w*Action)"\s*:\s*(?=\{(?![{%#]))')
_TYPE = re.compile(r'\{\s*"type"\s*:\s*"([^"\\{}]+)"')
_TOKEN = re.compile(
    r'(?P<text>"(?:[^"\\{]|\\.|\{(?![{%#]))*")'
    r"|(?P<value>\{\{.{0,4000}?\}\})"
    r"|(?P<open>[{\[](?![{%#]))"
    r"|(?P<close>[}\]])"
    r'|(?P<other>[^"{}\[\]]+)',
    re.DOTALL,
)

_MOST_TOKENS = 20_000
"""Of all actions in a text, a few dozen each; beyond it their types alone are read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An action as the text has it.

    Attributes:
        type: Its type; empty where an expression makes it.
        handler: As written; None where that is not certain.
        keys: The keys of its payload; None where that is not certain.
    """

    type: str
    handler: str | None = None
    keys: tuple[str, ...] | None = None


def written(template: str) -> Iterator[Written]:
    """Every action in the text of a template, in its order."""
    text = _without_comments(template)
    budget = count()
    for place in _PLACE.finditer(text):
        said = _parsed(text, place.end(), budget)
        if said is None:
            named = _TYPE.match(text, place.end())
            yield Written(type=named[1] if named else "")
        else:
            yield _read(said)


def _read(said: dict[str, Any]) -> Written:
    name, payload = said.get("type"), said.get("payload", {})
    handler = said.get("handler", "server")
    return Written(
        type=name if isinstance(name, str) else "",
        handler=handler if isinstance(handler, str) else None,
        keys=tuple(payload) if isinstance(payload, dict) else None,
    )


def _without_comments(template: str) -> str:
    kept, at = [], 0
    while (start := template.find("{#", at)) >= 0:
        end = template.find("#}", start + 2)
        if end < 0:
            break
        kept.append(template[at:start])
        at = end + 2
    return "".join((*kept, template[at:]))


def _parsed(text: str, start: int, budget: Iterator[int]) -> dict[str, Any] | None:
    """The JSON object at `start`, null for every expression; None if a statement shapes it."""
    parts: list[str] = []
    depth, at = 0, start
    while next(budget) < _MOST_TOKENS and (token := _TOKEN.match(text, at)):
        at = token.end()
        parts.append("null" if token["value"] else token[0])
        depth += bool(token["open"]) - bool(token["close"])
        if depth == 0:
            break
    try:
        said = orjson.loads("".join(parts))
    except orjson.JSONDecodeError:
        return None
    return said if isinstance(said, dict) else None
