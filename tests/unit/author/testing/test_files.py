"""Test files are read as they are meant, or refused with all their faults and their places."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.widgets import build_widget, snapshot_of
from widgetd.author.testing.csv_folder import read_folder
from widgetd.author.testing.suite import Case, Suite, format_fault, resolve_cases
from widgetd.author.testing.yaml_file import read_suite
from widgetd.base.errors import Finding
from widgetd.server.catalog.snapshot import Snapshot

HEAD = "tests:\n  - name: a\n    steps:\n      - Press: text=A\n"


def suite_of(folder: Path, text: str | bytes) -> Suite:
    file = folder / "A.test.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_suite(file)


def faults_of(suite: Suite, snapshot: Snapshot | None = None) -> list[Finding]:
    return resolve_cases(suite, snapshot or Snapshot.empty())[1]


def cases_of(suite: Suite) -> list[Case]:
    cases, faults = resolve_cases(suite, Snapshot.empty())
    assert faults == []
    return cases


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("no", "no"),
        ("1:30", "1:30"),
        ("text=Save", "text=Save"),
        ("css=.a", "css=.a"),
        ("https://x/?a=b", "https://x/?a=b"),
        ("Sleep 5", "Sleep 5"),
        ('"  quoted  "', "  quoted  "),
        ("Bodø 🎉", "Bodø 🎉"),
        ("2026-03-31", "2026-03-31"),
        ("0x10", "0x10"),
        ("12", 12),
        ('"12"', "12"),
        ("1.5e3", 1500.0),
        ("true", True),
        ("True", "True"),
        ("null", None),
        ("[a, {b: 1}]", ["a", {"b": 1}]),
    ],
)
def test_scalar_has_its_json_meaning(tmp_path: Path, text: str, value: Any) -> None:
    assert suite_of(
        tmp_path,
        f"vars: {{}}\n{HEAD}vars2: 1".replace("vars2: 1", "").replace(
            "vars: {}", f"vars:\n  x: {text}"
        ),
    ).variables == {"x": value}


def test_yaml_anchor_is_replaced_by_its_value(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, f"vars:\n  x: &a [1]\n  y: *a\n{HEAD}")

    assert suite.variables == {"x": [1], "y": [1]}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "1:1: it is empty; write `tests:` and a list"),
        (
            HEAD + "\n\t- x",
            "6:1: it is not YAML: found character '\\t' that cannot start any token",
        ),
        (f"vars: {{a: 1, a: 2}}\n{HEAD}", "1:14: the key 'a' is repeated; remove one"),
        (f"vars: {{a: &x [*x]}}\n{HEAD}", "1:11: an alias leads to itself; write it out"),
        ("# " + "x" * 2_000_000, "1:1: it is longer than 1,048,576 bytes; leave out what it"),
        (b"\xff", "1:1: it is not UTF-8; save it as UTF-8"),
        (
            "a: 1",
            (
                "1:1: a file of tests has no 'a'; "
                "it has modules, targets, tests, upstreams, vars, widget"
            ),
        ),
        ("widget: a", "1:1: there are no tests; write `tests:` and a list"),
        ("tests: {}", "1:8: a list is expected here; write `- ` before each"),
        ("tests: [{name: a}]", "1:9: the test has no steps; write it"),
        ("tests:\n- name: a\n  steps: [{a: 1, b: 2}]", "3:11: a step does one thing, and this one"),
        ("vars: {a: 1e999}\ntests: []", "1:11: the number 1e999 is too large; write it in quotes"),
        ("vars: {a: -1e999}\ntests: []", "1:11: the number -1e999 is too large"),
        ("tests:\n- name: a\n  for: x.csv\n  steps: []", "3:8: x.csv cannot be read"),
        ("tests:\n- name: a\n  for: ../x.csv\n  steps: []", "3:8: ../x.csv: it leads outside"),
        ("tests:\n- name: a\n  for: /etc/passwd\n  steps: []", "3:8: /etc/passwd: it leads out"),
        ("tests:\n- name: a\n  for: /dev/zero\n  steps: []", "3:8: /dev/zero: it leads outside"),
        ("vars: &a [1]\ntests: []", "1:7: a mapping is expected here"),
        ("{a: " * 5_000, "1:1: it nests too deeply; nest less"),
    ],
)
def test_unreadable_file_is_refused_with_its_place(
    tmp_path: Path, text: str | bytes, problem: str
) -> None:
    fault = suite_of(tmp_path, text).faults[0]

    assert f"A.test.yaml:{problem}" in format_fault(fault)
    assert fault.code == "W4401"


def test_all_faults_of_a_file_are_reported_at_once(tmp_path: Path) -> None:
    suite = suite_of(
        tmp_path,
        """widget: missing
