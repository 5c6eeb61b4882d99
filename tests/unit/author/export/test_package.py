"""A widget written for Studio is read back as the same widget, in every state."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from tests.support.corpus import corpus_files, needs_corpus
from tests.unit.core.studio.test_edits import change_jsx, change_literal, make, read_exports
from tests.unit.core.template.test_jsx import EXPRESSIONS
from widgetd.author.export.package import Package, pack
from widgetd.author.export.print_expressions import UnprintableError
from widgetd.author.export.print_template import print_template
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.files.folder import bundled_folder
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.studio.compare import differ, generate_arguments
from widgetd.core.template import compile_template
from widgetd.core.template.jsx import View
from widgetd.core.template.jsx.parse import parse
from widgetd.core.widget.components import tree
from widgetd.core.widget.components.vocabulary import load_chatkit_widgets
from widgetd.core.widget.definition import define
from widgetd.core.widget.document import KNOWN, OPTIONAL, REQUIRED, decode_package
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.sources import Drawing
from widgetd.core.widget.states import list_states, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.catalog.loader import load

KEYS = {
    *("id", "name", "view", "defaultState", "states", "schema", "jsonSchema", "schemaMode"),
    *("schemaValidity", "viewValidity", "defaultStateValidity"),
}
"""The keys of Studio's package in 47 of 64 exports; the other 17 lack the schema in JSON."""


def tree_or_error(widget: Widget, arguments: Any) -> Any:
    try:
        return widget.call(arguments).tree
    except (CallError, WidgetError) as error:
        return type(error).__name__


def read_back(widget: Widget, packed: Package, folder: Path) -> Widget:
    """Return the widget that our reader makes of the export, beside the same sidecar."""
    path = widget.definition.path
    beside = folder / f"{path}{SUFFIX}"
    name = path.removesuffix(".jsx")
    sidecar = Source.of(f"{name}{SUFFIX}", beside.read_bytes()) if beside.exists() else None
    return load(Source.of(name, packed.content), sidecar, limits=Limits())


def compile_in_chatkit(template: str) -> Callable[[Any], Any]:
    """Return chatkit's `WidgetTemplate`, which fails on what is absent, as a function."""
    definition = {"version": "1.0", "name": "x", "template": template}
    compiled = load_chatkit_widgets().WidgetTemplate(definition)

    def tree_or_error(arguments: Any) -> Any:
        built = compiled.build(json.loads(json.dumps(arguments, default=dict)))
        return tree(json.dumps(built.model_dump(mode="json", exclude_none=True)))

    return tree_or_error


def check_export(widget: Widget, folder: Path) -> bool:
    """Check an export on all states and 20 sets of arguments; return whether it has a template."""
    packed = pack(widget)
    again = read_back(widget, packed, folder)
    file = again.definition.document.content
    assert {*REQUIRED, *OPTIONAL} <= set(file)
    assert set(decode_package(file["encodedWidget"]) or {}) >= KEYS
    problems = [one.problem for one in packed.findings]
    adopts_jsx = any(one.startswith("the JSX was changed") for one in problems)
    source = widget.view if adopts_jsx else widget.drawing
    states = [show_state(widget, state.key) for state in list_states(widget)]
    sets = [state.arguments for state in states if state.render is None]
    sets += generate_arguments(widget.schema, 20)
    is_readable = bool(file["template"]) and widget.tool not in UNREADABLE
    draw_in_chatkit = compile_in_chatkit(file["template"] if is_readable else "{}")
    for arguments in map(widget.fill, sets):
        want = draw_source(source, arguments)
        assert not differ(draw_source(again.drawing, arguments), want), arguments
        if is_readable and isinstance(want, dict):
            assert not differ(draw_in_chatkit(arguments), want), arguments
    assert bool(file["template"]) is not any("template is left empty" in one for one in problems)
    view = again.definition.view
    is_element = view.startswith("<") and parse(view, Limits()).children[0].text.strip(";") == view
    assert is_element is not any("editor" in one for one in problems)
    is_equal = adopts_jsx or not any(NOT_EQUAL.search(one) for one in problems)
    for arguments in map(widget.fill, sets) if view and is_equal else ():
        assert not differ(draw_source(again.view, arguments), draw_source(source, arguments))
    return bool(file["template"])


UNREADABLE = {"table"}
"""It looks up cells by a computed key, and keeps its own template, which chatkit cannot read."""

NOT_EQUAL = re.compile("the JSX lacks that|draws otherwise|cannot be drawn")


def draw_source(source: Drawing, arguments: Any) -> Any:
    try:
        return tree(source.render(arguments))
    except (CallError, WidgetError) as error:
        return type(error).__name__


ROOT = Path(__file__).parents[4]


@pytest.mark.parametrize(
    ("folder", "templates"),
    [
        (bundled_folder(), 27),
        (ROOT / "tests" / "widgets" / "react", 1),
        (ROOT / "tests" / "field" / "conformance" / "widgets", 1),
        (ROOT / "examples" / "shop" / "widgets", 3),
    ],
    ids=lambda value: value.parent.name if isinstance(value, Path) else str(value),
)
def test_export_draws_the_same_here_and_in_chatkit(folder: Path, templates: int) -> None:
    assert sum(check_export(widget, folder) for widget in discover_widgets(folder)) == templates


