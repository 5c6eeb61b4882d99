"""Turn a template's output into the tree for clients.

Components lose their null properties and empty children, as in ChatKit's own models, and their
keys are texts. Among children, values never shown by React are dropped and nested lists are
flattened. Anything but components (options, chart data, action payloads) stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import orjson

from widgetd.base.errors import WidgetError
from widgetd.core.schema.json_text import build_syntax_error
from widgetd.core.schema.json_values import error_at, kind
from widgetd.core.widget.components.vocabulary import load_chatkit_widgets
from widgetd.core.widget.limits import LIMITS

if TYPE_CHECKING:
    from chatkit.widgets import DynamicWidgetRoot

ROOTS = ("Card", "ListView", "Basic")
"""Types of a widget's root."""

_OBJECTS = {dict}
"""The types of nearly every component's children."""


def tree(output: str | bytes) -> dict[str, Any]:
    """Parse the widget root in `output`: `{"type": "Card", "children": [...]}`.

    Raises:
        WidgetError: It is not JSON (W1305), or no widget root (W1306). Line and column are those
            of the output.
    """
    return parse_tree(output)[0]


def parse_tree(output: str | bytes) -> tuple[dict[str, Any], bytes]:
    """Parse the widget root in `output`, and return it with its JSON."""
    try:
        root = orjson.loads(output)
    except orjson.JSONDecodeError as error:
        text = output if isinstance(output, str) else output.decode(errors="replace")
        raise _build_parse_error(text, error) from None
    if not isinstance(root, dict) or root.get("type") not in ROOTS:
        got = kind(root)
        if isinstance(root, dict):
            name = root.get("type")
            got = f"'{name[:40]}'" if isinstance(name, str) else "an object without a type"
        advice = "put it into a Card, a ListView or a Basic"
        raise error_at("W1306", "", f"the root is {got}", advice)
    _normalise(root)
    try:
        return root, orjson.dumps(root)
    except orjson.JSONEncodeError:
        raise _build_depth_error() from None


def to_chatkit(tree: dict[str, Any]) -> DynamicWidgetRoot:
    """Convert a tree to the model streamed by `chatkit.server`.

    Raises:
        pydantic.ValidationError: A child is no component.
    """
    root: DynamicWidgetRoot = load_chatkit_widgets().DynamicWidgetRoot.model_validate(tree)
    return root


def json_schema_to_chatkit_widget(
    tree: dict[str, Any], _widget_name: str = ""
) -> DynamicWidgetRoot:
    """Convert as `to_chatkit`, under the name in mcp-chatkit-widget."""
    return to_chatkit(tree)


def iterate_components(tree: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    waiting: list[Any] = [tree]
    while waiting:
        part = waiting.pop()
        if isinstance(part, list):
            waiting += part
        elif isinstance(part, Mapping):
            yield part
            waiting.append(part.get("children"))


def walk_components(tree: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the JSON pointer and each component of a tree, outer before inner, in order."""
    waiting: list[tuple[str, Any]] = [("", tree)]
    while waiting:
        at, part = waiting.pop()
        if isinstance(part, list):
            waiting += [(f"{at}/{index}", child) for index, child in enumerate(part)][::-1]
        elif isinstance(part, Mapping):
            yield at, part
            waiting.append((f"{at}/children", part.get("children")))


def _normalise(root: dict[str, Any]) -> None:
    """Drop superfluous values in place: the tree is ours, fresh from the parser."""
    components = [root]
    for component in components:  # grows during the loop
        if None in component.values():
            for name in [name for name, value in component.items() if value is None]:
                del component[name]
        if type(component.get("key")) is int:  # as React does with `key={index}`
            component["key"] = str(component["key"])
        children = component.get("children")
        if type(children) is dict:
            components.append(children)
        elif type(children) is list:
            if set(map(type, children)) == _OBJECTS:
                components += children
                continue
            children = component["children"] = _flatten_children(children)
            if not children:
                del component["children"]
            components.extend(child for child in children if type(child) is dict)


def _flatten_children(children: list[Any]) -> list[Any]:
    flat: list[Any] = []
    for child in children:
        if isinstance(child, list):
            flat.extend(_flatten_children(child))
        elif child is not None and not isinstance(child, bool):
            flat.append(child)
    return flat


def _build_parse_error(text: str, error: orjson.JSONDecodeError) -> WidgetError:
    try:
        json.loads(text, parse_int=float)  # as int, Python reads no more than 4,300 digits
    except json.JSONDecodeError as syntax:
        return build_syntax_error("W1305", text, syntax)
    except RecursionError:
        return _build_depth_error()
    if error.msg.startswith("depth"):
        return _build_depth_error()
    # Python's parser also accepts NaN, Infinity and lone surrogates.
    return error_at("W1305", "", f"the output is not JSON ({error.msg})", "write what JSON allows")


def _build_depth_error() -> WidgetError:
    problem = f"the output nests more than {LIMITS.tree_depth} levels deep"
    return error_at("W1305", "", problem, "nest fewer components")
