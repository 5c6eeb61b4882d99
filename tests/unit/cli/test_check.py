"""Findings of `widgetd check` about folders, files and breaking changes."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.support.widgets import widget_file
from widgetd.base.errors import ConfigError
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main
from widgetd.cli.check import check_paths
from widgetd.core.checks.report import format_github, format_json, format_text

SIDECAR = 'description = "Greet somebody."\n\nsensitive = ["passport"]\n'


@pytest.fixture
def checked_folder(tmp_path: Path) -> Path:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    (tmp_path / "Greeting.widget.toml").write_text(SIDECAR)
    return tmp_path


def check_lines(checked_folder: Path, *paths: str, against: str = "") -> list[str]:
    """Check `paths` in `folder` and return the findings, without the folder's own name."""
    outcome = check_paths(
        [checked_folder / path for path in paths] or [checked_folder], against=against
    )
    return [f"{one.code} {one}".replace(f"{checked_folder}/", "") for one in outcome.findings]


def test_finding_about_a_sidecar_is_shown_with_its_line_to_every_reader(
    checked_folder: Path,
) -> None:
    outcome = check_paths([checked_folder])
    sidecar = checked_folder / "Greeting.widget.toml"

    assert format_text(outcome.findings, outcome.contents).splitlines() == [
        f"{sidecar}:3:1: warning W1213: the schema does not declare 'passport'",
        '    sensitive = ["passport"]',
        "    ^",
        "    /sensitive: declare it, or use who",
    ]
    assert '"line": 3' in format_json(outcome.findings, outcome.contents)
    assert format_github(outcome.findings, outcome.contents) == (
        f"::warning file={sidecar},line=3,col=1,title=W1213::/sensitive: "
        "the schema does not declare 'passport'; declare it, or use who"
    )


def test_check_of_a_sidecar_checks_its_widget(checked_folder: Path) -> None:
    (checked_folder / "Other.widget").write_text(widget_file("Other"))

    assert check_lines(checked_folder, "Greeting.widget.toml") == check_lines(
        checked_folder, "Greeting.widget"
    )
    assert check_paths([checked_folder / "Greeting.widget.toml"]).files == 1


def test_refused_file_is_not_passed_over_in_silence(checked_folder: Path) -> None:
    (checked_folder / "notes.txt").write_text("a")

    with pytest.raises(ConfigError) as caught:
        check_paths([checked_folder / "notes.txt"])

    assert caught.value.exit_code == 3
    assert str(caught.value) == (
        f"{checked_folder}/notes.txt is not a file that is served; name a .widget file, or a folder"
    )


def test_check_prints_nothing_about_hosts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(bundled_folder())]) == 0
    assert capsys.readouterr().out.splitlines()[1:] == []


def test_files_of_wrong_names_are_reported(checked_folder: Path) -> None:
    below = checked_folder / "below"
    below.mkdir()
    (checked_folder / "Parcel.widget").write_text(widget_file("Parcel"))
    for name in ("Parcle.widget.toml", "Parcel.toml", "widgetd.toml"):
        (checked_folder / name).write_text("")
    (below / "Nothing.widget.toml").write_text("")
    (below / "Flight.widget.json").write_text(widget_file("Flight"))
    (below / "Ship.json").write_text(widget_file("Ship"))
    (below / "Team.jsx").write_text("\n<Card><Text value={name} /></Card>")
    (below / "App.jsx").write_text("import React from 'react';")
    (checked_folder / "Parcel.json").write_text(widget_file("Parcel"))
    (below / "package.json").write_text('{"name": "a", "version": "1.0"}')
    (below / "broken.json").write_text("{")

    lines = [line for line in check_lines(checked_folder) if line.startswith("W112")]

    assert lines == [
        (
            "W1121 Parcel.json: this is a widget, and is not served under this name; "
            "'Parcel.widget' is there: give it another name in '.widget', or remove it"
        ),
        "W1120 Parcel.toml: 'Parcel.widget' does not read this; name it 'Parcel.widget.toml'",
        (
            "W1120 Parcle.widget.toml: there is no widget 'Parcle.widget' that this could be "
            "about; did you mean 'Parcel.widget.toml'?"
        ),
        (
            "W1121 below/Flight.widget.json: this is a widget, and is not served under this "
            "name; name it 'below/Flight.widget'"
        ),
        (
            "W1120 below/Nothing.widget.toml: there is no widget 'below/Nothing.widget' that "
            "this could be about; name it as its widget"
        ),
        (
            "W1121 below/Ship.json: this is a widget, and is not served under this name; "
            "name it 'below/Ship.widget'"
        ),
        (
            "W1121 below/Team.jsx: this is a widget, and is not served under this name; "
            "name it 'below/Team.widget.jsx'"
        ),
    ]
    assert not any(
        line.startswith("W112") for line in check_lines(checked_folder, "Greeting.widget")
    )


