"""A widget written for Studio is read back as the same widget, in every state."""

from __future__ import annotations

import json
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.corpus import CORPUS, corpus_files, needs_corpus
from tests.unit.core.schema.schemas import VALUES
from tests.unit.core.template.test_jsx import EXPRESSIONS
from widgetd.author.export.package import format_tree, pack
from widgetd.author.export.transcribe import transcribe
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.studio.compare import differ
from widgetd.core.template.jsx import View
from widgetd.core.widget.components import tree
from widgetd.core.widget.definition import define
from widgetd.core.widget.document import KNOWN, OPTIONAL, REQUIRED, decode_package
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.states import list_states, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.catalog.loader import load

KEYS = {
    *("id", "name", "view", "defaultState", "states", "schema", "jsonSchema", "schemaMode"),
    *("schemaValidity", "viewValidity", "defaultStateValidity"),
}
"""The keys of Studio's package in 47 of 64 exports; the other 17 lack the schema in JSON."""


def draw(widget: Widget, arguments: Any) -> Any:
    try:
        return widget.call(arguments).tree
    except (CallError, WidgetError) as error:
        return type(error).__name__


def read_back(widget: Widget, folder: Path) -> Widget:
    """Return the widget that our reader makes of the export, beside the same sidecar."""
    path = widget.definition.path
    beside = folder / f"{path}{SUFFIX}"
    name = path.removesuffix(".jsx")
    sidecar = Source.of(f"{name}{SUFFIX}", beside.read_bytes()) if beside.exists() else None
    return load(Source.of(name, pack(widget).content), sidecar, limits=Limits())


def check_states(folder: Path) -> int:
    widgets = discover_widgets(folder)
    for widget in widgets:
        again = read_back(widget, folder)
        file = again.definition.document.content
        assert {*REQUIRED, *OPTIONAL} <= set(file), widget
        assert set(decode_package(file["encodedWidget"]) or {}) >= KEYS, widget
        for state in list_states(widget):
            state_shown = show_state(widget, state.key)
            if state_shown.render is None:
                got, want = (draw(one, state_shown.arguments) for one in (again, widget))
                assert not differ(got, want), (widget, state.key)
    return len(widgets)


def test_export_of_every_bundled_widget_draws_the_same_in_every_state() -> None:
    assert check_states(bundled_folder()) == 27


@needs_corpus
def test_export_of_every_file_of_the_corpus_draws_the_same_in_every_state() -> None:
    folders = sorted({file.parent for file in corpus_files()})

    assert sum(map(check_states, folders)) > 40


@needs_corpus
def test_jsx_of_every_export_but_one_is_transcribed_without_loss() -> None:
    lossy = set()
    for folder in (bundled_folder(), *(one for one in CORPUS.iterdir() if one.is_dir())):
        for widget in discover_widgets(folder):
            view, schema = widget.definition.view, widget.schema.advertised
            if view and transcribe(view, schema, limits=Limits()).lost:
                lossy.add(widget.tool)

    # It filters its rows by a text that it joins of their cells.
    assert lossy == {"table"}


