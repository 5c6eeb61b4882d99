"""Files of operators in the served folder, and tokens that everyone can read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.daemons import needs_wings
from tests.support.logs import captured_logs
from widgetd.base.errors import ConfigError
from widgetd.cli import main
from widgetd.daemon.access_policy import access_policy
from widgetd.settings import Settings, require_files_outside

TOKENS = "ada a-token-of-ada-0001\n"


def folder_and_file(tmp_path: Path, place: str) -> tuple[Path, Path]:
    """Return a served folder, and a token file in, beside or linked from it."""
    widgets, inside, outside = tmp_path / "w", tmp_path / "w" / "sub" / "tokens", tmp_path / "t"
    inside.parent.mkdir(parents=True)
    file = {"inside": inside, "a link inside": inside, "a link outside": outside}.get(place)
    if place == "a link outside":
        inside.write_text(TOKENS)
        outside.symlink_to(inside)
    elif place == "a link inside":
        outside.write_text(TOKENS)
        inside.symlink_to(outside)
    else:
        (file or outside).write_text(TOKENS)
    return widgets, file or outside


@pytest.mark.parametrize("flag", ["--token-file", "--upstreams"])
@pytest.mark.parametrize("place", ["inside", "a link inside", "a link outside"])
def test_serve_refuses_operators_files_in_the_served_folder(
    tmp_path: Path, place: str, flag: str, capsys: pytest.CaptureFixture[str]
) -> None:
    widgets, file = folder_and_file(tmp_path, place)

    assert main(["serve", str(widgets), flag, str(file)]) == 3

    assert capsys.readouterr().err == (
        f"widgetd: {flag} {file} lies in the served folder {widgets}; "
        "move it out of the folder [W0015]\n"
    )


def test_files_beside_the_served_folder_are_accepted(tmp_path: Path) -> None:
    widgets, file = folder_and_file(tmp_path, "beside")

    require_files_outside(Settings(token_file=file, upstreams=tmp_path / "none"), widgets)


@needs_wings
def test_dev_warns_of_operators_files_in_the_served_folder(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    widgets, file = folder_and_file(tmp_path, "inside")
    file.write_text("not a token file")

    assert main(["dev", str(widgets), "--token-file", str(file)]) != 0  # for what is in it

    assert "lies in the served folder" in capfd.readouterr().err


@pytest.mark.parametrize(("mode", "warned"), [(0o600, []), (0o640, []), (0o644, ["644"])])
def test_token_file_readable_by_every_user_is_logged(
    tmp_path: Path, mode: int, warned: list[str]
) -> None:
    file = tmp_path / "tokens"
    file.write_text(TOKENS)
    file.chmod(mode)

    with captured_logs() as events:
        access_policy(Settings(token_file=file))

    exposed = [event for event in events.all if event["event"] == "tokens.exposed"]
    assert [event["mode"] for event in exposed] == warned


def test_check_of_a_start_refuses_them_too(tmp_path: Path) -> None:
    widgets, file = folder_and_file(tmp_path, "inside")
    config = tmp_path / "widgetd.toml"
    config.write_text(f'dir = "{widgets}"\ntoken_file = "{file}"\n')

    with pytest.raises(ConfigError) as refused:
        require_files_outside(Settings(dir=widgets, token_file=file), widgets)

    assert refused.value.code == "W0015"
    assert main(["serve", "--check", "--config", str(config)]) == 3
