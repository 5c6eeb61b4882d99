"""A template's output becomes the tree that clients show.

Components lose their null properties and their empty children, as they do in
ChatKit's own models; among children, what React does not show is dropped and
lists within lists are joined. Whatever is no component (options, chart data,
action payloads) stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.errors import WidgetError
from widgetd.schema.json_text import build_syntax_error
from widgetd.schema.json_values import error_at, kind
from widgetd.widget.components.vocabulary import chatkit_widgets

if TYPE_CHECKING:
    from chatkit.widgets import DynamicWidgetRoot

ROOTS = ("Card", "ListView", "Basic")
"""What a widget may be as a whole."""

_OBJECTS = {dict}
"""Of which types the children of nearly every component are."""

_MOST_LEVELS = 254
"""What orjson writes, and pydantic within one level: a deeper tree could not be sent."""


def tree(output: str | bytes) -> dict[str, Any]:
    """The widget root that `output` is: `{"type": "Card", "children": [...]}`.

    Raises:
        WidgetError: It is not JSON (W1305), or no widget root (W1306); line and column are those
            of the output.
    """
    return tree_and_json(output)[0]


def tree_and_json(output: str | bytes) -> tuple[dict[str, Any], bytes]:
    """The same, and as JSON."""
    try:
        root = orjson.loads(output)
    except orjson.JSONDecodeError as error:
        text = output if isinstance(output, str) else output.decode(errors="replace")
        raise _not_json(text, error) from None
    if not isinstance(root, dict) or root.get("type") not in ROOTS:
        got = kind(root)
        if isinstance(root, dict):
            said = root.get("type")
            got = f"'{said[:40]}'" if isinstance(said, str) else "an object without a type"
        advice = "put it into a Card, a ListView or a Basic"
        raise error_at("W1306", "", f"the root is {got}", advice)
    _normalise(root)
    try:
        return root, orjson.dumps(root)
    except orjson.JSONEncodeError:
        raise _too_deep() from None


def to_chatkit(tree: dict[str, Any]) -> DynamicWidgetRoot:
    """The same tree as the model that `chatkit.server` streams.

    Raises:
        pydantic.ValidationError: A child is no component.
    """
    root: DynamicWidgetRoot = chatkit_widgets().DynamicWidgetRoot.model_validate(tree)
    return root


def components(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Each component of a tree, in no order."""
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, Mapping):
            yield part
            waiting.append(part.get("children"))


def _normalise(root: dict[str, Any]) -> None:
    """Drop what components need not say, in place: the tree is ours, fresh from the parser."""
    components = [root]
    for component in components:  # which grows meanwhile
        if None in component.values():
            for name in [name for name, value in component.items() if value is None]:
                del component[name]
        children = component.get("children")
        if type(children) is dict:
            components.append(children)
        elif type(children) is list:
            if set(map(type, children)) == _OBJECTS:
                components += children
                continue
            children = component["children"] = _shown(children)
            if not children:
                del component["children"]
            components.extend(child for child in children if type(child) is dict)


def _shown(children: list[Any]) -> list[Any]:
    """What React would show of `children`: no null, no boolean, and lists joined."""
    shown: list[Any] = []
    for child in children:
        if isinstance(child, list):
            shown.extend(_shown(child))
        elif child is not None and not isinstance(child, bool):
            shown.append(child)
    return shown


def _not_json(text: str, error: orjson.JSONDecodeError) -> WidgetError:
    try:
        json.loads(text, parse_int=float)  # as int, Python reads no more than 4,300 digits
    except json.JSONDecodeError as syntax:
        return build_syntax_error("W1305", text, syntax)
    except RecursionError:
        return _too_deep()
    if error.msg.startswith("depth"):
        return _too_deep()
    # What Python alone reads as well: NaN, Infinity, half a character.
    return error_at("W1305", "", f"the output is not JSON ({error.msg})", "write what JSON allows")


def _too_deep() -> WidgetError:
    problem = f"the output nests more than {_MOST_LEVELS} levels deep"
    return error_at("W1305", "", problem, "nest fewer components")
