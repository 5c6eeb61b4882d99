"""Settings have one precedence, and a bad one is a sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from widgetd.base.errors import ConfigError
from widgetd.base.files.folder import bundled_folder
from widgetd.settings import folder_of, settle


def write_settings(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "widgetd.toml"
    file.write_text(text)
    return file


def test_flags_come_before_the_environment_before_the_file_before_defaults(tmp_path: Path) -> None:
    file = write_settings(tmp_path, 'port = 1\nhost = "file"\ntext = "json"\n')
    settled = settle({"port": 3, "host": None}, {"WIDGETD_PORT": "2", "WIDGETD_HOST": "env"}, file)

    assert (settled.settings.port, settled.origins["port"]) == (3, "flag")
    assert (settled.settings.host, settled.origins["host"]) == ("env", "WIDGETD_HOST")
    assert (settled.settings.text, settled.origins["text"]) == ("json", "widgetd.toml")
    assert (settled.settings.profile, settled.origins["profile"]) == ("auto", "default")


def test_lists_may_be_written_with_commas() -> None:
    settled = settle({}, {"WIDGETD_ALLOWED_HOST": "a.example, b.example"})

    assert settled.settings.allowed_host == ("a.example", "b.example")


def test_profiles_by_client_name_are_read_from_the_file(tmp_path: Path) -> None:
    file = write_settings(tmp_path, '[profiles]\nmine = "split"\n')

    assert settle({}, {}, file).settings.profiles == {"mine": "split"}


@pytest.mark.parametrize(
    ("flags", "environ", "text", "sentence"),
    [
        (
            {},
            {"WIDGETD_PROT": "1"},
            "",
            "WIDGETD_PROT is not a setting; did you mean WIDGETD_PORT?",
        ),
        ({}, {}, "prot = 1", "{file}:1: 'prot' is not a setting; did you mean {file}:1: 'port'?"),
        ({"port": 70000}, {}, "", "--port cannot be 70000; write 65535 or less"),
        (
            {},
            {"WIDGETD_PROFILE": "slit"},
            "",
            "WIDGETD_PROFILE cannot be 'slit'; write 'auto', 'chatkit' or 'split'",
        ),
        (
            {},
            {"WIDGETD_AUDIT": "~nil/x"},
            "",
            "WIDGETD_AUDIT cannot be '~nil/x'; there is no such home folder; write the whole path",
        ),
        ({"rate": 0}, {}, "", "--rate cannot be 0; write a number above 0"),
        ({}, {"WIDGETD_RATE": "nan"}, "", "WIDGETD_RATE cannot be 'nan'; write a finite number"),
        ({}, {"WIDGETD_BURST": "inf"}, "", "WIDGETD_BURST cannot be 'inf'; write a finite number"),
        ({}, {}, "burst = 0.5", "{file}:1: burst cannot be 0.5; write 1 or more"),
        ({"at_once": 0}, {}, "", "--at-once cannot be 0; write 1 or more"),
        ({"poll": -1.0}, {}, "", "--poll cannot be -1.0; write a number above 0"),
        ({}, {}, "port = 'x'", "{file}:1: port cannot be 'x'; write a whole number"),
        (
            {},
            {},
            "# ours\n[serve]\nport = 1",
            (
                "{file}:2: [serve] is a table, and settings stand in none; "
                "write its keys at the top of the file"
            ),
        ),
    ],
)
def test_unusable_setting_is_a_sentence_with_its_source(
    tmp_path: Path, flags: dict[str, object], environ: dict[str, str], text: str, sentence: str
) -> None:
    file = write_settings(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        settle(flags, environ, file)

    assert str(caught.value) == sentence.format(file=file)
    assert caught.value.exit_code == 2


def test_invalid_toml_file_is_refused_with_its_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        settle({}, {}, write_settings(tmp_path, "port 1"))

    assert "is not TOML (" in str(caught.value)
    assert "line 1" in str(caught.value)


def test_folder_is_the_named_one_else_the_local_one_else_the_bundled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folder_of(settle({}, {}).settings) == bundled_folder()

    (tmp_path / "widgets").mkdir()
    assert folder_of(settle({}, {}).settings) == Path("widgets")
    assert folder_of(settle({"dir": tmp_path}, {}).settings) == tmp_path
