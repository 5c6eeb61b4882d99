"""Realistic edits of real exports: findings name the edit, and each value that it loses."""

from __future__ import annotations

import base64
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.corpus import corpus_files, needs_corpus
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.document import decode_package
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load

File = dict[str, Any]
ADDED = '{"type":"Caption","value":"Added by hand"}'
LITERAL = re.compile(r'("(?:value|label|title|placeholder)"\s*:\s*")([^"{}\\]{3,})(")')
JSX_LITERAL = re.compile(r'((?:value|label|title|placeholder)=")([^"{}\\]{3,})(")')


def rename_in_schema(file: File) -> bool:
    """Rename the first property."""
    properties = file["jsonSchema"].get("properties", {})
    if not properties:
        return False
    first = next(iter(properties))
    renamed = {f"{first}_renamed" if key == first else key: one for key, one in properties.items()}
    file["jsonSchema"]["properties"] = renamed
    required = file["jsonSchema"].get("required", [])
    file["jsonSchema"]["required"] = [f"{k}_renamed" if k == first else k for k in required]
    return True


def change_literal(file: File) -> bool:
    """Change a word in the template."""
    file["template"], count = LITERAL.subn(r"\g<1>\g<2> edited\g<3>", file["template"], count=1)
    return bool(count)


def add_component(file: File) -> bool:
    """Add a component to the root of the template."""
    before, mark, after = file["template"].partition('"children":[')
    # A list takes items only.
    if not mark or after.startswith("]") or '"type":"ListView"' in before:
        return False
    captured = re.match(r"\s*\{%-?\s*set \w+\s*-?%\}", after)
    added = f",{ADDED}" if captured else f"{ADDED},"
    at = captured.end() if captured else 0
    file["template"] = before + mark + after[:at] + added + after[at:]
    return True


def remove_required(file: File) -> bool:
    """Make the first required argument optional."""
    required = file["jsonSchema"].get("required", [])
    file["jsonSchema"]["required"] = required[1:]
    return bool(required)


def change_default_state(file: File) -> bool:
    """Change a text of the sample."""

    def change(package: File) -> bool:
        state = package.get("defaultState") or {}
        all_texts = [key for key, value in state.items() if isinstance(value, str) and value]
        if all_texts:
            state[all_texts[0]] += " again"
        return bool(all_texts)

    return change_package(file, change)


def change_jsx(file: File) -> bool:
    """Change a word in the JSX alone."""

    def change(package: File) -> bool:
        view, count = JSX_LITERAL.subn(r"\g<1>\g<2> newer\g<3>", package.get("view", ""), count=1)
        package["view"] = view
        return bool(count)

    return change_package(file, change)


def change_package(file: File, change: Callable[[File], bool]) -> bool:
    package = decode_package(file.get("encodedWidget") or "")
    if package is None or not change(package):
        return False
    file["encodedWidget"] = base64.b64encode(json.dumps(package).encode()).decode()
    return True


EDITS = (
    rename_in_schema,
    change_literal,
    add_component,
    remove_required,
    change_default_state,
    change_jsx,
)
EXPORTERS = {"W1307", "W1308", "W1309", "W1324"}
"""Losses of the exporter's, which count as soon as the edited template is drawn."""

BLAME: dict[Callable[[File], bool], tuple[str, ...]] = {
    change_literal: ("the template was edited", "the template and the JSX disagree"),
    add_component: ("the template was edited", "the template and the JSX disagree"),
    change_jsx: ("the JSX was changed", "the template and the JSX disagree"),
}


def make(file: File, path: Path) -> Widget:
    return load(Source.of(path.name, json.dumps(file).encode()), None, limits=Limits())


@dataclass(frozen=True, slots=True, kw_only=True)
class Export:
    """A file of the corpus before it is edited.

    Attributes:
        path: Its path.
        text: Its content, which each edit parses for itself.
        codes: The number of findings of each code.
        shown: The texts that its sample shows.
    """

    path: Path
    text: bytes
    codes: Counter[str]
    shown: set[str]


@pytest.fixture(scope="module")
def exports() -> list[Export]:
    return list(read_exports())


def read_exports() -> Iterator[Export]:
    for path in corpus_files():
        try:
            file = json.loads(path.read_bytes())
        except ValueError:
            continue
        package = decode_package(file.get("encodedWidget") or "")
        if package and package.get("view") and file.get("template") and file.get("jsonSchema"):
            before = make(file, path)
            yield Export(
                path=path,
                text=path.read_bytes(),
                codes=Counter(one.code for one in check_widget(before)),
                shown=shown_texts(before),
            )


def all_texts(value: Any) -> Iterator[str]:
    """Yield the texts and numbers that a tree shows."""
    for each in value.values() if isinstance(value, dict) else value:
        if isinstance(each, dict | list):
            yield from all_texts(each)
        elif each is not None:
            yield str(each)


def shown_texts(widget: Widget) -> set[str]:
    studio = widget.definition.studio
    assert studio is not None
    try:
        return set(all_texts(widget.tree(dict(studio.default_state))))
    except (CallError, WidgetError):
        return set()


@needs_corpus
@pytest.mark.parametrize("edit", EDITS, ids=lambda edit: edit.__name__)
def test_edit_of_an_export_is_one_finding_and_each_lost_value_is_named(
    edit: Callable[[File], bool], exports: Sequence[Export]
) -> None:
    count = 0
    for export in exports:
        changed = json.loads(export.text)
        if not edit(changed):
            continue
        after = make(changed, export.path)
        count += 1
        where = f"{export.path.parent.name}/{export.path.name}"

        if edit in {change_literal, add_component, remove_required}:
            shown = {each.removesuffix(" edited") for each in shown_texts(after)}
            lost = " ".join(one.problem for one in check_widget(after) if one.code == "W1307")
            assert all(each[:12] in lost for each in export.shown - shown), where
        findings = check_widget(after)
        more = Counter(one.code for one in findings) - export.codes
        # Another name makes another button of one that did nothing before.
        expected = EXPORTERS | {"W1415"}
        new = [one for one in findings if one.code in more and one.code not in expected]
        assert len({one.code for one in new}) <= 1, (where, list(map(str, new)))
        assert sum(more[one.code] for one in new[:1]) <= 1, (where, list(map(str, new)))
        for one in new:
            if one.code == "W1326":
                assert one.problem.startswith(BLAME.get(edit, ())), (where, str(one))
    assert count >= 15