def test_terminal_controls_in_a_name_are_escaped(tmp_path: Path) -> None:
    (tmp_path / "a\n\x1b[2J\u202eb.widget").write_text("{")
    outcome = check_paths([tmp_path])

    assert format_text(outcome.findings, outcome.contents).splitlines()[0] == (
        f"{tmp_path}/a\ufffd\ufffd[2J\ufffdb.widget:1:2: fault W1101: "
        "the text ends before its JSON does"
    )
    assert "\n" not in format_github(outcome.findings, outcome.contents)


@pytest.fixture
def earlier(tmp_path_factory: pytest.TempPathFactory) -> Path:
    checked_folder = tmp_path_factory.mktemp("earlier")
    (checked_folder / "Greeting.widget").write_text(widget_file())
    return checked_folder


def test_removed_tool_is_reported_at_its_callers(checked_folder: Path, earlier: Path) -> None:
    (earlier / "Gone.widget").write_text(widget_file("Gone"))

    assert check_lines(checked_folder, against=str(earlier))[1:] == [
        (
            "W1505 Gone.widget: the tool 'gone' was removed; "
            "callers will not find it; keep the file if they matter"
        )
    ]
    assert len(check_lines(checked_folder, "Greeting.widget", against=str(earlier))) == 1


def test_moved_file_is_compared_with_its_earlier_version(
    checked_folder: Path, earlier: Path
) -> None:
    schema = {"type": "object", "properties": {"who": {"type": "integer"}}, "required": ["who"]}
    (checked_folder / "Greeting.widget").unlink()
    (checked_folder / "Greeting.widget.toml").unlink()
    (checked_folder / "moved.widget").write_text(widget_file(description="Hi.", schema=schema))

    assert check_lines(checked_folder, against=str(earlier)) == [
        (
            "W1503 moved.widget#/jsonSchema/properties/who: "
            "'who' is integer now, no longer string; "
            "callers that send what was right before are refused"
        )
    ]


def test_tool_of_another_name_in_the_same_file_breaks_its_callers(
    checked_folder: Path, earlier: Path
) -> None:
    (checked_folder / "Greeting.widget").write_text(widget_file("Salute"))

    assert check_lines(checked_folder, against=str(earlier))[1:] == [
        (
            "W1504 Greeting.widget#/name: the tool is called 'salute' now, not 'greeting'; "
            "callers of 'greeting' will not find it; keep the name if they matter"
        )
    ]


@pytest.mark.timeout(30)
def test_path_outside_the_folder_is_neither_read_nor_awaited(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Else.widget").symlink_to("/etc/hostname")
    for name in ("Pipe.widget", "pipe.json"):
        os.mkfifo(tmp_path / name)

    assert main(["check", str(tmp_path)]) == 1
    matches = re.findall(r"(\w+)\.widget: fault (\w+): .*\n    (.*)", capsys.readouterr().out)
    assert matches == [
        ("Else", "W1003", "put a copy into the folder"),
        ("Pipe", "W1001", "put a regular file there"),
    ]
