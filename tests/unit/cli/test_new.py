"""`widgetd new` begins a widget that serves at once; `widgetd schema` prints schemas of files."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml

from widgetd import load_widget
from widgetd.author.commands.schemas import (
    SCHEMA_OF,
    document_schema,
    sidecar_schema,
    suite_schema,
    tree_schema,
)
from widgetd.author.guide.component_sheet import build_sheet
from widgetd.author.testing.suite import resolve_cases
from widgetd.author.testing.yaml_file import read_suite
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main
from widgetd.cli.shell import settings_schema
from widgetd.core.widget.components import load_vocabulary
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.settings import Settings

BAD = sorted((Path(__file__).parents[2] / "widgets" / "bad").glob("*.txt"))
SHAPE = ("W1105", "W1106", "W1107", "W1111", "W1112", "W1113")
MISSHAPEN = [path for path in BAD if path.read_text().startswith(SHAPE)]


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--template"],
        ["--from", "flight_tracker"],
        ["--from", "lead_form"],
        ["--template", "--from", "flight_tracker"],
    ],
    ids=" ".join,
)
def test_new_file_passes_the_strict_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str]
) -> None:
    assert main(["new", "Parcel Tracker", "--dir", str(tmp_path), *more]) == 0
    code = main(["check", "--strict", str(tmp_path)])

    output = capsys.readouterr().out
    assert code == 0, output
    assert "1 file: 0 faults, 0 warnings" in output
    assert main(["list", "--dir", str(tmp_path)]) == 0
    assert capsys.readouterr().out.startswith("parcel_tracker")


def test_new_files_name_schemas_that_admit_them(tmp_path: Path) -> None:
    assert main(["new", "A", "--dir", str(tmp_path), "--template"]) == 0
    file = json.loads((tmp_path / "A.widget").read_text())
    beside = (tmp_path / "A.widget.toml").read_text()
    named = tmp_path / beside.splitlines()[0].removeprefix("#:schema ")

    assert jsonschema_rs.is_valid(json.loads((tmp_path / file["$schema"]).read_text()), file)
    assert jsonschema_rs.is_valid(json.loads(named.read_text()), _toml(beside))


def test_new_widget_is_jsx_and_its_page_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "Parcel Tracker", "--dir", str(tmp_path)]) == 0

    *files, page = capsys.readouterr().out.splitlines()
    path = tmp_path / "Parcel Tracker.widget.jsx"
    assert files == [f"{path}.toml", str(path)]
    assert page.endswith(": http://127.0.0.1:8787/w/parcel_tracker")


def test_new_writes_into_the_widgets_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["new", "A"]) == 0
    assert (tmp_path / "widgets" / "A.widget.jsx").exists()

    monkeypatch.chdir(tmp_path / "widgets")
    assert main(["new", "B"]) == 0
    assert (tmp_path / "widgets" / "B.widget.jsx").exists()


def test_new_jsx_draws_the_same_as_the_template(tmp_path: Path) -> None:
    assert main(["new", "A", "--dir", str(tmp_path), "--template"]) == 0
    assert main(["new", "B", "--dir", str(tmp_path)]) == 0
    template, view = load_widget(tmp_path / "A.widget"), load_widget(tmp_path / "B.widget.jsx")

    assert view.input_schema == template.input_schema
    for arguments in (
        template.example or {},
        {"title": "a"},
        {"title": "a", "text": "b", "items": []},
    ):
        assert view.call(arguments).tree == template.call(arguments).tree


@pytest.mark.parametrize("existing", ["A.widget", "A.widget.jsx.toml", "A.widget.jsx"])
def test_it_never_writes_over_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], existing: str
) -> None:
    (tmp_path / existing).write_text("mine")

    assert main(["new", "A", "--dir", str(tmp_path)]) == 2
    assert (tmp_path / existing).read_text() == "mine"
    assert sorted(path.name for path in tmp_path.glob("A*")) == [existing]
    assert "is there already; take another name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["../A"], "'../A' is not a name for a widget"),
        (["A", "--dir", "nowhere"], "there is no folder nowhere"),
        (["A", "--from", "flight_traker"], "did you mean 'flight_tracker'?"),
        (["Search-Widgets"], "the tool name 'search_widgets' is one of widgetd's own; take"),
    ],
)
def test_new_reports_failures(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    sentence: str,
) -> None:
    monkeypatch.chdir(tmp_path)

    assert main(["new", *arguments]) in (2, 3)
    assert sentence in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_it_takes_the_tool_of_no_other_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "a-b", "--dir", str(tmp_path)]) == 0
    assert main(["new", "A B", "--dir", str(tmp_path)]) == 2
    assert "the tool name 'a_b' belongs to 'a-b.widget.jsx'; take" in capsys.readouterr().err


def _toml(text: str) -> Any:
    return json.loads(json.dumps(tomllib.loads(text), default=str))


@pytest.mark.parametrize("path", MISSHAPEN, ids=lambda path: path.stem)
def test_schemas_refuse_the_shapes_that_readers_refuse(path: Path) -> None:
    widget = path.with_suffix(".widget")
    beside = path.with_name(f"{path.stem}.widget.toml")
    if path.read_text().startswith(("W1111", "W1112", "W1113")):
        try:
            value = _toml(beside.read_text())
        except tomllib.TOMLDecodeError:
            return
        refused = not jsonschema_rs.is_valid(sidecar_schema(), value)
    else:
        refused = not jsonschema_rs.is_valid(document_schema(), json.loads(widget.read_bytes()))

    assert refused


@pytest.mark.parametrize(
    "path", sorted(bundled_folder().glob("*.widget")), ids=lambda path: path.stem
)
def test_schemas_admit_every_bundled_widget(path: Path) -> None:
    beside = path.with_name(f"{path.name}.toml")

    assert jsonschema_rs.is_valid(document_schema(), json.loads(path.read_bytes()))
    assert jsonschema_rs.is_valid(sidecar_schema(), _toml(beside.read_text()))


def test_schema_of_settings_knows_each_of_them_and_takes_lists_as_text() -> None:
    schema = settings_schema()

    assert set(schema["properties"]) == set(Settings.model_fields)
    assert jsonschema_rs.is_valid(schema, {"port": 1, "image_origin": "https://a.example, b"})
    assert jsonschema_rs.is_valid(schema, {"image_origin": ["https://a.example"]})
    assert not jsonschema_rs.is_valid(schema, {"prot": 1})


@pytest.mark.parametrize(
    "path", sorted(bundled_folder().glob("*.test.yaml")), ids=lambda path: path.stem
)
def test_schema_of_tests_admits_the_bundled_tests(path: Path) -> None:
    assert jsonschema_rs.is_valid(suite_schema(), yaml.safe_load(path.read_text()))


def suite(*steps: Any, **more: Any) -> dict[str, Any]:
    return {"tests": [{"name": "a", "steps": list(steps)}], **more}


@pytest.mark.parametrize(
    ("document", "fits"),
    [
        (suite("Expect Quiet", {"Press": "text=Go"}), True),
        ({"tests": [{"name": "a", "for": "rows.csv", "steps": ["Look"]}], "widget": "a"}, True),
        (suite("Look", modules={"m": [{"use": "n"}, {"use": {"module": "n", "a": 1}}]}), True),
        (suite({"Expect Count": {"target": "text=a", "count": 2}}), True),
        (suite({"Expect Count": {"target": "text=a", "count": "2x"}}), False),
        (suite({"Pres": "text=Go"}), False),
        (suite("Press"), False),
        (suite({"Press": "text=a", "Hover": "text=b"}), False),
        (suite({"Press": "${a}", "when": {"a": "text=Go"}}, vars={"a": "text=Go"}), True),
        ({"tests": [{"steps": ["Look"]}]}, False),
        (suite(), False),
        (suite(widgets="a"), False),
        ({}, False),
    ],
    ids=str,
)
def test_schema_of_tests_agrees_with_their_reader(
    tmp_path: Path, document: dict[str, Any], fits: bool
) -> None:
    file = tmp_path / "a.test.yaml"
    file.write_text(json.dumps(document))
    (tmp_path / "rows.csv").write_text("b\n1\n")

    assert jsonschema_rs.is_valid(suite_schema(), document) == fits
    assert _reads(file) == fits


def _reads(file: Path) -> bool:
    _, faults = resolve_cases(read_suite(file), Snapshot.empty())
    return {fault.code for fault in faults} <= {"W2001"}  # there are no widgets here


def test_schema_of_a_tree_documents_every_property_and_admits_every_component() -> None:
    schema = tree_schema()
    compiled = jsonschema_rs.validator_for(schema)

    for type_, component in load_vocabulary().components.items():
        described = schema["$defs"][type_]["properties"]
        for name, text in component.documentation.items():
            assert name == "children" or described[name]["description"] == text
        assert compiled.is_valid(build_sheet(type_))
    assert not compiled.is_valid({"type": "Card", "children": [{"type": "Buton"}]})
    assert not compiled.is_valid({"type": "Text", "value": "a", "sise": "sm"})
    assert document_schema()["$defs"] == schema["$defs"]


@pytest.mark.parametrize("what", sorted(SCHEMA_OF))
def test_schema_is_printed(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema", what]) == 0

    schema = json.loads(capsys.readouterr().out)
    assert schema == json.loads(json.dumps(SCHEMA_OF[what](), default=str))
    assert jsonschema_rs.meta.is_valid(schema)
