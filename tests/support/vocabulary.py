"""Record the vocabulary of the installed `chatkit.widgets`: `python -m tests.support.vocabulary`.

The copy is `widgetd/core/widget/components/vocabulary.json`. Its descriptions are used; the rest
lets a test say what a new version of the package changed.
"""

from __future__ import annotations

import ast
import inspect
from pathlib import Path
from typing import Any

import orjson

from widgetd.core.widget.components import vocabulary

COPY = Path(vocabulary.__file__).with_name("vocabulary.json")


def read_documentation() -> dict[str, dict[str, str]]:
    """Return the docstrings of all properties in ChatKit's source, by class and property."""
    tree = ast.parse(inspect.getsource(vocabulary.load_chatkit_widgets()))
    documentation = {}
    for one in tree.body:
        if not isinstance(one, ast.ClassDef):
            continue
        texts = {}
        for part, after in zip(one.body, one.body[1:], strict=False):
            if (
                isinstance(part, ast.AnnAssign)
                and isinstance(part.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                texts[part.target.id] = inspect.cleandoc(str(after.value.value))
        if texts:
            documentation[one.name] = texts
    return documentation


def read_vocabulary() -> dict[str, Any]:
    """Return `{"documentation", "icons", "components": {type: {"holds", "schema"}}}`."""
    words = vocabulary.load_vocabulary()
    components = {
        name: {
            "holds": None if one.holds is None else sorted(one.holds),
            "schema": _without_descriptions(one.schema),
        }
        for name, one in words.components.items()
        if one.model is not None
    }
    documentation = read_documentation()
    return {"documentation": documentation, "icons": list(words.icons), "components": components}


def _without_descriptions(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            name: _without_descriptions(inner)
            for name, inner in value.items()
            if name != "description" or not isinstance(inner, str)
        }
    return [_without_descriptions(one) for one in value] if isinstance(value, list) else value


if __name__ == "__main__":
    COPY.write_bytes(orjson.dumps(read_vocabulary(), option=orjson.OPT_INDENT_2) + b"\n")
