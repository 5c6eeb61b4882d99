"""Targets are parsed, and wrong ones refused with the right form."""

from __future__ import annotations

import pytest

from widgetd.author.browser.keywords import find_keyword
from widgetd.author.browser.targets import Part, read_target
from widgetd.base.errors import CallError
from widgetd.base.text_search import LinearPattern


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("text=Save", [Part("text", "Save", {}, 0)]),
        ("text=a=b", [Part("text", "a=b", {}, 0)]),
        ("text=https://x/?a=b", [Part("text", "https://x/?a=b", {}, 0)]),
        ('text="Save [2]"', [Part("text", "Save [2]", {}, 0)]),
        ("text=/sa.e/i", [Part("text", LinearPattern("sa.e", "i"), {}, 0)]),
        ("css=.a[2]", [Part("css", ".a", {}, 2)]),
        ("css=.a[b=c]", [Part("css", ".a[b=c]", {}, 0)]),
        ("role=button", [Part("role", "button", {}, 0)]),
        ("role=button[name=Track]", [Part("role", "button", {"name": "Track", "exact": True}, 0)]),
        (
            'role=heading[name="A \\"b\\""][level=2]',
            [Part("role", "heading", {"name": 'A "b"', "exact": True, "level": 2}, 0)],
        ),
        ("role=checkbox[checked=true] [2]", [Part("role", "checkbox", {"checked": True}, 2)]),
        (
            'component=Card >> text="a >> b"',
            [Part("component", "Card", {}, 0), Part("text", "a >> b", {}, 0)],
        ),
        ("ref=f1e12", [Part("ref", "f1e12", {}, 0)]),
    ],
)
def test_target_is_parsed(text: str, parts: list[Part]) -> None:
    assert [list(rung) for rung in read_target(text).candidates] == [parts]


def test_list_is_read_as_candidates() -> None:
    ladder = read_target(["action=a", "text=b"])

    assert str(ladder) == "action=a | text=b"
    assert [rung[0].engine for rung in ladder.candidates] == ["action", "text"]


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        ("Save", "'Save' is no target; write text=Save for what reads so, or role, text,"),
        ("txt=Save", "'txt=Save' is no target; did you mean text=?"),
        ("text=", "'text=' names nothing after text="),
        ("role=buton", "there is no role 'buton'; did you mean 'button'?"),
        ("component=Bagde", "there is no component 'Bagde'; did you mean 'Badge'?"),
        ("text=a [0]", "'text=a [0]' takes the element [0], and the first is [1]"),
        (
            "text=/(/",
            "the pattern '(' is no regular expression that can be matched in linear time;",
        ),
        ("ref=e1' >> text=x", "'ref=e1'' is no ref; write it as a screen has it, as ref=e12"),
        ("css=p:text-matches('a')", "'css=p:text-matches('a')' is more than CSS; write >> outside"),
        (r"css=p:text\2d matches('a')", r"'css=p:text\2d matches('a')' is more than CSS"),
        ("css=[a='\"'] >> text=/x/", "'css=[a='\"'] >> text=/x/' is more than CSS"),
        ("role=button[nam=x]", "'[nam=x]' is no attribute of a role; there are name, level,"),
        ("role=button[name", "'[name' is no attribute of a role"),
        ([], "a target is a text"),
        (5, "a target is a text"),
        (["text=a", 5], "a target is a text"),
    ],
)
def test_invalid_target_is_refused_with_a_valid_form(target: object, problem: str) -> None:
    with pytest.raises(ValueError) as raised:  # noqa: PT011 - the sentence is what is asserted
        read_target(target)

    assert str(raised.value).startswith(problem)


@pytest.mark.parametrize(
    ("target", "problem"),
    [
        (["text=A"] * 3_000, "3,000 targets are too many; write at most 16"),
        (["text=A", "text=" + "a" * 50_000], "a target is longer than 2,000 characters"),
    ],
)
def test_targets_that_would_keep_a_page_busy_are_refused(target: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_target(target)

    assert read_target(["text=A"] * 16).candidates


ARIA = """- heading "a/b: /c" [level=2]
- 'button "Track: now"'
- link "Help":
  - /url: https://example.com/help
- text: "/ night"
- text: "[1] 5 € / night"
- paragraph: and/or"""


def test_aria_snapshot_is_accepted_in_playwrights_format() -> None:
    parameters = find_keyword("Expect Aria").parse({"snapshot": ARIA})

    assert parameters["snapshot"] == ARIA


@pytest.mark.parametrize(
    "line",
    [
        "- button /(a+)+$/",
        "- 'button /(a+)+$/'",
        '- "button /(a+)+$/"',
        "- button: /(a+)+$/",
        "- 'button \"a: b\"': /(a+)+$/ # a comment",
        '- text: "/(a+)+$/"',
        r'- text: "\x2f(a+)+$\u002f"',
        "- {text: /(a+)+$/}",
        "- - button /(a+)+$/",
        "- text: |\n    /(a+)+$/",
        "- text:\n    /(a+)+$/",
        "- text: !!str /(a+)+$/",
        "- ? button /(a+)+$/",
        "- /name: /(a+)+$/",
        "[{text: /(a+)+$/}]",
    ],
)
def test_aria_snapshot_sends_no_pattern_to_the_page(line: str) -> None:
    with pytest.raises(CallError) as caught:
        find_keyword("Expect Aria").parse({"snapshot": f"{ARIA}\n{line}"})

    assert "is more than a role with its name or text" in caught.value.message
