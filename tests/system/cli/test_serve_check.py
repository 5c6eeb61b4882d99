"""`widgetd serve --check` prints what a start would, and leaves nothing behind."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.support.widgets import widget_file
from widgetd.cli import main


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "widgets").mkdir()
    (tmp_path / "widgets" / "A.widget").write_text(widget_file("A"))
    return tmp_path


def check_start(folder: Path, toml: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    (folder / "widgetd.toml").write_text(f"port = 0\n{toml}")
    code = main(["serve", "--check"])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_check_of_a_start_lists_served_and_refused_files(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "widgets" / "B.widget").write_text("{")

    code, output = check_start(here, "gallery = true", capsys)

    assert code == 0
    assert output.startswith(
        "would serve 1 widget from widgets on 127.0.0.1:0\nwould refuse B.widget"
    )
    assert "gallery is set by widgetd.toml" in output


@pytest.mark.usefixtures("here")
def test_flags_of_serve_are_checked_as_serve_would(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--check", "widgets", "--port", "0", "--gallery"]) == 0
    assert "gallery is set by flag" in capsys.readouterr().out
    assert main(["serve", "--check", "widgets", "--port", "0", "--token-file", "nothing"]) == 3


@pytest.mark.parametrize(
    ("toml", "code", "sentence"),
    [
        ("prot = 1", 2, "did you mean"),
        ('dir = "nowhere"', 3, "there is no folder nowhere"),
        ('host = "0.0.0.0"', 2, "no token is set"),
        ('token_file = "nothing"', 3, "nothing"),
        ('jwt_issuer = "https://a.example"', 2, "belong together"),
        (
            'chat = true\nchat_model = "m1"',
            2,
            "the model m1 at https://api.openai.com/v1 needs a key",
        ),
        ('chat = true\nchat_instructions = "nothing"', 3, "the file nothing cannot be read"),
    ],
)
def test_check_of_a_start_refuses_with_the_exit_code_of_a_start(
    here: Path, capsys: pytest.CaptureFixture[str], toml: str, code: int, sentence: str
) -> None:
    exit_code, output = check_start(here, toml, capsys)

    assert (exit_code, sentence in output) == (code, True), output


def test_port_in_use_is_reported(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        (here / "widgetd.toml").write_text(f"port = {listener.getsockname()[1]}")

        assert main(["serve", "--check"]) == 3
    assert "port" in capsys.readouterr().err


def test_check_leaves_nothing_behind(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _ = check_start(here, 'audit = "calls/audit.jsonl"\nstate_dir = "state"', capsys)

    assert code == 0
    assert sorted(path.name for path in here.iterdir()) == ["widgetd.toml", "widgets"]


def test_another_file_of_settings_can_be_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "other.toml").write_text("port = 0\nprofile = 3")

    assert main(["serve", "--check", "--config", "other.toml"]) == 2
    assert "other.toml:2: profile cannot be 3" in capsys.readouterr().err
