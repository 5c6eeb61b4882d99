"""A `.widget.jsx` file is a widget that its author wrote as Studio's editor would hold it."""
# ruff: noqa: E501, ISC004 - a table reads best with one case to a line

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.findings import location_of
from tests.support.widgets import widget_file
from widgetd.base.errors import WidgetError
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import Loader, load_widget

SCHEMA = """const schema = {
  type: "object",
  properties: { names: { type: "array", items: { type: "string" } }, n: { type: "integer" } },
  required: ["names"],
};
"""
SAMPLE = 'const sample = { names: ["Ann", `B${1 + 1}`] };\n'
VIEW = "<Card>\n  {names.map((name) => (<Text value={name} />))}\n</Card>\n"
TOML = 'description = "Show people."\n'


def write_view(folder: Path, text: str, sidecar: str = TOML, name: str = "People") -> Path:
    path = folder / f"{name}.widget.jsx"
    path.write_text(text)
    path.with_name(f"{path.name}.toml").write_text(sidecar)
    return path


def people(*names: str) -> dict[str, object]:
    return {"type": "Card", "children": [{"type": "Text", "value": name} for name in names]}


def admit(_widget: Widget) -> bytes:
    return b"{}"


@pytest.mark.parametrize(
    "text",
    [
        SCHEMA + SAMPLE + VIEW,
        "// People\n" + SAMPLE + "\n" + SCHEMA + "(\n" + VIEW.rstrip() + "\n);\n",
        "export " + SCHEMA + "export " + SAMPLE + VIEW,
    ],
)
def test_it_holds_its_schema_its_sample_and_one_element(tmp_path: Path, text: str) -> None:
    widget = load_widget(write_view(tmp_path, text))

    assert (widget.tool, widget.definition.title) == ("people", "People")
    assert widget.input_schema["required"] == ["names"]
    assert widget.example == {"names": ["Ann", "B2"]}
    assert widget.call({"names": ["Eve"]}).tree == people("Eve")
    assert widget.source == "view"
    assert [str(one) for one in check_widget(widget)] == [
        "People.widget.jsx#/jsonSchema/properties/n: 'n' is never used; "
        "show it, or take it out of the schema"
    ]


def test_schema_of_a_jsx_file_may_be_in_the_sidecar(tmp_path: Path) -> None:
    sidecar = TOML + '[schema]\nrequired = ["names"]\n[schema.properties.names]\ntype = "array"\n'
    widget = load_widget(write_view(tmp_path, VIEW, sidecar))

    assert widget.schema.admits({"names": []})
    assert not widget.schema.admits({"names": "x"})
    assert widget.call({"names": ["Ann"]}).tree == people("Ann")


def test_jsx_file_without_a_schema_infers_it_from_its_reads(tmp_path: Path) -> None:
    widget = load_widget(write_view(tmp_path, VIEW))

    assert widget.input_schema["properties"] == {"names": {}}
    assert [one.code for one in check_widget(widget)][:1] == ["W1215"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            SCHEMA + "<Card>\n  {names.splice()}\n</Card>",
            "People.widget.jsx: line 7: the method splice is not available; ",
        ),
        (
            SCHEMA + "<Card>",
            "People.widget.jsx: line 6: this is no JSX; ",
        ),
        (
            SCHEMA,
            "People.widget.jsx: line 1: there is no JSX; ",
        ),
        (
            "while (n) {}\n<Card />",
            "People.widget.jsx: line 1: the statement while is not available: while (n) {}; ",
        ),
        (
            "import data from './data';\n<Card />",
            "People.widget.jsx: line 1: the statement import is not available: "
            "import data from './data'; ",
        ),
        ("const schema = [];\n<Card />", "People.widget.jsx: 'schema' is an array; write an object"),
        ("const schema = f();\n<Card />", "People.widget.jsx: line 1: there is no f(); "),
        ("<Text value='a' />", "People.widget.jsx: the JSX fails on any arguments: the root is 'Text'; "),
        ("", "People.widget.jsx: line 1: there is no JSX; "),
        ("<Card />\n<Card />", "People.widget.jsx: line 2: "),
    ],
)  # fmt: skip
def test_faults_name_their_line_in_the_file(tmp_path: Path, text: str, message: str) -> None:
    write_view(tmp_path, text)
    snapshot = Catalog(tmp_path, Loader(admit).load, quiet_ms=0).scan()
    fault = snapshot.faults["People.widget.jsx"]

    assert str(fault).startswith(message)
    if fault.line is not None:
        assert location_of(fault, text).line == fault.line


def test_it_is_reloaded_with_its_sidecar_and_keeps_its_last_good_version(tmp_path: Path) -> None:
    path = write_view(tmp_path, SCHEMA + VIEW)
    catalog = Catalog(tmp_path, Loader(admit).load, quiet_ms=0)
    first = catalog.scan().widgets["people"]

    path.with_name(f"{path.name}.toml").write_text('title = "Everybody"')
    second = catalog.scan([f"{path.name}.toml"]).widgets["people"]
    path.write_text(SCHEMA + VIEW.replace("Text", "Title"))
    third = catalog.scan([path.name]).widgets["people"]
    path.write_text(SCHEMA + "<Card")
    fourth = catalog.scan([path.name])

    assert (first.definition.title, second.definition.title) == ("People", "Everybody")
    assert third.call({"names": ["a"]}).tree["children"] == [{"type": "Title", "value": "a"}]
    assert fourth.widgets["people"] is third
    assert fourth.faults["People.widget.jsx"].code == "W1327"


def test_beside_an_export_of_its_name_the_export_is_served(tmp_path: Path) -> None:
    write_view(tmp_path, SCHEMA + VIEW)
    (tmp_path / "People.widget").write_text(widget_file("People"))

    snapshot = Catalog(tmp_path, Loader(admit).load, quiet_ms=0).scan()

    assert snapshot.widgets["people"].definition.path == "People.widget"
    assert snapshot.faults["People.widget.jsx"].code == "W1108"


def test_folder_may_also_hold_any_other_jsx(tmp_path: Path) -> None:
    (tmp_path / "App.jsx").write_text("nothing of ours")

    assert not Catalog(tmp_path, Loader(admit).load, quiet_ms=0).scan().entries
    with pytest.raises(WidgetError):
        load_widget(tmp_path / "App.jsx")
