"""Whatever is in a file, it is served with what can be said about it, or refused with its name."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from widgetd.errors import CODES, Finding, WidgetError
from widgetd.files.source import Source
from widgetd.widget.compiled import compile_widget
from widgetd.widget.definition import define
from widgetd.widget.findings import breaking, findings

FOLDER = Path(__file__).parents[2] / "widgets"
BUNDLED = [json.loads(path.read_bytes()) for path in sorted(FOLDER.glob("*.widget"))]

JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, 0, -1, 1.5, "", "x", [], {}, [[]], [None], ["a", 1]),
        *("{{ x }}", "{% if x %}", "\u200ba", "a" * 3000, "(none)"),
        *({"type": "Card"}, {"type": 7}, {"$ref": "#"}, {"type": "array"}, {"a/b~c": {}}),
    ]
)
CUTS = st.sampled_from(["", '"', "}}", "{{ x }}", "{%", "{", "[", ",", "none", "(none)", "\\", "é"])


@st.composite
def spoilt(draw: st.DrawFn) -> bytes:
    """A bundled widget in which something was overwritten."""
    file = json.loads(json.dumps(draw(st.sampled_from(BUNDLED))))
    for _ in range(draw(st.integers(0, 2))):
        *around, last = draw(st.sampled_from(list(_places(file))))
        value: Any = file
        for key in around:
            value = value[key]
        value[last] = draw(JUNK)
    if draw(st.booleans()) and isinstance(file.get("template"), str):
        file["template"] = _cut(draw, file["template"])
    content = json.dumps(file)
    return (_cut(draw, content) if draw(st.integers(0, 4)) == 0 else content).encode()


def _cut(draw: st.DrawFn, text: str) -> str:
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 12)))
    return text[:start] + draw(CUTS) + text[end:]


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner: Iterable[tuple[Any, Any]] = value.items() if isinstance(value, dict) else ()
    if isinstance(value, list):
        inner = enumerate(value)
    found = [place for key, one in inner for place in _places(one, (*path, key))]
    return [path, *found] if path else found


def judged(content: bytes) -> tuple[Finding, ...]:
    definition = define(Source(path="spoilt.widget", content=content, digest=""))
    good = define(Source(path="good.widget", content=json.dumps(BUNDLED[0]).encode(), digest=""))
    return breaking(good, definition) + findings(compile_widget(definition))


@settings(max_examples=150, deadline=None)
@given(spoilt())
def test_a_spoilt_widget_is_judged_or_refused_and_either_names_the_file(content: bytes) -> None:
    found: tuple[Finding, ...] = ()
    try:
        found = judged(content)
    except WidgetError as error:
        found = (error.finding,)

    assert {finding.path for finding in found} <= {"spoilt.widget"}
    assert {finding.code for finding in found} <= CODES.keys()
    assert all(finding.problem and finding.advice for finding in found)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.widget")), ids=lambda path: path.stem)
def test_a_bundled_widget_leaves_nothing_to_say(path: Path) -> None:
    sidecar = path.with_name(path.name + ".toml")
    widget = compile_widget(
        define(
            Source(path=path.name, content=path.read_bytes(), digest=""),
            Source(path=sidecar.name, content=sidecar.read_bytes(), digest=""),
        )
    )

    assert [str(finding) for finding in findings(widget)] == []
