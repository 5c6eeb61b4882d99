"""Authors find entries of the reference by any common name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from tests.support.widgets import build_widget, snapshot_of
from tests.unit.author.guide.questions import QUESTIONS, bundled_snapshot, find_misses
from widgetd.author.guide.component_details import VALUES, describe_properties
from widgetd.author.guide.reference import SYNONYMS, Reference, TestFiles
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.components import load_vocabulary
from widgetd.core.widget.widget import Widget
from widgetd.settings import describe_settings


def search(query: str, *kinds: str, limit: int = 10) -> list[dict[str, Any]]:
    return Reference(describe_settings()).find(bundled_snapshot(), query, kinds, limit)[0]


def test_sixty_questions_find_more_than_plain_words_do() -> None:
    kinds = [kind for _, kind, _ in QUESTIONS]
    ours, plain = find_misses(), find_misses(plainly=True)

    assert [kinds.count(kind) for kind in ("component", "example", "guide")] == [20, 20, 20]
    assert len(ours) <= 3, ours
    assert len(plain) > len(ours)


def test_named_kind_comes_first_and_requested_kind_alone() -> None:
    assert search("an example of a chart")[0]["kind"] == "example"
    assert {item["kind"] for item in search("chart", "component")} == {"component"}


def test_shared_property_is_found_once_unless_a_component_is_named() -> None:
    shared = [item["name"] for item in search("background", "component", limit=50)]

    assert sum(name.endswith(".background") for name in shared) == 1
    assert search("background of a box", "component")[0]["name"] in {"Box", "Box.background"}


def test_example_has_its_file_and_line() -> None:
    [item] = search("Chart example", "example", limit=1)
    file, _, line = item["at"].partition("#/template line ")
    template = json.loads((bundled_folder() / file).read_text())["template"]

    assert item["name"] == "chart"
    assert '"Chart"' in template.splitlines()[int(line) - 1]


def test_search_after_a_save_reads_only_changed_widgets() -> None:
    read: list[str] = []
    reference = Reference(describe_settings())
    first, second = build_widget("First"), build_widget("Second")
    reference.find(snapshot_of(first), "first", ["example"], 5)
    index = reference._examples.of(None)
    texts = index._texts

    def counted(each: Widget) -> Iterable[tuple[int, str]]:
        read.append(each.tool)
        return texts(each)

    index._texts = counted

    items, _ = reference.find(snapshot_of(first, second), "second", ["example"], 5)

    assert [item["name"] for item in items] == ["second"]
    assert read == ["second"]


def test_every_component_is_found_by_its_synonyms() -> None:
    owners = {name.partition(".")[0] for name in SYNONYMS}
    assert owners <= {*load_vocabulary().components, *VALUES}
    reference = Reference(describe_settings())
    for name, words in SYNONYMS.items():
        items, _ = reference.find(snapshot_of(), words, ["component"], 3)
        assert name in {item["name"] for item in items}, words


def test_search_answers_every_property_with_its_docstring() -> None:
    reference, empty = Reference(describe_settings()), snapshot_of()
    for component in load_vocabulary().components.values():
        for row in describe_properties(component):
            name = f"{component.type}.{row['name']}"
            items, _ = reference.find(empty, name, ["component"], 50)
            snippet = next(item["snippet"] for item in items if item["name"] == name)
            assert " ".join(row["text"].split())[:80] in snippet


def test_example_is_a_whole_element_and_a_test_is_whole_with_their_lines() -> None:
    example = next(item for item in search("chart", "example") if item["title"].endswith("Chart"))
    pick = next(item for item in search("pick date test", "test") if "Pick Date" in item["snippet"])

    file, _, line = example["at"].partition("#/template line ")
    template = json.loads((bundled_folder() / file).read_text())["template"]
    assert template.splitlines()[int(line) - 1].find('"type":"Chart"') >= 0
    assert example["snippet"].startswith('{"type":"Chart"')
    path, _, line = pick["at"].partition(" line ")
    lines = (bundled_folder() / path).read_text().splitlines()
    assert lines[int(line) - 1].strip() == pick["snippet"].splitlines()[0]
    assert {item["kind"] for item in search("form", "test")} == {"test"}


def test_test_file_is_read_again_only_when_it_changes() -> None:
    files = TestFiles()
    texts = {f"{name}.tests.yaml": f"- name: {name} says hello\n" for name in ("a", "b", "c")}
    first = {test.name: test for _, test in files.search(texts, "hello")}
    texts = {**texts, "b.tests.yaml": "- name: b says hello twice\n"}
    del texts["c.tests.yaml"]

    again = {test.name: test for _, test in files.search(texts, "hello")}

    assert first.keys() == {"a.tests.yaml", "b.tests.yaml", "c.tests.yaml"}
    assert again.keys() == {"a.tests.yaml", "b.tests.yaml"}
    assert again["a.tests.yaml"] is first["a.tests.yaml"]
    assert "twice" in again["b.tests.yaml"].text
