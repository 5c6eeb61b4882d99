"""Wishes are read with all their faults, and judged against what was found or called."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.widgets import build_widget, snapshot_of, widget_file
from widgetd.author.testing.eval_file import Cases, read_cases, read_transcript
from widgetd.author.testing.evaluation import Evaluator, Verdict
from widgetd.author.testing.suite import format_fault
from widgetd.base.errors import WidgetError
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main
from widgetd.daemon.loading import admit, build_catalog
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.settings import Settings

GREETING = build_widget("Greeting", sidecar='description = "Greet someone by name."')
SEATS = build_widget(
    "Seats",
    sidecar='keywords = ["theatre"]\ndescription = "Show free seats of a train."',
    schema={"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]},
)
SERVED = snapshot_of(GREETING, SEATS)


def cases_of(folder: Path, text: str, snapshot: Snapshot = SERVED) -> Cases:
    (folder / "Seats.eval.yaml").write_text(text)
    return read_cases(folder, snapshot)


def bundled() -> Snapshot:
    return build_catalog(Settings(), bundled_folder(), Loader(admit).load, quiet_ms=0).scan()


def test_bundled_wishes_are_found_by_the_index() -> None:
    snapshot = bundled()
    cases = read_cases(bundled_folder(), snapshot)

    outcomes = list(Evaluator(snapshot).search(cases.wishes))

    assert cases.faults == ()
    assert len(outcomes) == 60
    missed = [(one.case, one.tools) for one in outcomes if one.problem]
    assert sum(one.tools[:1] == (one.tool,) for one in outcomes) >= 48, missed
    assert sum(one.is_found for one in outcomes) >= 57, missed


def test_facts_of_each_bundled_widget_answer_its_questions() -> None:
    snapshot = bundled()
    cases = read_cases(bundled_folder(), snapshot)

    outcomes = list(Evaluator(snapshot).ask_facts(cases.questions))

    assert {question.tool for question in cases.questions} == set(snapshot.widgets)
    assert [(one.case, one.problem) for one in outcomes if one.problem] == []


def test_all_faults_of_a_file_are_reported_with_their_lines(tmp_path: Path) -> None:
    cases = cases_of(
        tmp_path,
        "cases:\n"
        "  - wish: two seats\n"
        "    nevr: [greeting]\n"
        "  - wish: two seats\n"
        "    never: [greting]\n"
        "  - arguments: [2]\n",
    )

    assert [format_fault(fault).replace(f"{tmp_path}/", "") for fault in cases.faults] == [
        (
            "Seats.eval.yaml:3:5: a case has no 'nevr'; "
            "it has arguments, facts, given, never, tool, wish [W2512]"
        ),
        "Seats.eval.yaml:5:13: there is no widget 'greting'; did you mean 'greeting'? [W2512]",
        "Seats.eval.yaml:6:5: the case has no wish; write `wish:` or `facts:` [W2512]",
        "Seats.eval.yaml:4:11: the wish of Seats.eval.yaml:2 is repeated; remove one [W2512]",
    ]


def test_miss_names_the_deciding_sentences(tmp_path: Path) -> None:
    cases = cases_of(tmp_path, "cases: [{wish: greet the train by name}]")

    [outcome] = Evaluator(SERVED).search(cases.wishes)

    assert outcome.tools[0] == "greeting"
    assert (outcome.winner, outcome.loser) == (
        "greeting Greeting",
        "Show free seats of a train.",
    )


def judge(folder: Path, *rows: object, case: str = "") -> Verdict:
    cases = cases_of(folder, f"cases:\n  - wish: two seats\n    arguments: [2]\n{case}")
    lines = "\n".join(json.dumps({"wish": "two seats", **row}) for row in rows)  # type: ignore[dict-item]
    (folder / "calls.jsonl").write_text(lines)
    calls = read_transcript(folder / "calls.jsonl", cases.wishes)
    return Evaluator(SERVED).judge(cases.wishes[0], calls["two seats"])


def test_transcript_separates_found_filled_and_repaired_calls(tmp_path: Path) -> None:
    good = {"tool": "seats", "arguments": {"count": 2}, "tokens": 7}
    refused = {"tool": "seats", "arguments": {"count": "many"}, "tokens": 5}

    filled = judge(tmp_path, good)
    assert (filled.is_found, filled.is_filled, filled.is_repaired, filled.tokens) == (
        *(True, True, False),
        7,
    )
    again = judge(tmp_path, refused, good)
    assert (again.is_filled, again.is_repaired, again.tokens) == (True, True, 12)
    assert judge(tmp_path, {"tool": "seats", "arguments": {"count": "2"}}).is_repaired
    assert not judge(tmp_path, refused).is_filled
    assert judge(tmp_path, {**good, "arguments": {"count": 3}}).problem == "the arguments lack 2"
    assert not judge(tmp_path, {"tool": "greeting", "arguments": {"who": "Ada"}}).is_found
    assert judge(tmp_path, {}).problem == "nothing is found"
    for by_name in (
        {"name": "seats", "arguments": {"count": 2}},
        {"tool": "seats", "args": {"count": 2}},
    ):
        assert judge(tmp_path, {"tool": "render_widget", "arguments": by_name}).is_filled


def test_call_of_a_forbidden_widget_is_a_problem(tmp_path: Path) -> None:
    rows = [{"tool": "greeting"}, {"tool": "seats", "arguments": {"count": 2}}]

    outcome = judge(tmp_path, *rows, case="    never: [greeting]\n")

    assert outcome.problem == "greeting must not be called"


def test_all_faults_of_a_transcript_are_reported_with_their_lines(tmp_path: Path) -> None:
    cases = cases_of(tmp_path, "cases: [{wish: two seats}]")
    (tmp_path / "calls.jsonl").write_text('{"wish": "two seats"}\n{"wish": "a"}\n{\n{"tool": 1}\n')

    with pytest.raises(WidgetError) as caught:
        read_transcript(tmp_path / "calls.jsonl", cases.wishes)

    assert [(one.line, one.problem.split(":")[0]) for one in caught.value.findings] == [
        (2, "no case has the wish 'a'"),
        (3, "it is not JSON (Expecting property name enclosed in double quotes"),
        (4, "wish"),
    ]


@pytest.mark.parametrize("arguments", ["", "    given: {who: Ada}\n"])
def test_questions_are_answered_from_the_facts_of_the_example_or_of_the_arguments(
    tmp_path: Path, arguments: str
) -> None:
    text = f"tool: greeting\ncases:\n  - facts:\n      Who is greeted?: Ada\n{arguments}"

    [outcome] = Evaluator(SERVED).ask_facts(cases_of(tmp_path, text).questions)

    assert (outcome.problem == "") == bool(arguments)


def test_command_prints_misses_and_counts_and_the_daemon_ignores_the_files(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["eval", str(tmp_path)]) == 5
    (tmp_path / "Flight.eval.yaml").write_text("cases: [{wish: x}]")
    assert main(["eval", str(tmp_path)]) == 2
    assert "Flight.eval.yaml:1:1: there is no widget 'flight'" in capsys.readouterr().err
    assert main(["check", str(tmp_path)]) == 0


def test_command_prints_the_losers_and_exits_by_the_required_share(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "Greeting.widget").write_text(widget_file())
    text = "cases: [{wish: greeting}, {wish: zebra, arguments: [a]}]"
    (tmp_path / "Greeting.eval.yaml").write_text(text)

    assert main(["eval", str(tmp_path), "--least", "0.5"]) == 0
    assert main(["eval", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].endswith("Greeting.eval.yaml:1: zebra: nothing is found")
    assert lines[-1].startswith("2 cases: held 1, first 1, found 1; ")
    assert main(["eval", str(tmp_path), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["held"], [one["found"] for one in document["cases"]]) == (1, [True, False])
