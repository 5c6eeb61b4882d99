"""Commands as a user types them."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2
import pytest

from tests.support.patience import PATIENCE_S
from tests.support.widgets import greeting, widget_file
from widgetd import load_widget
from widgetd.cli import GROUPS as COMMAND_GROUPS
from widgetd.cli import app, main
from widgetd.settings import GROUPS, SET_FIRST, Settings

BROKEN = '{"type":"Card","children":[{"type":"Text","value":{{ who | tojsn }}}]}'


@pytest.fixture
def command_folder(tmp_path: Path) -> Path:
    (tmp_path / "Greeting.widget").write_text(widget_file(description="Greet somebody."))
    return tmp_path


def test_list_names_each_tool_with_its_purpose(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["list", str(command_folder)]) == 0
    assert capsys.readouterr().out == "greeting  Greet somebody.\n"


@pytest.mark.parametrize("flags", [[], ["--json"], ["--tokens"]])
def test_list_names_refused_files_and_the_file_in_their_place(
    command_folder: Path, capsys: pytest.CaptureFixture[str], flags: list[str]
) -> None:
    (command_folder / "team").mkdir()
    (command_folder / "team" / "Greeting.widget").write_text(widget_file(text="Another"))

    assert main(["list", str(command_folder), *flags]) == 0
    assert capsys.readouterr().err == (
        "not served: team/Greeting.widget#/name: the tool name 'greeting' belongs to "
        "'Greeting.widget'; give this widget another name, or remove one of the two files\n"
    )


def test_text_of_a_widget_moves_no_cursor_of_a_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = "Greet\nnobody  \x1b[2J\x9b1A somebody."
    (tmp_path / "Greeting.widget").write_text(widget_file(description=text))

    assert main(["list", str(tmp_path)]) == 0
    output = capsys.readouterr().out
    assert output.endswith("\n")
    assert output[:-1].isprintable()
    assert output.startswith("greeting  Greet nobody ")


def test_list_speaks_json_to_programs(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main(["list", str(command_folder), "--json"])

    assert json.loads(capsys.readouterr().out) == [
        {
            "name": "greeting",
            "title": "Greeting",
            "description": "Greet somebody.",
            "path": "Greeting.widget",
        }
    ]


def test_render_prints_the_tree(command_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["--arguments", '{"who": "Ada"}']
    assert main(["render", "greeting", str(command_folder), *arguments]) == 0
    assert json.loads(capsys.readouterr().out) == greeting("Hello", "Ada")


def test_render_takes_arguments_from_a_file(
    command_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "arguments.json").write_text('{"who": "Ada"}')
    arguments = ["--arguments", f"@{tmp_path / 'arguments.json'}"]

    assert main(["render", "greeting", str(command_folder), *arguments]) == 0
    assert json.loads(capsys.readouterr().out) == greeting("Hello", "Ada")


def test_render_takes_arguments_from_standard_input(
    command_folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b'{"who": "Ada"}')))

    assert main(["render", "greeting", str(command_folder), "--arguments", "-"]) == 0
    assert json.loads(capsys.readouterr().out) == greeting("Hello", "Ada")


def test_render_explains_invalid_arguments(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--arguments", '{"who": true}']
    assert main(["render", "greeting", str(command_folder), *arguments]) == 1
    assert capsys.readouterr().err.startswith("widgetd: who: expected a string, got true")


@pytest.mark.parametrize("state", ["sample", "empty", "one", "many", "long"])
def test_mock_prints_the_same_bytes_for_the_same_seed(
    command_folder: Path, capsys: pytest.CaptureFixture[str], state: str
) -> None:
    command = ["mock", "greeting", str(command_folder), "--state", state, "--count", "3"]
    outputs = []
    for seed in ("7", "7", "8"):
        assert main([*command, "--seed", seed]) == 0
        outputs.append(capsys.readouterr().out)

    assert outputs[0] == outputs[1]
    assert outputs[0] != outputs[2]
    calls = json.loads(outputs[0])
    assert len(calls) == 3
    for call in calls:
        assert set(call) == {"arguments", "result"}
        assert call["result"]["structuredContent"] == greeting("Hello", call["arguments"]["who"])
        assert call["result"]["_meta"]["widgetd/render"]["ms"] == 0


def test_export_writes_a_file_for_studio_and_replaces_none(
    command_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "out" / "Greeting.widget"
    target.parent.mkdir()
    command = ["export", "greeting", str(command_folder), "--output", str(target)]

    assert main(command) == 0
    captured = capsys.readouterr()
    assert captured.out == f"{target}\n"
    assert captured.err.startswith(
        "W1329 Greeting.widget: the file holds no JSX, so Studio's editor opens empty; "
    )
    assert "Studio knows neither the sidecar" in captured.err
    assert load_widget(target).definition.template
    assert main(command) == 2
    assert "is there already; name another with --output [W0002]" in capsys.readouterr().err


def test_strict_export_writes_nothing_that_lacks_something(
    command_folder: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.widget"

    command = ["export", "greeting", str(command_folder), "--output", str(target), "--strict"]

    assert main(command) == 1
    assert not target.exists()


@pytest.mark.parametrize("command", ["mock", "render"])
@pytest.mark.parametrize(
    ("name", "advice"),
    [("greetign", "did you mean 'greeting'?"), ("zzz", "`widgetd list` names what there is")],
)
def test_unknown_widget_is_reported_with_the_nearest(
    command_folder: Path, capsys: pytest.CaptureFixture[str], command: str, name: str, advice: str
) -> None:
    assert main([command, name, str(command_folder)]) == 1
    assert capsys.readouterr().err == f"widgetd: there is no widget '{name}'; {advice}\n"


def test_check_shows_the_place_with_a_caret_and_fails_on_a_fault(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = command_folder / "Greeting.widget"
    broken.write_text(widget_file(template=BROKEN))

    assert main(["check", str(command_folder)]) == 1
    lines = capsys.readouterr().out.splitlines()

    assert lines[0].startswith(f"{broken}:1:")
    assert ": fault W1302: " in lines[0]
    assert "tojsn" in lines[0]
    caret = lines[2].index("^")
    assert lines[1].strip().startswith('{"type":"Card"')
    assert lines[1][caret:].startswith("tojsn")
    assert lines[-1].startswith("1 file: 1 fault, 0 warnings; listing the tools costs a model")


def test_check_passes_faultless_widgets(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(command_folder), "--strict"]) == 0
    assert capsys.readouterr().out.startswith("1 file: 0 faults, 0 warnings; ")


def test_check_speaks_json_to_programs(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (command_folder / "Broken.widget").write_text("{")

    assert main(["check", str(command_folder), "--json"]) == 1
    rows = json.loads(capsys.readouterr().out)

    assert [(row["level"], row["code"], row["line"]) for row in rows] == [("fault", "W1101", 1)]


def test_check_reads_a_file_from_standard_input(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"{")))

    assert main(["check", "-"]) == 1
    assert capsys.readouterr().out.startswith("stdin.widget:1:2: fault W1101: ")


def test_check_annotates_pull_requests(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (command_folder / "Broken.widget").write_text("{")

    assert main(["check", str(command_folder), "--github"]) == 1
    assert capsys.readouterr().out.startswith(
        f"::error file={command_folder}/Broken.widget,line=1,col="
    )


def test_check_against_a_revision_reports_breaking_changes(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for command in (["init", "-q"], ["add", "."], ["commit", "-qm", "before"]):
        identity = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *identity, *command], cwd=command_folder, check=True)
    schema = {
        "type": "object",
        "properties": {"who": {"type": "string"}, "how": {"type": "string"}},
        "required": ["who", "how"],
    }
    template = '{"type":"Card","children":[{"type":"Text","value":{{ (who ~ how) | tojson }}}]}'
    (command_folder / "Greeting.widget").write_text(
        widget_file(schema=schema, template=template, description="Greet somebody.")
    )

    assert main(["check", str(command_folder), "--against", "HEAD"]) == 0
    out = capsys.readouterr().out

    assert "warning W1502" in out
    assert "'how'" in out


def test_check_against_an_unknown_revision_is_a_sentence(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["check", str(command_folder), "--against", "no-such"]) == 2
    assert capsys.readouterr().err == (
        f"widgetd: --against no-such is no folder, and no git revision of {command_folder}; "
        "name a folder, a branch, a tag or a commit [W0002]\n"
    )


def test_settings_name_the_source_of_each_value(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIDGETD_PORT", "9000")
    words = ["--toolset", "author,operate", "--toolset", "pictures"]
    assert main(["serve", "--settings", "--text", "json", *words]) == 0
    lines = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}

    assert lines["port"].endswith("9000  (WIDGETD_PORT)")
    assert lines["text"].endswith('"json"  (flag)')
    assert lines["toolset"].endswith('["author","operate","pictures"]  (flag)')
    assert lines["host"].endswith('"127.0.0.1"  (default)')


def test_closed_output_pipe_ends_a_command_without_a_traceback() -> None:
    command = [sys.executable, "-m", "widgetd", "guide", "codes"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        output = running.stderr.read().decode()

    assert output == ""
    assert running.returncode == 141


@pytest.mark.parametrize("stream", ["stdin", "stdout", "stderr"])
def test_closed_stdin_counts_as_an_empty_one(
    stream: str, command_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, stream, None)
    arguments = ["--arguments", "-"] if stream == "stdin" else []

    code = main(["render", "greeting", str(command_folder), *arguments])
    getattr(sys, stream).close()

    assert code == 2 * bool(arguments)


def test_full_disk_is_one_sentence(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        code = main(["guide", "codes"])

    reason = "standard output cannot be used (No space left on device)"
    assert (code, capsys.readouterr().err) == (3, f"widgetd: {reason}; name another [W0006]\n")


LONG = 300 * "a"
ODD: dict[str, tuple[int, list[str], str]] = {
    "a name that is too long": (3, ["check", LONG], f"{LONG} cannot be used (File name too long)"),
    "a file in the place of a folder": (
        3,
        ["new", "Loop", "--dir", "."],
        ".schemas cannot be used (File exists)",
    ),
    "an option that is none": (2, ["check", "--jsn"], "there is no option --jsn; `widgetd check"),
    "a misspelt option": (
        2,
        ["list", "--jsno"],
        "`widgetd list` has no option --jsno; did you mean '--json'? [W0001]",
    ),
    "a misspelt command": (2, ["lst"], "there is no command 'lst'; did you mean 'list'? [W0001]"),
    "one word too many": (2, ["list", ".", "b"], "`widgetd list` takes no further 'b'; "),
    "a name that is missing": (2, ["render"], "NAME is missing; `widgetd render --help` lists"),
    "a value that is missing": (2, ["serve", "--port"], "--port needs a value; `widgetd serve"),
    "a number that is none": (
        2,
        ["serve", "--port", "x"],
        "--port cannot be 'x'; write a whole number [W0002]",
    ),
    "a misspelt choice": (
        2,
        ["serve", "--profile", "chatkti"],
        "--profile cannot be 'chatkti'; did you mean 'chatkit'? [W0002]",
    ),
    "an option twice": (
        2,
        ["serve", "--port", "1", "--port", "2"],
        "--port is written more than once; write it once [W0002]",
    ),
    "less than nothing": (
        2,
        ["mock", "greeting", "--count", "-3"],
        "--count cannot be -3; write 1 or more [W0002]",
    ),
    "arguments that are no text": (
        2,
        ["render", "greeting", "--arguments", "\udcff"],
        "--arguments is not JSON ('utf-8' codec can't decode byte 0xff",
    ),
    "an address with a space": (1, ["status", "http://a b/"], "http://a b is not ready"),
    "an address of nothing": (2, ["status", "ftp://a"], "ftp://a is no address of a daemon; write"),
    "a state without a widget": (2, ["shot", "--state", "long"], "--arguments, --state, --theme"),
    "a state that is none": (
        1,
        ["shot", "greeting", "--state", "nope"],
        "greeting has no state 'nope'; it has sample, ",
    ),
}


@pytest.mark.parametrize("what", ODD)
def test_unknown_name_is_answered_in_a_sentence(
    what: str,
    command_folder: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    code, command, says = ODD[what]
    (command_folder / ".schemas").touch()
    monkeypatch.chdir(command_folder)
    monkeypatch.setenv("WIDGETD_DIR", ".")

    assert main(command) == code
    assert capsys.readouterr().err.startswith(f"widgetd: {says}")


@pytest.mark.parametrize(
    ("words", "begins"),
    [
        (["start"], "# Start"),
        (["components"], "# "),
        (["Button"], '{\n  "name": "Button"'),
        (["Button.variant"], '{\n  "name": "Button.variant"'),
        (["w1211"], "W1211, warning: "),
        (["port"], "port: port; 0 for any free one\n"),
        (["WIDGETD_PORT"], "port: port; 0 for any free one\n"),
        (["settings"], "[network]\ntransport "),
        (["codes"], "# Codes\n"),
        ([], "start "),
        (["zzzz", "qqqq"], "nothing fits these words"),
    ],
    ids=str,
)
def test_guide_explains_a_word(
    command_folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], begins: str
) -> None:
    assert main(["guide", *words, "--dir", str(command_folder)]) == 0
    assert capsys.readouterr().out.startswith(begins)


def test_guide_searches_for_other_words(
    command_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["guide", "rounded", "button", "--dir", str(command_folder), "--json"]) == 0
    assert "component" in {item["kind"] for item in json.loads(capsys.readouterr().out)}


def test_help_leads_to_the_guide_and_to_the_help_of_a_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["help", "start"]) == 0
    assert capsys.readouterr().out.startswith("# Start")
    assert main(["help", "list"]) == 0
    assert capsys.readouterr().out.startswith("Usage: widgetd list")


def test_help_lists_at_most_19_commands_in_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    output = capsys.readouterr().out

    assert len([name for name in app if not name.startswith("-")]) <= 19
    places = [output.index(f" {group} ") for group in (*COMMAND_GROUPS, "Options")]
    assert places == sorted(places)


def test_help_of_serve_has_the_first_settings_and_then_nine_groups(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["serve", "--help"]) == 0
    output = capsys.readouterr().out

    groups = ("Set first", *map(str.capitalize, GROUPS))
    places = [output.index(f"\u2500 {group} \u2500") for group in groups]
    assert len(GROUPS) == 9
    assert len(SET_FIRST) == 5
    assert places == sorted(places)


def test_every_setting_has_one_group() -> None:
    grouped = [name for names in GROUPS.values() for name in names]

    assert sorted(grouped) == sorted(Settings.model_fields)
    assert set(SET_FIRST) < set(grouped)


ABSENT = "no-such-folder"
FOLDERS = {
    **{name: [name, ABSENT] for name in ("serve", "dev", "chat", "check", "test", "build")},
    **{name: [name, ABSENT] for name in ("list", "types", "shot")},
    **{name: [name, "x", ABSENT] for name in ("new", "render", "export", "mock")},
    "rollback": ["rollback", ABSENT, "--state-dir", "."],
}


@pytest.mark.parametrize("name", FOLDERS)
def test_every_command_that_reads_a_folder_takes_it_as_an_argument(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(FOLDERS[name]) == (1 if name == "shot" else 3)
    assert ABSENT in capsys.readouterr().err


def test_minus_writes_to_standard_output(
    command_folder: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    assert main(["export", "greeting", str(command_folder), "--output", "-"]) == 0
    assert json.loads(capfdbinary.readouterr().out)["name"] == "Greeting"


def test_names_outside_utf_8_are_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command_folder = tmp_path / "d\udce9"
    command_folder.mkdir()
    (command_folder / "A.widget").touch()

    assert main(["serve", "--settings", str(command_folder)]) == 0
    assert "/d\\udce9" in capsys.readouterr().out
    assert main(["check", "--json", str(command_folder)]) == 1
    assert json.loads(capsys.readouterr().out)[0]["path"].endswith("/d\\xe9/A.widget")


INTERRUPTED = """
import signal, sys

class Keyboard:
    def read(self):
        signal.raise_signal(signal.SIGINT)

class Stdin:
    buffer = Keyboard()

sys.stdin, sys.argv = Stdin(), ["widgetd", "check", "-"]
from widgetd.__main__ import main
sys.exit(main())
"""


def test_control_c_ends_a_command_without_a_traceback() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", INTERRUPTED], capture_output=True, timeout=60, check=False
    )

    assert (ended.returncode, ended.stderr) == (130, b"")


def test_render_shows_a_widget_in_the_browser_until_it_is_interrupted(command_folder: Path) -> None:
    command = [sys.executable, "-m", "widgetd", "render", "greeting", str(command_folder), "--open"]
    environment = {**os.environ, "BROWSER": "echo opened %s"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        page, _, signature = address.partition("#")
        answer = httpx2.post(page, json={"signature": signature}, timeout=PATIENCE_S).json()
        process.send_signal(signal.SIGINT)
        try:
            opened, _ = process.communicate(timeout=60)
        finally:
            process.kill()

    assert answer["tool"] == "greeting"
    assert opened == f"opened {address}\n"
    assert process.returncode == 130
