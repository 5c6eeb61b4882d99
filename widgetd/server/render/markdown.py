"""A tree as Markdown, for models and for clients without views.

A component without a row of its own shows its children, so every text of a tree is there. Icons,
spacers and the look of things are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import accumulate
from math import inf
from types import MappingProxyType
from typing import Any

from widgetd.server.render.entry import CHARACTERS_OF_A_TOKEN

Node = Mapping[str, Any]

_INLINE = frozenset(
    {"Badge", "Button", "Caption", "Icon", "Image", "Label", "Markdown", "Text", "Title"}
)
"""Components on a common line in a row."""

_LINKS = ("url", "href", "link")


def to_markdown(tree: Node, *, most_tokens: int = 0) -> str:
    """Return the texts of `tree` as Markdown, cut after `most_tokens` with a note, 0 for all."""
    lines = [line for line in _block(tree) if line.strip()]
    most = most_tokens * CHARACTERS_OF_A_TOKEN or inf
    ends = accumulate(len(line) + 1 for line in lines)
    kept = lines[: sum(end <= most for end in ends)]
    omitted = len(lines) - len(kept)
    note = f"… ({omitted} of {len(lines)} lines left out)"
    return "\n".join([*kept, note] if omitted else kept)


def _block(node: Node) -> list[str]:
    lines = _BLOCKS.get(str(node.get("type")), _group)(node)
    status = node.get("status")
    if isinstance(status, Mapping):
        lines = [_line(status.get("text")), *lines]
    for name in ("confirm", "cancel"):
        if isinstance(node.get(name), Mapping):
            lines.append(_button(node[name]))
    return lines


def _group(node: Node) -> list[str]:
    children = _children(node)
    if node.get("type") == "Row" and all(child.get("type") in _INLINE for child in children):
        return [" ".join(filter(None, (line for child in children for line in _block(child))))]
    return [line for child in children for line in _block(child)]


def _children(node: Node) -> list[Node]:
    children = node.get("children")
    listed = children if isinstance(children, list) else [children]
    return [child for child in listed if isinstance(child, Mapping)]


def _line(value: object) -> str:
    if value is None or isinstance(value, (dict, list)):
        return ""
    return " ".join(("true" if value is True else str(value)).split())


def _text(node: Node) -> list[str]:
    editable = node.get("editable")
    if isinstance(editable, Mapping):
        about = {**editable, "defaultValue": node.get("value"), "type": "Textarea"}
        return _field(about)
    return [_line(node.get("value"))]


def _image(node: Node) -> list[str]:
    source, alt = _line(node.get("src")), _line(node.get("alt"))
    return [f"![{alt}]({source})" if source.startswith("http") else alt and f"![{alt}]"]


def _button(node: Node) -> str:
    label = _line(node.get("label"))
    action = node.get("action") or node.get("onClickAction")
    payload = action.get("payload") if isinstance(action, Mapping) else None
    fields = payload if isinstance(payload, Mapping) else {}
    links = (_line(fields.get(name)) for name in _LINKS)
    url = next((link for link in links if link.startswith(("http://", "https://"))), "")
    return f"[{label}]({url})" if url else label and f"[{label}]"


def _items(node: Node) -> list[str]:
    lines: list[str] = []
    for child in _children(node):
        first, *more = [line for line in _block(child) if line.strip()] or [""]
        lines += [f"- {first}", *(f"  {line}" for line in more)]
    return lines


def _cell(node: Node) -> str:
    value = _line(node.get("value"))
    texts = [value, *(line for child in _children(node) for line in _block(child))]
    return " ".join(filter(None, texts)).replace("|", "\\|")


def _table(node: Node) -> list[str]:
    rows = [[_cell(cell) for cell in _children(row)] for row in _children(node)]
    width = max((len(row) for row in rows), default=0)
    lines = [f"| {' | '.join([*row, *[''] * (width - len(row))])} |" for row in rows]
    return [*lines[:1], f"|{'---|' * width}", *lines[1:]] if lines else []


def _chart(node: Node) -> list[str]:
    data = [entry for entry in node.get("data") or () if isinstance(entry, Mapping)]
    keys = list(dict.fromkeys(key for entry in data for key in entry))
    series = [entry for entry in node.get("series") or () if isinstance(entry, Mapping)]
    names = {str(entry.get("dataKey")): _line(entry.get("label")) for entry in series}
    heads = [" ".join(filter(None, (_line(key), names.get(key, "")))) for key in keys]
    cells = [heads, *([_line(entry.get(key)) for key in keys] for entry in data)]
    rows = [{"children": [{"value": cell} for cell in row]} for row in cells] if keys else []
    return _table({"children": rows})


def _field(node: Node) -> list[str]:
    name = _line(node.get("label") or node.get("ariaLabel") or node.get("name"))
    value = node.get("defaultChecked", node.get("defaultValue"))
    if node.get("type") == "Checkbox":
        return [f"[{'x' if value is True else ' '}] {name}"]
    hidden = node.get("inputType") == "password"
    options = [option for option in node.get("options") or () if isinstance(option, Mapping)]
    labels = {
        option.get("value"): _line(option.get("label") or option.get("value")) for option in options
    }
    text = "" if hidden else labels.get(value, _line(value)) if value is not None else ""
    parts = [f"{name}: {text or '____'}"]
    if labels:
        parts.append(f"({' / '.join(labels.values())})")
    if placeholder := _line(node.get("placeholder")):
        parts.append(f"({placeholder})")
    if node.get("required") is True:
        parts.append("(required)")
    return [" ".join(parts)]


_BLOCKS: Mapping[str, Callable[[Node], list[str]]] = MappingProxyType(
    {
        "Badge": lambda node: [_line(node.get("label"))],
        "Button": lambda node: [_button(node)],
        "Caption": _text,
        "Chart": _chart,
        "Checkbox": _field,
        "DatePicker": _field,
        "Divider": lambda _node: ["---"],
        "Icon": lambda _node: [],
        "Image": _image,
        "Input": _field,
        "Label": _text,
        "ListView": _items,
        "Markdown": lambda node: str(node.get("value") or "").splitlines(),
        "RadioGroup": _field,
        "Select": _field,
        "Spacer": lambda _node: [],
        "Table": _table,
        "Text": _text,
        "Textarea": _field,
        "Title": lambda node: [f"## {_line(node.get('value'))}"],
    }
)
"""How each component is written. All others show their children."""
