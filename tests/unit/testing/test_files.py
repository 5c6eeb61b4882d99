"""Files of tests are read as they are meant, or refused with their place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.making import snapshot_of, widget
from widgetd.errors import WidgetError
from widgetd.testing.csv_folder import read_folder
from widgetd.testing.suite import Suite, cases, demand_shown, sentence
from widgetd.testing.yaml_file import read_suite

HEAD = "tests:\n  - name: a\n    steps:\n      - Press: text=A\n"


def suite_of(folder: Path, text: str | bytes) -> Suite:
    file = folder / "A.test.yaml"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_suite(file)


@pytest.mark.parametrize(
    ("written", "value"),
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
def test_a_scalar_is_what_it_is_in_json(tmp_path: Path, written: str, value: Any) -> None:
    assert suite_of(
        tmp_path,
        f"vars: {{}}\n{HEAD}vars2: 1".replace("vars2: 1", "").replace(
            "vars: {}", f"vars:\n  x: {written}"
        ),
    ).variables == {"x": value}


def test_an_anchor_is_what_it_stands_for(tmp_path: Path) -> None:
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
        (f"vars: {{a: 1, a: 2}}\n{HEAD}", "1:14: the key 'a' stands here twice; leave one of them"),
        (f"vars: {{a: &x [*x]}}\n{HEAD}", "1:11: an alias leads to itself; write it out"),
        ("# " + "x" * 2_000_000, "1:1: it is longer than 1,048,576 bytes; leave out what it"),
        (b"\xff", "1:1: it is not UTF-8; save it as UTF-8"),
        ("a: 1", "1:1: a file of tests has no 'a'; it has modules, targets, tests, vars, widget"),
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
        ("[" * 5_000, "1:"),
    ],
)
def test_what_cannot_be_read_is_refused_with_its_place(
    tmp_path: Path, text: str | bytes, problem: str
) -> None:
    with pytest.raises(WidgetError) as raised:
        suite_of(tmp_path, text)

    assert f"A.test.yaml:{problem}" in sentence(raised.value)
    assert raised.value.finding.code == "W4401"


def test_two_tests_whose_pictures_would_be_the_same_are_refused(tmp_path: Path) -> None:
    suite = suite_of(tmp_path, f"{HEAD}  - name: A!\n    steps: []\n")

    with pytest.raises(WidgetError) as raised:
        list(cases(suite))

    said = "A.test.yaml:5:5: 'A!' has the name of the test in line 2; call it otherwise"
    assert said in sentence(raised.value)
    assert raised.value.finding.code == "W4401"


@pytest.mark.parametrize("name", ["A.test.yaml", "rows.csv", "test_cases.csv", "modules.csv"])
def test_a_file_that_is_a_link_out_of_its_folder_is_refused(name: str, tmp_path: Path) -> None:
    home, secret = tmp_path / "home", tmp_path / "secret"
    home.mkdir()
    secret.write_text("a,b\nroot:x,secret\n")
    (home / name).symlink_to(secret)

    if name == "rows.csv":
        (home / "A.test.yaml").write_text("tests:\n- name: a\n  for: rows.csv\n  steps: []")
    is_folder = name in ("test_cases.csv", "modules.csv")

    with pytest.raises(WidgetError) as raised:
        read_folder(home) if is_folder else read_suite(home / "A.test.yaml")
    assert raised.value.finding.problem.endswith("it leads outside the folder")
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("leaf", ["[Look]", "[]"])
def test_modules_that_multiply_are_refused(leaf: str, tmp_path: Path) -> None:
    uses = "".join(f"  m{n}: [{', '.join([f'{{use: m{n + 1}}}'] * 10)}]\n" for n in range(9))
    text = f"modules:\n{uses}  m9: {leaf}\ntests: [{{name: a, steps: [{{use: m0}}]}}]\n"

    with pytest.raises(WidgetError, match="a test may have 1,000 steps") as raised:
        list(cases(suite_of(tmp_path, text)))
    assert raised.value.finding.code == "W4401"


def test_more_tests_than_a_file_may_have_are_refused(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("n\n" + "\n".join(map(str, range(10_001))))
    suite = suite_of(tmp_path, "tests:\n- {name: a, for: rows.csv, steps: [Look]}")

    with pytest.raises(WidgetError, match="the file has more than 10,000 tests"):
        list(cases(suite))


def test_aliases_that_multiply_are_refused(tmp_path: Path) -> None:
    lines = ["vars:", "  a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"  a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]

    with pytest.raises(WidgetError, match="more than 50,000 values"):
        suite_of(tmp_path, "\n".join([*lines, HEAD]))


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
def test_a_name_that_is_not_there_is_found_before_anything_runs(
    tmp_path: Path, step: str, problem: str
) -> None:
    text = (
        "targets: {track: text=Track}\ntests:\n  - name: a\n    steps:\n"
        f"      {step}\nmodules:\n  loop: {{steps: [{{use: loop}}]}}\n"
        "  open: {params: [who], steps: [{Show Widget: {arguments: {who: '${who}'}}}]}\n"
    )
    with pytest.raises(WidgetError) as raised:
        list(cases(suite_of(tmp_path, text)))

    finding = raised.value.finding
    said = f"{finding.code} {finding.line}:{finding.column} {finding.problem}; {finding.advice}"
    assert problem.split(" ", 2)[::2][0] == said.split(" ", 2)[0]
    assert said.split(" ", 2)[2].startswith(problem.split(" ", 2)[2])


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
def test_a_widget_or_state_that_is_not_there_is_found_before_anything_runs(
    tmp_path: Path, step: str, problem: str
) -> None:
    snapshot = snapshot_of(widget("Greeting", sidecar="[[examples]]\narguments = {who = 'Ada'}"))
    (case,) = cases(suite_of(tmp_path, HEAD.replace("- Press: text=A", step)))
    with pytest.raises(WidgetError) as raised:
        demand_shown(case, snapshot)

    finding = raised.value.finding
    place = f"{finding.code} {finding.line}:{finding.column}"
    assert f"{place} {finding.problem}; {finding.advice}" == problem


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
def test_what_is_collected_names_nothing_that_is_not_there(
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
    finding, ready = None, list[Any]()
    try:
        ready = [step for case in cases(suite) for step in case.steps]
    except WidgetError as error:
        finding = error.finding
    if finding is not None:
        line = text.decode().splitlines()[(finding.line or 0) - 1]
        assert line[(finding.column or 0) - 1 :].lstrip()
        assert finding.code in {"W4101", "W4102", "W4402"}
    for step in ready:
        assert step.keyword.arguments(dict(step.arguments)) == step.arguments
        assert "${" not in str(step.arguments)


def test_rows_variables_and_conditions_make_the_cases(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("theme,who\nlight,Ada\ndark,Bo\n")
    suite = suite_of(
        tmp_path,
        "widget: greeting\ntests:\n  - name: Says hello\n    for: rows.csv\n    steps:\n"
        "      - Show Widget: {arguments: {who: '${who} $${x}'}, theme: '${theme}'}\n"
        "      - {Expect Quiet: null, when: {theme: dark}}\n",
    )
    light, dark = cases(suite)

    assert (light.name, dark.picture) == ("Says hello[light-Ada]", "says-hello-dark-bo")
    assert light.steps[0].arguments["arguments"] == {"who": "Ada ${x}"}
    assert [len(light.steps), len(dark.steps)] == [1, 2]
    assert light.steps[0].place.line == 6


def test_three_csv_files_are_the_suite_that_a_yaml_file_is(tmp_path: Path) -> None:
    (tmp_path / "test_cases.csv").write_text("test_case,test_step\nFollow,Open\nFollow,Tell\n")
    (tmp_path / "modules.csv").write_text(
        "module_name,module_step,param_1,param_2\n"
        "Open,Show Widget,greeting,\nTell,Press,${track},\n"
        "Tell,Press,text=Save,\nTell,Expect Text,text=Save,contains=https://x/?a=b\n"
    )
    (tmp_path / "elements.csv").write_text(
        "Element_Name,Element_ID\ntrack,action=track\ntrack,text=Track\n"
    )
    written = suite_of(
        tmp_path,
        "targets: {track: [action=track, text=Track]}\nmodules:\n"
        "  Open: [{Show Widget: greeting}]\n"
        "  Tell:\n    - Press: ${track}\n    - Press: text=Save\n"
        "    - Expect Text: {target: text=Save, contains: 'https://x/?a=b'}\n"
        "tests:\n  - name: Follow\n    steps: [{use: Open}, {use: Tell}]\n",
    )

    assert read_folder(tmp_path) == written
    assert len(next(iter(cases(written))).steps) == 4
