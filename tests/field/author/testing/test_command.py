"""`widgetd test` as people run it: exit codes, messages, evidence and files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import zipfile
from pathlib import Path

import anyio
import pytest

from tests.field.author.browser.staging import controls_file
from tests.field.author.testing.conftest import Failed
from tests.field.author.testing.junit import assert_junit
from tests.field.author.testing.running import BROWSER_S, widgetd_test, write_test
from tests.field.server.web.browsing import needs_browser
from tests.support import booking
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.author.gallery.test_gallery_pages import page_client


def test_folder_without_tests_is_reported(tmp_path: Path) -> None:
    ran = widgetd_test(tmp_path, "--", "--collect-only")

    assert (ran.returncode, ran.stderr) == (5, "widgetd: there is nothing to test\n")


@needs_browser
@pytest.mark.parametrize("arguments", [(".",), ("below",), ("below/B.widget",), (".", "--watch")])
def test_no_python_of_the_folder_is_run(arguments: tuple[str, ...], tmp_path: Path) -> None:
    ran = f"import pathlib\npathlib.Path({str(tmp_path / 'ran')!r}, __name__).touch()\n"
    (tmp_path / "ran").mkdir()
    for folder, name in ((tmp_path, "A"), (tmp_path / "below", "B")):
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.widget").write_text(widget_file(name))
        for module in ("conftest", "__init__", "test_a", "yaml", "pluggy", "sitecustomize"):
            (folder / f"{module}.py").write_text(ran)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p test_a\n")
    program = [sys.executable, "-P", "-m", "widgetd", "test", *arguments, "--", "-k", "light"]
    with subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = next(line for line in process.stdout if "passed" in line)
        process.terminate()

    assert "passed" in output
    assert list((tmp_path / "ran").iterdir()) == []


def test_conftest_is_run_where_it_is_requested(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text("print('conftest of the folder')\n")
    ran = widgetd_test(tmp_path, "--", "--collect-only", "--confcutdir=.")

    assert "conftest of the folder" in ran.stdout


def test_misspelt_keyword_is_reported_at_collection(tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    write_test(tmp_path, "Show Widget", "Prss: text=Track")
    ran = widgetd_test(tmp_path, "--", "--collect-only")

    assert ran.returncode == 2
    assert "Controls.test.yaml:6:9: there is no keyword 'Prss'; did you mean 'Press'?" in ran.stdout
    assert ran.stderr == "widgetd: some tests could not be collected\n"


def test_missing_browser_is_named_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    ran = widgetd_test(tmp_path, CHROME_PATH=str(tmp_path / "nothing"))

    assert ran.returncode == 3
    assert ran.stderr == (
        f"widgetd: tests need a Chromium, and none is at {tmp_path / 'nothing'}, which CHROME_PATH "
        "names; "
        "install the system's chromium, or name one in CHROME_PATH [W0011]\n"
    )


@needs_browser
def test_wishes_of_a_sidecar_are_tested(tmp_path: Path) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file("Greeting"))
    (tmp_path / "Greeting.widget.toml").write_text('wishes = ["greeting", "zebra"]')
    ran = widgetd_test(tmp_path, "--", "-k", "wishes")

    assert ran.returncode == 1
    assert "Greeting.widget.toml#/wishes/1: 'zebra' finds nothing; add its words" in ran.stdout
    assert "1 failed" in ran.stdout


@needs_browser
def test_failing_step_is_reported_with_its_line_and_a_picture(failed: Failed) -> None:
    assert failed.ran.returncode == 1
    message = "Controls.test.yaml:6:9: action=track: expected Follow, got Track [W4301]"
    assert message in failed.ran.stdout
    (trace,) = failed.folder.glob("test-results/*/trace.zip")
    with zipfile.ZipFile(trace) as archive:
        content = b"".join(archive.read(name) for name in archive.namelist() if "trace" in name)
    assert b'"Expect Text"' in content
    assert b'"line":6' in content.replace(b" ", b"")


@needs_browser
async def test_page_of_a_widget_marks_the_results_of_its_last_tests(
    failed: Failed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(failed.folder)
    (tmp_path / "Controls.widget").write_text(controls_file())
    async with serving(tmp_path, gallery=True) as url, page_client(url) as asking:
        foreign = (await asking.get("/w/controls")).text
    async with serving(failed.folder, gallery=True) as url, page_client(url) as asking:
        page = (await asking.get("/w/controls")).text
        [path] = re.findall(r'href="(/w/controls/tests/[^"]+[.]png)"', page)
        picture = await asking.get(path)
        other = await asking.get("/w/controls/tests/x/results.json")
        (failed.folder / "Controls.widget").write_text(controls_file() + " ")
        with anyio.fail_after(PATIENCE_S):
            while "(an earlier version)" not in (await asking.get("/w/controls")).text:
                await anyio.wait_all_tasks_blocked()

    assert "tests passed" not in foreign
    assert ">0 of 1 tests passed</a>" in page
    assert "Controls.test.yaml::acts" in page
    assert "expected Follow, got Track" in page
    assert picture.content.startswith(b"\x89PNG")
    assert other.status_code == 404


@needs_browser
def test_pictures_are_written_once_and_then_compared(tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    write_test(tmp_path, "Show Widget: {arguments: {who: Ada}}", "Expect Picture", "Expect Aria")
    pictures = tmp_path / "pictures/Controls"
    assert widgetd_test(tmp_path, "Controls.test.yaml", "--update").returncode == 0
    first = {one.name: one.read_bytes() for one in pictures.iterdir()}
    assert set(first) == {"acts.png", "acts.aria.yaml"}

    assert widgetd_test(tmp_path, "Controls.test.yaml", "--update").returncode == 0
    assert {one.name: one.read_bytes() for one in pictures.iterdir()} == first

    write_test(tmp_path, "Show Widget: {arguments: {who: Ida}}", "Expect Picture", "Expect Aria")
    ran = widgetd_test(tmp_path, "Controls.test.yaml", "--report", "report")
    assert ran.returncode == 1
    [home] = (tmp_path / "report").glob("*/")
    assert {one.name for one in home.iterdir()} == {
        *("difference.png", "expected.png", "seen.png", "trace.zip")
    }
    page = (tmp_path / "report" / "index.html").read_text()
    assert "1 tests · failed: 1" in page
    assert "Controls.test.yaml:6:9: the picture: expected acts.png, got another drawing at" in page
    assert f'src="{home.name}/difference.png"' in page


KEYS = '{"type":"Card","children":[{"type":"Text","value":{{ of | join(" ") | tojson }}}]}'


@needs_browser
def test_page_differing_from_the_servers_tree_fails(tmp_path: Path) -> None:
    # JavaScript sorts keys that are numbers, which the page's evaluator cannot help.
    schema = {"type": "object", "properties": {"of": {"type": "object"}}}
    (tmp_path / "Keys.widget").write_text(widget_file("Keys", schema=schema, template=KEYS))
    example = '[[examples]]\nname = "numbers"\narguments = { of = { "10" = 1, "9" = 2 } }'
    (tmp_path / "Keys.widget.toml").write_text(example)
    ran = widgetd_test(tmp_path, "Keys.widget", "--", "-k", "light")

    assert ran.returncode == 1
    assert "the page's own trees: expected the server's, got [" in ran.stdout
    assert '["sample"]' in ran.stdout


FAINT = '{"type":"Card","children":[{"type":"Text","value":"faint","color":"#eeeeee"}]}'


@needs_browser
def test_each_widget_is_a_test_in_both_themes_with_failures_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A", template=FAINT))
    (tmp_path / "B.widget").write_text(widget_file("B"))
    (tmp_path / "C.widget").write_text("{}")
    ran = widgetd_test(tmp_path, ".", "--", "-vv", "--junitxml", "said.xml")

    assert ran.returncode == 1
    for line in ("A.widget::light FAILED", "A.widget::dark PASSED"):
        assert line in ran.stdout
    for line in ("B.widget::light PASSED", "B.widget::dark PASSED", "C.widget::served FAILED"):
        assert line in ran.stdout
    assert_junit(tmp_path / "said.xml", tests=5, failures=2)


@needs_browser
def test_stage_is_a_fixture_of_any_suite(tmp_path: Path) -> None:
    (tmp_path / "Controls.widget").write_text(controls_file())
    (tmp_path / "test_mine.py").write_text(
        "def test_it(stage):\n"
        "    stage.do('Show Widget', widget='controls', arguments={'who': 'Ada'})\n"
        "    stage.do('Press', target='action=track')\n"
        "    assert stage.do('Expect Action', type='track')['type'] == 'track'\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "widgetd.pytest_plugin"]
    ran = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, timeout=BROWSER_S, check=False
    )

    assert (ran.returncode, "1 passed" in ran.stdout) == (0, True), ran.stdout


SAVING = """
import pathlib

