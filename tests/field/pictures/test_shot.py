"""`widgetd shot` as people run it.

These tests start event loops of their own, which no test can beside a browser that a fixture holds.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.field.pictures.png import size_of
from tests.field.server.web.browsing import needs_browser
from tests.support.widgets import widget_file
from widgetd.author.browser.chromium import PROGRAM_VARIABLE
from widgetd.cli import main


@needs_browser
def test_folder_becomes_pictures_and_one_sheet_of_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, output = tmp_path / "widgets", tmp_path / "shots"
    folder.mkdir()
    (folder / "A.widget").write_text(widget_file("A"))

    code = main(["shot", str(folder), "-o", str(output), "--width", "320", "--scale", "1"])

    assert code == 0
    files = ["a-light.png", "a-dark.png", "sheet.png"]
    assert capsys.readouterr().out.split() == [str(output / file) for file in files]
    assert size_of((output / "a-dark.png").read_bytes())[0] == 320


@pytest.mark.skipif(find_spec("playwright") is None, reason="there is no Playwright here")
def test_missing_browser_is_named_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    monkeypatch.setenv(PROGRAM_VARIABLE, str(tmp_path / "nothing"))

    code = main(["shot", "a", "--dir", str(tmp_path), "-o", str(tmp_path / "a.png")])

    assert code == 3
    assert capsys.readouterr().err == (
        f"widgetd: pictures need a Chromium, and none is at {tmp_path / 'nothing'}, which "
        "CHROME_PATH names; "
        "install the system's chromium, or name one in CHROME_PATH [W0011]\n"
    )
