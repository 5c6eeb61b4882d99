"""A tree as Markdown: no text is lost, except sensitive ones and those beyond a budget."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import corpus_files, needs_corpus
from tests.support.widgets import build_widget, snapshot_of
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.widget.samples import generate_samples
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.loader import load_widget
from widgetd.server.catalog.registry import Registry
from widgetd.server.render.calls import Renderer
from widgetd.server.render.entry import CHARACTERS_OF_A_TOKEN
from widgetd.server.render.markdown import to_markdown
from widgetd.server.render.result import Policy
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import local_store

ROOT = Path(__file__).resolve().parents[4]
BUNDLED = sorted((ROOT / "widgets").glob("*.widget"))

TEXTS = ("value", "label", "alt", "placeholder", "ariaLabel")
"""Properties that people read."""

VOCABULARY = json.loads((ROOT / "view/vocabulary.json").read_text())["components"]

UNREAD = frozenset({"Icon", "Spacer"})


def texts_of(node: Any) -> Iterator[str]:
    """Yield every text of a tree that people can read."""
    if isinstance(node, list):
        for one in node:
            yield from texts_of(one)
    if not isinstance(node, Mapping) or node.get("type") in UNREAD:
        return
    known = VOCABULARY.get(node.get("type"), ("label",))
    for name, value in node.items():
        if name in TEXTS and name in known and isinstance(value, str):
            yield value
        elif name in {"children", "confirm", "cancel"}:
            yield from texts_of(value)
        elif name == "status" and isinstance(value, Mapping):
            yield str(value.get("text", ""))
        elif name == "options":
            yield from (str(one.get("label", "")) for one in value if isinstance(one, Mapping))
        elif name == "data" and isinstance(value, list):
            yield from (str(cell) for one in value for cell in one.values() if cell is not None)


def plain(text: str) -> str:
    return " ".join(text.replace("\\|", "|").split())


def assert_complete(tree: Mapping[str, Any]) -> None:
    result = plain(to_markdown(tree))
    for text in texts_of(tree):
        # The lines of a Markdown component stand between others.
        for line in text.splitlines():
            assert plain(line) in result, (line, result)


def trees_of(widget: Widget) -> Iterator[Mapping[str, Any]]:
    samples = [*widget.examples]
    samples += [one.arguments for one in generate_samples(widget, ("required", "full", "two"))]
    for arguments in samples:
        try:
            yield widget.tree(arguments)
        except (CallError, WidgetError):
            continue


@pytest.mark.parametrize("file", BUNDLED, ids=lambda file: file.stem)
def test_every_text_of_a_bundled_widget_is_in_its_markdown(file: Path) -> None:
    trees = list(trees_of(load_widget(file)))

    assert trees
    for tree in trees:
        assert_complete(tree)


@needs_corpus
def test_every_text_of_the_corpus_is_in_its_markdown() -> None:
    count = 0
    for file in corpus_files():
        try:
            widget = load_widget(file)
        except WidgetError:
            continue
        for tree in trees_of(widget):
            assert_complete(tree)
            count += 1
    assert count


TABLE = {
    "type": "Card",
    "children": [
        {"type": "Title", "value": "Orders"},
        {
            "type": "Table",
            "children": [
                {
                    "type": "Table.Row",
                    "header": True,
                    "children": [
                        {"type": "Table.Cell", "children": [{"type": "Text", "value": one}]}
                        for one in ("Item", "Price")
                    ],
                },
                {
                    "type": "Table.Row",
                    "children": [
                        {"type": "Table.Cell", "children": [{"type": "Text", "value": one}]}
                        for one in ("Tea | green", "£3")
                    ],
                },
            ],
        },
        {
            "type": "Button",
            "label": "Read",
            "onClickAction": {"type": "open_url", "payload": {"url": "https://a.example"}},
        },
        {"type": "Checkbox", "name": "news", "label": "News", "defaultChecked": True},
        {
            "type": "Select",
            "name": "size",
            "defaultValue": "l",
            "options": [{"value": "s", "label": "Small"}, {"value": "l", "label": "Large"}],
        },
        {"type": "Input", "name": "pin", "inputType": "password", "defaultValue": "1234"},
    ],
}


def test_tables_links_and_fields_have_their_markdown() -> None:
    assert to_markdown(TABLE).splitlines() == [
        "## Orders",
        "| Item | Price |",
        "|---|---|",
        "| Tea \\| green | £3 |",
        "[Read](https://a.example)",
        "[x] News",
        "size: Large (Small / Large)",
        "pin: ____",
    ]


def test_budget_states_the_omitted_parts() -> None:
    tree = {"type": "Col", "children": [{"type": "Text", "value": f"line {n}"} for n in range(99)]}
    text = to_markdown(tree, most_tokens=20)

    *lines, last = text.splitlines()
    assert lines == [f"line {n}" for n in range(len(lines))]
    assert last == f"… ({99 - len(lines)} of 99 lines left out)"
    assert len("\n".join(lines)) <= 20 * CHARACTERS_OF_A_TOKEN


async def markdown_of(widget: Widget, **policy: Any) -> str:
    registry = Registry(snapshot_of(widget))
    renderer = Renderer(registry, Policy(**policy), local_store(Bounds()))
    caller = Caller(snapshot=registry.current, registry=registry)
    result = await renderer.call(widget, {"who": "Ada"}, caller)
    text: str = json.loads(result.content)[0]["text"]
    return text


TREE = (
    '{"type":"Card","children":[{"type":"Text","value":{{ who | tojson }}},'
    '{"type":"Text","value":"Hello"}]}'
)


@pytest.mark.parametrize(
    ("sidecar", "policy"), [("", {"text": "markdown"}), ('text = "markdown"\n', {})]
)
async def test_text_is_markdown_by_setting_or_sidecar(sidecar: str, policy: dict[str, Any]) -> None:
    widget = build_widget("Greeting", template=TREE, sidecar=sidecar)

    assert (await markdown_of(widget, **policy)).splitlines()[:2] == ["Ada", "Hello"]


async def test_markdown_has_no_sensitive_value() -> None:
    widget = build_widget("Greeting", template=TREE, sidecar='sensitive = ["who"]\n')

    text = await markdown_of(widget, text="markdown")
    assert "Hello" in text
    assert "Ada" not in text