@needs_corpus
def test_table_of_studios_keys_counts_the_files_with_them() -> None:
    counts: Counter[str] = Counter()
    for path in (*corpus_files(), *bundled_folder().glob("*.widget")):
        with suppress(ValueError):
            package = decode_package(json.loads(path.read_bytes()).get("encodedWidget") or "")
            counts.update(list(package) if package and package.get("view") else [])
    page = (Path(__file__).parents[4] / "docs" / "designers.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    table = {key.strip(" `"): int(n) for keys, n in rows for key in keys.split(",")}

    assert table == dict(counts)


JSX = """const schema = {
  type: "object",
  properties: {
    title: { type: "string" },
    done: { type: "boolean" },
    rows: { type: "array", items: { type: "object", properties: { name: { type: "string" } } } },
  },
  required: ["title"],
};

const sample = { title: "Hi", done: true, rows: [{ name: "a" }, { name: "b" }] };

%s
"""


def widget_of(view: str, tmp_path: Path) -> Widget:
    file = tmp_path / "Some.widget.jsx"
    file.write_text(JSX % view)
    [widget] = discover_widgets(tmp_path)
    return widget


@pytest.mark.parametrize(
    "view",
    [
        "<Card><Text value={`${rows.length} rows`} /></Card>",
        "<Card>{rows && <Text value={title} />}</Card>",
        (
            '<Card>{rows?.filter((row) => row.name !== "a").map((row, i) =>'
            " <Text value={i + 1} />)}</Card>"
        ),
        '<Card>{rows.map(({ name }) => <Text value={name.toUpperCase() + "!"} />)}</Card>',
        '<Card><Text value={{ a: "x {{ y }}", b: "z" }[title] ?? "no"} /></Card>',
        "<Card>{done === true && <Divider />}</Card>",
        "<Card>{rows.map(() => <Divider />)}</Card>",
        "<Card><Text value={Math.max(rows.length, 1, 2)} /></Card>",
        "<Card><Text value={Math.min(rows.length - 5)} /></Card>",
        '<Card><Text value={rows.map((row) => row.name).join(", ")} /></Card>',
        '<Card><>{done ? <Badge label="Done" /> : null}<Text value="{{ no }}" /></></Card>',
    ],
)
def test_template_made_of_jsx_draws_the_same_as_the_jsx(view: str, tmp_path: Path) -> None:
    widget = widget_of(view, tmp_path)
    packed = pack(widget)
    again = load(Source.of("Some.widget", packed.content), None, limits=Limits())

    assert again.source == "template"
    assert len(packed.unknown) == 1
    for arguments in (
        {"title": "a", "rows": []},
        {"title": "b", "done": True, "rows": [{"name": "a"}, {"name": "b"}]},
    ):
        assert not differ(draw(again, arguments), draw(widget, arguments))


@pytest.mark.parametrize(
    "view",
    [
        '<Card><Text value={rows.find((row) => row.name === "a").name} /></Card>',
        "<Card>{rows.map((row) => { if (row.name) return <Spacer />; return null; })}</Card>",
        "<Card>{rows.map((row) => { let x; return <Divider />; })}</Card>",
        "<Card><Text value={String(rows.concat(rows, rows).length)} /></Card>",
        "<Card>{rows.map((row, at, all) => <Text value={String(all.length)} />)}</Card>",
    ],
)
def test_jsx_without_an_equivalent_in_jinja_is_exported_without_a_template(
    view: str, tmp_path: Path
) -> None:
    packed = pack(widget_of(view, tmp_path))
    again = load(Source.of("Some.widget", packed.content), None, limits=Limits())

    assert again.source == "view"
    assert "There is no template, because Jinja cannot say all of the JSX." in packed.unknown


@given(EXPRESSIONS)
def test_any_expression_is_transcribed_or_named_as_lost(expression: str) -> None:
    view = f"<A b={{{expression}}}>{{{expression}}}{{rows.map(({{ n }}) => {expression})}}</A>"
    schema = {"properties": {"xs": True, "o": {"items": [{}]}, "rows": {"items": True}}}

    transcript = transcribe(view, schema, limits=Limits())

    assert transcript.template or transcript.lost


COMPONENTS = st.recursive(
    st.sampled_from(["text", {}, {" type": "Spacer"}, {"type": 1}, {"type": "Spacer"}]),
    lambda inner: st.builds(
        lambda tag, attributes, children: {"type": tag, **attributes, "children": children},
        st.sampled_from(["Row", "Unknown_1", "my row", "é", ""]),
        st.dictionaries(st.sampled_from(["gap", "a b", "data-x", "é", ""]), VALUES, max_size=3),
        st.lists(inner, max_size=3),
    ),
    max_leaves=8,
)


@given(st.lists(COMPONENTS, max_size=3))
def test_any_tree_is_formatted_as_jsx_that_draws_it(children: list[Any]) -> None:
    shown = {"type": "Card", "children": children}
    view = View(format_tree(shown), Limits())

    assert not differ(tree(view.render({})), tree(json.dumps(shown)))


def test_tree_is_formatted_as_jsx_that_draws_it() -> None:
    shown = {
        "type": "Card",
        "size": "sm",
        "children": [
            {"type": "Text", "value": 'a "quoted" {text}\n', "padding": {"x": 1}},
            {"type": "Button", "label": "Go", "submit": True, "disabled": False, "key": None},
        ],
    }
    view = View(format_tree(shown), Limits())

    assert not differ(tree(view.render({})), shown)


def test_export_keeps_unknown_keys_and_warns_of_them(tmp_path: Path) -> None:
    (tmp_path / "Plain.widget").write_text(
        '{"version":"1.0","name":"Plain","notes":["mine"],"template":"{\\"type\\":\\"Card\\"}"}'
    )
    [widget] = discover_widgets(tmp_path)
    packed = pack(widget)
    file = define(Source.of("Plain.widget", packed.content)).document

    assert {key: file.content[key] for key in file.content.keys() - KNOWN} == {"notes": ["mine"]}
    assert file.view == "<Card />"
    assert any("sidecar" in sentence and "local state" in sentence for sentence in packed.unknown)
    assert any("sample alone" in sentence for sentence in packed.unknown)