@needs_corpus
def test_exports_of_the_corpus_draw_the_same_here_and_in_chatkit() -> None:
    folders = sorted({file.parent for file in corpus_files()})
    exports = [
        check_export(widget, folder) for folder in folders for widget in discover_widgets(folder)
    ]

    assert all(exports)
    assert len(exports) > 40


@needs_corpus
@pytest.mark.parametrize(("edit", "added"), [(change_literal, " edited"), (change_jsx, " newer")])
def test_edit_of_a_source_is_exported_or_named(
    edit: Callable[[dict[str, Any]], bool], added: str
) -> None:
    adopted = count = 0
    for export in read_exports():
        changed = json.loads(export.text)
        if not edit(changed):
            continue
        packed = pack(make(changed, export.path))
        file = define(Source.of("a.widget", packed.content)).document
        count += 1
        is_in_both = added in file.template and added in (file.view or "")
        adopted += is_in_both
        assert is_in_both or any(NOT_EQUAL.search(one.problem) for one in packed.findings)
        assert edit is not change_literal or added in file.template, export.path
    assert count >= 15
    assert adopted > 10 or edit is change_literal


@needs_corpus
def test_table_of_studios_keys_counts_the_files_with_them() -> None:
    counts: Counter[str] = Counter()
    for path in (*corpus_files(), *bundled_folder().glob("*.widget")):
        with suppress(ValueError):
            package = decode_package(json.loads(path.read_bytes()).get("encodedWidget") or "")
            counts.update(list(package) if package and package.get("view") else [])
    page = (Path(__file__).parents[4] / "docs" / "designers.md").read_text()
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    table = {
        key.strip(" `"): int(count)
        for keys, count in rows
        if count.strip().isdecimal()
        for key in keys.split(",")
    }

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
        "<Card>{rows.map((row) => { if (row.name) return <Spacer />; return null; })}</Card>",
        '<Card>{!rows ? <Spacer /> : <Text value={rows.length > 1 ? "many" : "few"} />}</Card>',
        '<Card>{rows?.[0]?.name && <Text value={rows[0].name} weight={done && "bold"} />}</Card>',
    ],
)
def test_template_made_of_jsx_draws_the_same_as_the_jsx(view: str, tmp_path: Path) -> None:
    widget = widget_of(view, tmp_path)
    packed = pack(widget)
    again = load(Source.of("Some.widget", packed.content), None, limits=Limits())

    assert again.source == "template"
    assert not packed.findings
    for arguments in (
        {"title": "a", "rows": []},
        {"title": "b", "done": True, "rows": [{"name": "a"}, {"name": "b"}]},
    ):
        assert not differ(tree_or_error(again, arguments), tree_or_error(widget, arguments))


@pytest.mark.parametrize(
    ("view", "reason"),
    [
        ('<Card><Text value={rows.find((row) => row.name === "a").name} /></Card>', ".find()"),
        ("<Card><Text value={rows.reduce((n, row) => n + 1, 0)} /></Card>", ".reduce()"),
        ("<Card><Text value={String(rows.concat(rows, rows).length)} /></Card>", ".concat()"),
        ("<Card><Text {...rows[0]} /></Card>", "a spread"),
    ],
)
def test_jsx_without_an_equivalent_in_jinja_is_exported_without_a_template(
    view: str, reason: str, tmp_path: Path
) -> None:
    packed = pack(widget_of(view, tmp_path))
    again = load(Source.of("Some.widget", packed.content), None, limits=Limits())

    assert again.source == "view"
    [finding] = packed.findings
    assert finding.problem == f"the template is left empty, because Jinja lacks {reason}"


@given(EXPRESSIONS)
def test_any_expression_is_printed_or_named(expression: str) -> None:
    text = f"<A b={{{expression}}}>{{{expression}}}{{rows.map(({{ n }}) => {expression})}}</A>"
    schema = {"properties": {"xs": True, "o": {"items": [{}]}, "rows": {"items": True}}}
    view = View(text, Limits())

    with suppress(UnprintableError):
        compile_template(print_template(view.program(), schema), limits=Limits())


def test_export_keeps_unknown_keys_and_warns_of_them(tmp_path: Path) -> None:
    (tmp_path / "Plain.widget").write_text(
        '{"version":"1.0","name":"Plain","notes":["mine"],"template":"{\\"type\\":\\"Card\\"}"}'
    )
    [widget] = discover_widgets(tmp_path)
    packed = pack(widget)
    file = define(Source.of("Plain.widget", packed.content)).document

    assert {key: file.content[key] for key in file.content.keys() - KNOWN} == {"notes": ["mine"]}
    assert not file.view
    assert list(map(str, packed.findings)) == [
        (
            "Plain.widget: the file holds no JSX, so Studio's editor opens empty; "
            "draw it in Studio, or write its JSX"
        )
    ]