variables: {}
modules:
  open: [{a: 1, b: 2}]
tests:
  - name: first
    steps:
      - Prss: text=A
      - Press: ${nothing}
  - name: second
    stps: []
  - name: third
    steps: []
""",
    )

    located = [(one.line, one.code) for one in faults_of(suite)]
    assert sorted(located, key=lambda one: one[0] or 0) == [
        (1, "W2001"),
        (2, "W4401"),
        (4, "W4401"),
        (8, "W4101"),
        (9, "W4402"),
        (10, "W4401"),
        (11, "W4401"),
    ]


def test_fault_in_each_of_many_rows_is_reported_once(tmp_path: Path) -> None:
    rows = "[{n: 1}, {n: 2}, {n: 3}]"
    suite = suite_of(tmp_path, f"tests:\n- name: a\n  for: {rows}\n  steps: [{{Prss: text=A}}]")

    assert [one.code for one in faults_of(suite)] == ["W4101"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("tests: [{name: a, steps: []}]", "1:9: the test has no steps; write what it does and"),
        (
            "tests: [{name: a, for: [{t: 1}, {t: 2}], steps: [{Look: null, when: {t: 1}}]}]",
            "1:9: no step of the test is done; write what it does and expects",
        ),
        ("tests: [{name: a, for: [], steps: [Look]}]", "1:24: there are no rows; write one at"),
    ],
)
def test_test_without_a_check_is_refused(tmp_path: Path, text: str, problem: str) -> None:
    [fault] = faults_of(suite_of(tmp_path, text))

    assert f"A.test.yaml:{problem}" in format_fault(fault)
    assert fault.code == "W4401"


def test_missing_widget_is_refused_though_no_step_shows_it(tmp_path: Path) -> None:
    snapshot = snapshot_of(build_widget("Greeting"))
    [fault] = faults_of(suite_of(tmp_path, f"widget: greting\n{HEAD}"), snapshot)
    filled_in = f"widget: ${{which}}\nvars: {{which: greting}}\n{HEAD}"
    [other] = faults_of(suite_of(tmp_path, filled_in), snapshot)

    problem = "A.test.yaml:1:9: there is no widget 'greting'; did you mean 'greeting'? [W2001]"
    assert problem in format_fault(fault)
    assert problem in format_fault(other)


def test_two_tests_of_the_same_picture_are_refused(tmp_path: Path) -> None:
    [fault] = faults_of(suite_of(tmp_path, f"{HEAD}  - name: A!\n    steps: [Look]\n"))

    problem = "A.test.yaml:5:5: 'A!' has the name of the test in line 2; give it another"
    assert problem in format_fault(fault)
    assert fault.code == "W4401"


@pytest.mark.parametrize("name", ["A.test.yaml", "rows.csv", "test_cases.csv", "modules.csv"])
def test_link_out_of_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    home, secret = tmp_path / "home", tmp_path / "secret"
    home.mkdir()
    secret.write_text("a,b\nroot:x,secret\n")
    (home / name).symlink_to(secret)

    if name == "rows.csv":
        (home / "A.test.yaml").write_text("tests:\n- name: a\n  for: rows.csv\n  steps: []")
    is_folder = name in ("test_cases.csv", "modules.csv")

    suite = read_folder(home) if is_folder else read_suite(home / "A.test.yaml")
    [fault] = suite.faults
    assert fault.problem.endswith("it leads outside the folder")
    assert "secret" not in format_fault(fault).removeprefix(fault.path)


@pytest.mark.parametrize("leaf", ["[Look]", "[]"])
def test_multiplying_modules_are_refused(leaf: str, tmp_path: Path) -> None:
    uses = "".join(f"  m{n}: [{', '.join([f'{{use: m{n + 1}}}'] * 10)}]\n" for n in range(9))
    text = f"modules:\n{uses}  m9: {leaf}\ntests: [{{name: a, steps: [{{use: m0}}]}}]\n"

    [fault] = faults_of(suite_of(tmp_path, text))
    assert (fault.code, fault.problem[:27]) == ("W4401", "a test may have 1,000 steps")


def test_more_tests_than_a_file_may_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n" + "\n".join(map(str, range(10_001))))
    suite = suite_of(tmp_path, "tests:\n- {name: a, for: rows.csv, steps: [Look]}")

    [fault] = faults_of(suite)
    assert fault.problem == "the file has more than 10,000 tests, rows counted"


def test_multiplying_aliases_are_refused(tmp_path: Path) -> None:
    lines = ["vars:", "  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    [fault] = suite_of(tmp_path, "\n".join([*lines, HEAD])).faults
    assert fault.problem == "it holds more than 50,000 values"


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        ("- Prss: text=A", "W4101 5:9 there is no keyword 'Prss'; did you mean 'Press'?"),
        ("- Press: Save", "W4102 5:9 Press, target: 'Save' is no target; write text=Save"),
        ("- Press: ${trak}", "W4402 5:9 there is no variable 'trak'; did you mean 'track'?"),
        ("- Press: {taget: text=A}", "W4102 5:9 Press needs 'target'; Press takes no 'taget'"),
        ("- Press: role=buton", "W4102 5:9 Press, target: there is no role 'buton'; did you mean"),
        (
            "- Expect Text: {target: text=A, pattern: '('}",
            "W4102 5:9 Expect Text, pattern: the pattern '(' is no regular expression",
        ),
        ("- Expect Count: {target: text=A, count: x}", "W4102 5:9 Expect Count, count: input"),
        ("- Expect Tree: {path: '[', equals: 1}", "W4102 5:9 Expect Tree, path: the expression"),
        ("- use: opn", "W4402 5:9 there is no module 'opn'; did you mean 'open'?"),
        ("- use: open", "W4402 5:9 the module 'open' needs 'who'; give it a value"),
        ("- use: {module: open, wo: 1}", "W4402 5:9 there is no parameter of 'open' 'wo'"),
        ("- use: loop", "W4402 7:18 modules use each other more than 16 deep; let none use"),
        ("- {Look: null, when: {them: dark}}", "W4402 5:9 there is no variable 'them'"),
    ],
)
def test_unknown_name_is_refused_before_anything_runs(
    tmp_path: Path, step: str, problem: str
) -> None:
    text = (
        "targets: {track: text=Track}\ntests:\n  - name: a\n    steps:\n"
        f"      {step}\nmodules:\n  loop: {{steps: [{{use: loop}}]}}\n"
        "  open: {params: [who], steps: [{Show Widget: {arguments: {who: '${who}'}}}]}\n"
    )
    fault = faults_of(suite_of(tmp_path, text))[0]

    place = f"{fault.line}:{fault.column}"
    assert f"{fault.code} {place} {fault.problem}; {fault.advice}".startswith(problem)


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (
            "- Show Widget: {widget: greting}",
            "W2001 4:9 there is no widget 'greting'; did you mean 'greeting'?",
        ),
        (
            "- Show Widget: {widget: greeting, state: exmple-1}",
            "W4402 4:9 greeting has no state 'exmple-1'; did you mean 'example-1'?",
        ),
        ("- Show Widget", "W2001 4:9 there is no widget ''; search_widgets finds what there is"),
    ],
)
def test_unknown_widget_or_state_is_refused_before_anything_runs(
    tmp_path: Path, step: str, problem: str
) -> None:
    snapshot = snapshot_of(
        build_widget("Greeting", sidecar="[[examples]]\narguments = {who = 'Ada'}")
    )
    [fault] = faults_of(suite_of(tmp_path, HEAD.replace("- Press: text=A", step)), snapshot)

    place = f"{fault.code} {fault.line}:{fault.column}"
    assert f"{place} {fault.problem}; {fault.advice}" == problem


TARGETS = st.sampled_from(
    ["text=A", "role=button", "role=buton", "component=Badge", "component=Bad", "A", "${a}", "${b}"]
)
STEPS = st.one_of(
    st.builds(lambda name: {name: None}, st.sampled_from(["Look", "Lok", "Submit", "Press"])),
    st.builds(
        lambda name, target: {name: target},
        st.sampled_from(["Press", "Prss", "Hover", "Expect Visible", "expect_hidden"]),
        TARGETS,
    ),
    st.builds(
        lambda target, key, value: {"Expect Count": {"target": target, key: value}},
        TARGETS,
        st.sampled_from(["count", "cuont"]),
        st.sampled_from([1, "2", "x", None, "${a}", [1]]),
    ),
    st.builds(lambda name: {"use": name}, st.sampled_from(["open", "opn"])),
    st.builds(lambda name: {"Look": None, "when": {name: "x"}}, st.sampled_from(["a", "b"])),
)


@given(steps=st.lists(STEPS, min_size=1, max_size=4), value=st.sampled_from(["text=A", "A", 3]))
def test_collected_case_has_no_unknown_name(
    steps: list[dict[str, Any]], value: object, tmp_path_factory: pytest.TempPathFactory
) -> None:
    text = orjson.dumps(
        {
            "vars": {"a": value},
            "modules": {"open": [{"Hover": "${a}"}]},
            "tests": [{"name": "a", "steps": steps}],
        },
        option=orjson.OPT_INDENT_2,
    )
    suite = suite_of(tmp_path_factory.getbasetemp(), text)
    cases, faults = resolve_cases(suite, Snapshot.empty())
    for fault in faults:
        line = text.decode().splitlines()[(fault.line or 0) - 1]
        assert line[(fault.column or 0) - 1 :].lstrip()
        assert fault.code in {"W4101", "W4102", "W4401", "W4402"}
    for step in (step for case in cases for step in case.steps):
        assert step.keyword.parse(dict(step.arguments)) == step.arguments
        assert "${" not in str(step.arguments)


def test_rows_variables_and_conditions_make_the_cases(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("theme,who\nlight,Ada\ndark,Bo\n")
    suite = suite_of(
        tmp_path,
        "tests:\n  - name: Says hello\n    for: rows.csv\n    steps:\n"
        "      - Show Tree: {tree: {type: Text, value: '${who} $${x}'}}\n"
        "      - {Expect Quiet: null, when: {theme: dark}}\n",
    )
    light, dark = cases_of(suite)

    assert (light.name, dark.baseline) == ("Says hello[light-Ada]", "says-hello-dark-bo")
    assert light.steps[0].arguments["tree"] == {"type": "Text", "value": "Ada ${x}"}
    assert [len(light.steps), len(dark.steps)] == [1, 2]
    assert light.steps[0].location.line == 5


def test_three_csv_files_equal_the_suite_of_a_yaml_file(tmp_path: Path) -> None:
    (tmp_path / "test_cases.csv").write_text("test_case,test_step\nFollow,Open\nFollow,Tell\n")
    (tmp_path / "modules.csv").write_text(
        "module_name,module_step,param_1,param_2\n"
        "Open,Show Widget,greeting,\nTell,Press,${track},\n"
        "Tell,Press,text=Save,\nTell,Expect Text,text=Save,contains=https://x/?a=b\n"
    )
    (tmp_path / "elements.csv").write_text(
        "Element_Name,Element_ID\ntrack,action=track\ntrack,text=Track\n"
    )
    suite = suite_of(
        tmp_path,
        "targets: {track: [action=track, text=Track]}\nmodules:\n"
        "  Open: [{Show Widget: greeting}]\n"
        "  Tell:\n    - Press: ${track}\n    - Press: text=Save\n"
        "    - Expect Text: {target: text=Save, contains: 'https://x/?a=b'}\n"
        "tests:\n  - name: Follow\n    steps: [{use: Open}, {use: Tell}]\n",
    )

    assert read_folder(tmp_path) == suite
    assert len(resolve_cases(suite, Snapshot.empty())[0][0].steps) == 4


def test_keyword_without_parameters_is_read_from_csv(tmp_path: Path) -> None:
    (tmp_path / "test_cases.csv").write_text("test_case,test_step\nA,Look\nA,Lok\nB,Prss\n")
    suite = read_folder(tmp_path)

    assert [one.name for one in suite.tests[0].steps] == ["Look"]
    assert [(one.line, one.code) for one in suite.faults] == [(3, "W4101"), (4, "W4101")]


@pytest.mark.parametrize("is_beside", [False, True])
def test_answers_of_upstreams_are_in_the_file_or_beside_it(tmp_path: Path, is_beside: bool) -> None:
    answers = "airline: {book_seat: {answer: {seat: 12A}, confirm: false}}\n"
    (tmp_path / "airline.yaml").write_text(answers)
    given = "airline.yaml" if is_beside else f"{{{answers.strip()}}}"

    [case] = cases_of(suite_of(tmp_path, f"upstreams: {given}\n{HEAD}"))

    assert case.upstreams == {
        "airline": {"book_seat": {"answer": {"seat": "12A"}, "confirm": False}}
    }


def test_answer_of_an_upstream_with_an_unknown_key_is_refused(tmp_path: Path) -> None:
    text = f"upstreams: {{airline: {{book_seat: {{anser: 1}}}}}}\n{HEAD}"

    assert [one.problem for one in suite_of(tmp_path, text).faults] == ["an answer has no 'anser'"]
