"""Print what the installed chatkit declares: components, records, their properties and values.

The view is held against this list, so that a property ChatKit adds cannot be overlooked:
`python view/vocabulary.py > view/vocabulary.json` after each upgrade of openai-chatkit.
"""

from __future__ import annotations

import json
import sys
import types
from importlib.metadata import version
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from chatkit import actions, icons, widgets
from pydantic import BaseModel

WRAPPERS = (Annotated, NotRequired, Union, types.UnionType)


def literals(annotation: Any) -> list[str]:
    """Return the string values that an annotation names, in the order it names them."""
    if get_origin(annotation) is Literal:
        return [value for value in get_args(annotation) if isinstance(value, str)]
    if get_origin(annotation) in WRAPPERS:
        return [value for part in get_args(annotation) for value in literals(part)]
    return []


def properties(declared: type) -> dict[str, list[str]]:
    """Return each property of a class beside the values it is restricted to, `[]` for any."""
    hints = get_type_hints(declared, vars(sys.modules[declared.__module__]), include_extras=True)
    names = declared.model_fields if issubclass(declared, BaseModel) else hints
    icon_values = literals(icons.IconName)
    return {
        name: ["icon"] if literals(hints[name]) == icon_values else literals(hints[name])
        for name in sorted(names)
        if name not in {"type", "key", "id"}
    }


def vocabulary() -> dict[str, Any]:
    """Return `{"chatkit": version, "icons": [...], "components": {...}, "records": {...}}`."""
    components, records = {}, {"ActionConfig": properties(actions.ActionConfig)}
    dynamic = (widgets.DynamicWidgetComponent, widgets.DynamicWidgetRoot)
    for name, declared in vars(widgets).items():
        if not isinstance(declared, type) or declared.__module__ != widgets.__name__:
            continue
        if issubclass(declared, widgets.WidgetComponentBase):
            if declared not in (widgets.WidgetComponentBase, *dynamic):
                components[declared.model_fields["type"].default] = properties(declared)
        elif name.endswith("Series") or (
            hasattr(declared, "__total__") and name not in {"ThemeColor", "MinMax"}
        ):
            records[name] = properties(declared)
    return {
        "chatkit": version("openai-chatkit"),
        "icons": literals(icons.IconName),
        "components": dict(sorted(components.items())),
        "records": dict(sorted(records.items())),
    }


if __name__ == "__main__":
    json.dump(vocabulary(), sys.stdout, indent=1)
    sys.stdout.write("\n")
