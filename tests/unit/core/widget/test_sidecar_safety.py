"""However much a sidecar asks for, a call takes no more than a render may, and says what it can."""

from __future__ import annotations

import pytest

from tests.support.limits import run_attacks
from tests.support.widgets import build_widget
from tests.unit.core.widget import sidecar_attacks
from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.core.widget.action_checks import find_messages
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.sidecar import read_sidecar

COSTLY = sidecar_attacks.COSTLY


def test_no_sidecar_takes_much_time_or_memory() -> None:
    assert run_attacks("tests.unit.core.widget.sidecar_attacks")


def test_derived_arguments_share_one_budget() -> None:
    lines = "".join(f'k{number} = "{COSTLY}"\n' for number in range(9))

    derived = build_widget(sidecar=f"[derived]\n{lines}").call({"who": "Ada"}).arguments

    assert "k0" in derived
    assert "k8" not in derived


def test_facts_share_one_budget() -> None:
    lines = "".join(f'k{number} = "{COSTLY}"\n' for number in range(9))

    facts = build_widget(sidecar=f"[summary_data]\n{lines}").summary.facts({}, "")

    assert "k0" in facts
    assert "k8" not in facts


def test_checks_share_one_budget_and_fail_beyond_it() -> None:
    check = f'[[actions.go.checks]]\nholds = "{COSTLY}"\nsays = "No."\n'
    widget = build_widget(sidecar='[actions.go]\ndescription = "Go."\n' + 9 * check)

    assert 0 < len(find_messages(widget.checks, "go", {})) < 9
    assert find_messages(widget.checks, "go", {})[-1] == ("", "No.")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("preload = " + "9" * 5_000, "it holds a number of more than 64 bits, or nests too deeply"),
        (
            "preload = 1" + "_1" * 5_000,
            "it holds a number of more than 64 bits, or nests too deeply",
        ),
        ("title = ''\n" + "a." * LIMITS.key_parts + "a = 1", "a key has more than 16 parts"),
        (
            "title = ''\na = { 'b' ." + ' "\\"c".' * LIMITS.key_parts + "a = 1 }",
            "a key has more than 16 parts",
        ),
        ("title = ''\n[[ " + "a. " * LIMITS.key_parts + "a ]]", "a key has more than 16 parts"),
    ],
    ids=["digits", "digits apart", "dotted", "dotted in a table", "dotted header"],
)
def test_numbers_and_characters_beyond_any_reader_are_a_fault_of_the_sidecar(
    text: str, problem: str
) -> None:
    with pytest.raises(WidgetError) as caught:
        read_sidecar(Source.of("a.widget.toml", text.encode()))

    assert (caught.value.finding.code, caught.value.finding.problem) == ("W1113", problem)
    assert caught.value.finding.line == (None if "number" in problem else 2)


def test_dots_in_a_text_are_no_parts_of_a_key() -> None:
    text = 'description = "' + "a." * 100 + '"\ntags = ["' + "a." * 100 + '"]'

    assert read_sidecar(Source.of("a.widget.toml", text.encode())).tags == ("a." * 100,)


def test_message_of_a_check_may_have_any_character() -> None:
    check = '[actions.go]\ndescription = "Go."\n[[actions.go.checks]]\nholds = "false"\nsays = "😀"'
    assert find_messages(build_widget(sidecar=check).checks, "go", {}) == [("", "😀")]
