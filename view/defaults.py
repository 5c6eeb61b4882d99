"""Print what the view draws where a component leaves a property unsaid, by component.

Authors are told these by `get_component_details`. They are those of `src/defaults.ts`, as far as
ChatKit declares a property of that name: `python view/defaults.py > widgetd/view/defaults.json`,
which `make view` runs.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

SHARED = {"control": ("DatePicker", "Input", "Select", "Textarea")}
"""What one word of the view's stands for."""


def said(source: str) -> dict[str, Any]:
    """The object that `defaults.ts` exports, which is JSON but for comments, names and commas."""
    text = re.sub(r"/\*.*?\*/", "", source, flags=re.DOTALL)
    body = text[text.index("{") : text.rindex("}") + 1]
    quoted = re.sub(r"([{,]\s*)(\w+):", r'\1"\2":', body)
    return dict(json.loads(re.sub(r",(\s*[}\]])", r"\1", quoted)))


def defaults() -> dict[str, dict[str, Any]]:
    """`{component: {property: value}}`, in the order of names."""
    told = said((HERE / "src" / "defaults.ts").read_text(encoding="utf-8"))
    known = json.loads((HERE / "vocabulary.json").read_text(encoding="utf-8"))["components"]
    found: dict[str, dict[str, Any]] = {}
    for component, properties in known.items():
        group = component[:1].lower() + component[1:]
        shared = [name for name, members in SHARED.items() if component in members]
        for name in properties:
            for place, key in ((name, component), *((one, name) for one in (group, *shared))):
                value = told.get(place, {}).get(key) if isinstance(told.get(place), dict) else None
                # A variable of the view's own says nothing to an author.
                if value is not None and not (isinstance(value, str) and value.startswith("var(")):
                    found.setdefault(component, {})[name] = value
                    break
    return found


if __name__ == "__main__":
    print(json.dumps(defaults(), indent=2))