def pytest_sessionfinish():
    done, file = pathlib.Path("done"), pathlib.Path("widgets/Controls.test.yaml")
    if not done.exists():
        done.touch()
        file.write_text(file.read_text().replace("Prss", "Pres"))
"""
"""A plugin that saves what is being run, once."""


def test_save_during_a_run_is_run_afterwards(tmp_path: Path) -> None:
    (tmp_path / "widgets").mkdir()
    (tmp_path / "widgets/Controls.widget").write_text(controls_file())
    write_test(tmp_path / "widgets", "Show Widget", "Prss: text=Track")
    (tmp_path / "saving.py").write_text(SAVING)
    test = [sys.executable, "-m", "widgetd", "test"]
    command = [*test, "widgets", "--watch", "--", "-p", "saving", "--collect-only"]
    lines = []
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": "."},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        watchdog = threading.Timer(BROWSER_S, process.kill)
        watchdog.start()
        for line in process.stdout or ():
            lines += [line] if "there is no keyword" in line else []
            if "1 error" in line and len(lines) > 1:
                break
        watchdog.cancel()
        process.terminate()

    assert ["'Prss'" in lines[0], "'Pres'" in lines[-1]] == [True, True], lines


@pytest.mark.parametrize(
    ("saved", "again"),
    [
        ("A.widget", ["A.widget", "Other.test.yaml"]),
        ("A.widget.toml", ["A.widget", "Other.test.yaml"]),
        ("B.widget", ["B.widget"]),
        ("Other.test.yaml", ["Other.test.yaml"]),
        ("notes.txt", []),
    ],
)
def test_save_affects_only_tests_of_its_own_widget(
    saved: str, again: list[str], tmp_path: Path
) -> None:
    from widgetd.author.testing.command import affected_files

    for name in ("A", "B"):
        (tmp_path / f"{name}.widget").write_text(widget_file(name))
    (tmp_path / "Other.test.yaml").write_text("widget: a\ntests: [{name: a, steps: [Look]}]\n")

    assert [Path(one).name for one in affected_files(tmp_path, [saved])] == again


@needs_browser
def test_press_is_a_dry_run_against_the_answers_beside_the_test(tmp_path: Path) -> None:
    (tmp_path / "Seats.widget").write_text(
        widget_file("Seats", schema=booking.SCHEMA, template=booking.TEMPLATE)
    )
    (tmp_path / "Seats.widget.toml").write_text(booking.SIDECAR)
    (tmp_path / "airline.yaml").write_text("airline: {book_seat: {answer: {seat: {code: 12A}}}}\n")
    (tmp_path / "Seats.test.yaml").write_text(
        """
widget: seats
upstreams: airline.yaml
tests:
  - name: books
    steps:
      - Show Widget: {arguments: {number: PA 845}}
      - Enter Text: {target: field=seat, text: 12A}
      - Press: text=Book
      - Expect Visible: text=Book 12A?
      - Press: text=Confirm
      - Expect Visible: "text=Dry run: airline.book_seat was not called."
      - Expect Visible: text=12A
"""
    )
    ran = widgetd_test(tmp_path)

    assert ran.returncode == 0, ran.stdout
