"""Keywords: each passes on a correct page and names the fault of a wrong one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.field.author.browser.staging import controls_server, do, staged
from tests.field.server.web.browsing import needs_browser
from widgetd.author.browser.baselines import Baselines
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.keywords import KEYWORDS, build_table, find_keyword
from widgetd.author.browser.stage import Stage
from widgetd.base.errors import CallError, ConfigError

Steps = list[tuple[str, dict[str, Any]]]

TREE = {"type": "Card", "children": [{"type": "Text", "value": "By hand"}]}
TRACK = "role=button[name=Track]"
EMAIL = "field=customer.email"

HOLDS: dict[str, tuple[Steps, Any]] = {
    "show_widget": ([("show_widget", {"arguments": {"who": "Ada"}})], ...),
    "show_tree": (
        [("show_tree", {"tree": TREE}), ("expect_visible", {"target": "text=By hand"})],
        None,
    ),
    "set_theme": ([("set_theme", {"theme": "dark"})], None),
    "set_width": ([("set_width", {"width": 320})], None),
    "set_locale": ([("set_locale", {"locale": "de"})], None),
    "reload": (
        [("clear", {"target": EMAIL}), ("reload", {}), ("read_value", {"target": EMAIL})],
        "a@b.example",
    ),
    "press": ([("press", {"target": TRACK}), ("expect_action", {"type": "track"})], ...),
    "enter_text": (
        [
            ("enter_text", {"target": "field=note", "text": 42}),
            ("read_value", {"target": "field=note"}),
        ],
        "42",
    ),
    "clear": ([("clear", {"target": EMAIL}), ("read_value", {"target": EMAIL})], ""),
    "choose": (
        [
            ("choose", {"target": "field=size", "option": "Large"}),
            ("read_value", {"target": "field=size"}),
        ],
        "l",
    ),
    "check": (
        [("check", {"target": "field=news"}), ("read_value", {"target": "field=news"})],
        "true",
    ),
    "uncheck": (
        [("uncheck", {"target": "field=terms"}), ("read_value", {"target": "field=terms"})],
        "false",
    ),
    "pick_date": (
        [
            ("pick_date", {"target": "field=day", "date": "2026-03-31"}),
            ("read_value", {"target": "field=day"}),
        ],
        "2026-03-31",
    ),
    "press_key": (
        [
            ("press_key", {"key": "X", "target": "field=note"}),
            ("read_value", {"target": "field=note"}),
        ],
        "X",
    ),
    "hover": ([("hover", {"target": TRACK})], None),
    "scroll_to": ([("scroll_to", {"target": TRACK})], None),
    "submit": (
        [("submit", {}), ("expect_action", {"type": "form.send", "payload": {"id": 7}})],
        ...,
    ),
    "expect_visible": ([("expect_visible", {"target": "text=New"})], None),
    "expect_hidden": ([("expect_hidden", {"target": "text=Old"})], None),
    "expect_text": (
        [("expect_text", {"target": "role=heading[level=2]", "contains": "Hello"})],
        None,
    ),
    "expect_value": ([("expect_value", {"target": EMAIL, "equals": "a@b.example"})], None),
    "expect_enabled": ([("expect_enabled", {"target": TRACK})], None),
    "expect_count": ([("expect_count", {"target": "role=checkbox", "count": 2})], None),
    "expect_action": (
        [
            ("press", {"target": TRACK}),
            ("expect_action", {"type": "track", "payload": {"customer": {"email": "a@b.example"}}}),
        ],
        ...,
    ),
    "expect_message": (
        [("press", {"target": TRACK}), ("expect_message", {"contains": "Track"})],
        ...,
    ),
    "expect_link": (
        [
            ("press", {"target": "text=Read more"}),
            ("expect_link", {"url": "https://read.example/more"}),
        ],
        ...,
    ),
    "expect_tree": ([("expect_tree", {"path": "children[0].type", "equals": "Title"})], None),
    "expect_aria": ([("expect_aria", {"snapshot": '- button "Track"'})], None),
    "expect_picture": ([("expect_picture", {})], None),
    "expect_accessible": ([("expect_accessible", {})], None),
    "expect_quiet": ([("expect_quiet", {})], None),
    "look": ([("look", {})], ...),
    "picture": ([("picture", {})], ...),
    "read_text": ([("read_text", {"target": TRACK})], "Track"),
    "read_value": ([("read_value", {"target": EMAIL})], "a@b.example"),
}
"""What each does on what is there, and what the last step answers; `...` for something."""

NOWHERE = "role=button[name=Nowhere]"

FAILS: dict[str, tuple[Steps, str]] = {
    "show_widget": ([("show_widget", {"widget": "controlz"})], "W2001"),
    "show_tree": ([("show_tree", {"tree": {"type": "Nothing"}})], "W4102"),
    "set_theme": ([("set_theme", {"theme": "blue"})], "W4102"),
    "set_width": ([("set_width", {"width": 10})], "W4102"),
    "set_locale": ([("set_locale", {"locale": ["en"]})], "W4102"),
    "reload": ([("reload", {"twice": True})], "W4102"),
    "press": (
        [("press", {"target": "role=button[name='Track later']".replace("'", '"')})],
        "W4203",
    ),
    "enter_text": ([("enter_text", {"target": TRACK, "text": "x"})], "W4203"),
    "clear": ([("clear", {"target": "field=way"})], "W4203"),
    "choose": ([("choose", {"target": "field=town", "option": "Bodø"})], "W4201"),
    "check": ([("check", {"target": TRACK})], "W4203"),
    "uncheck": ([("uncheck", {"target": NOWHERE})], "W4201"),
    "pick_date": ([("pick_date", {"target": "field=day", "date": "31.3.2026"})], "W4102"),
    "press_key": ([("press_key", {"key": "Enterr"})], "W4203"),
    "hover": ([("hover", {"target": "text=/New|Hot/"})], "W4202"),
    "scroll_to": ([("scroll_to", {"target": NOWHERE})], "W4201"),
    "submit": ([("submit", {"target": NOWHERE})], "W4201"),
    "expect_visible": ([("expect_visible", {"target": NOWHERE})], "W4201"),
    "expect_hidden": ([("expect_hidden", {"target": TRACK})], "W4301"),
    "expect_text": ([("expect_text", {"target": TRACK, "equals": "Follow"})], "W4301"),
    "expect_value": ([("expect_value", {"target": EMAIL, "equals": "b"})], "W4301"),
    "expect_enabled": ([("expect_enabled", {"target": TRACK, "enabled": False})], "W4301"),
    "expect_count": ([("expect_count", {"target": "role=checkbox", "count": 3})], "W4301"),
    "expect_action": (
        [("press", {"target": TRACK}), ("expect_action", {"type": "track", "payload": {"id": 1}})],
        "W4301",
    ),
    "expect_message": ([("expect_message", {})], "W4301"),
    "expect_link": ([("expect_link", {})], "W4301"),
    "expect_tree": ([("expect_tree", {"path": "children[0].type", "equals": "Text"})], "W4301"),
    "expect_aria": ([("expect_aria", {"snapshot": '- button "Follow"'})], "W4301"),
    "expect_picture": ([("expect_picture", {"name": "none"})], "W4302"),
    "expect_accessible": (
        [
            (
                "show_tree",
                {
                    "tree": {
                        "type": "Card",
                        "children": [{"type": "Text", "value": "Pale", "color": "#eeeeee"}],
                    }
                },
            ),
            ("expect_accessible", {}),
        ],
        "W4301",
    ),
    "expect_quiet": ([("complain", {}), ("expect_quiet", {})], "W4301"),
    "look": ([("look", {"at": "it"})], "W4102"),
    "picture": ([("picture", {"target": NOWHERE})], "W4201"),
    "read_text": ([("read_text", {"target": NOWHERE})], "W4201"),
    "read_value": ([("read_value", {"target": NOWHERE})], "W4201"),
}
"""What each does on what is not there or not so, and the code of the last step's error."""


async def play(stage: Stage, steps: Steps, timeout_s: float = 10) -> Any:
    answer = None
    for name, arguments in steps:
        if name == "complain":
            await stage.inner_frame.evaluate("console.error('It is broken')")
        else:
            answer = await do(stage, name, timeout_s, **arguments)
    return answer


@needs_browser
@pytest.mark.parametrize("slug", KEYWORDS)
async def test_keyword_holds_on_a_correct_page(
    slug: str, chromium: Chromium, tmp_path: Path
) -> None:
    steps, expected = HOLDS[slug]
    with anyio.fail_after(100):
        async with staged(chromium, controls_server(tmp_path)) as stage:
            await do(stage, "show_widget", widget="controls", arguments={"who": "Ada"})
            if slug == "expect_picture":
                stage.baselines = Baselines(home=tmp_path, prefix="controls", update=True)
                await play(stage, steps)
                stage.baselines = Baselines(home=tmp_path, prefix="controls")
            answer = await play(stage, steps)

    assert answer if expected is ... else answer == expected


@needs_browser
@pytest.mark.parametrize("slug", KEYWORDS)
async def test_failing_keyword_reports_the_difference(
    slug: str, chromium: Chromium, tmp_path: Path
) -> None:
    steps, code = FAILS[slug]
    with anyio.fail_after(100):
        async with staged(chromium, controls_server(tmp_path)) as stage:
            stage.baselines = Baselines(home=tmp_path, prefix="controls")
            await do(stage, "show_widget", widget="controls", arguments={"who": "Ada"})
            await play(stage, steps[:-1])
            with pytest.raises(CallError) as raised:
                await play(stage, steps[-1:], timeout_s=1)

    assert (raised.value.code, steps[-1][0]) == (code, slug)


@needs_browser
async def test_misspelt_field_is_told_as_a_target(chromium: Chromium, tmp_path: Path) -> None:
    async with staged(chromium, controls_server(tmp_path)) as stage:
        await do(stage, "show_widget", widget="controls", arguments={"who": "Ada"})
        with pytest.raises(CallError) as raised:
            await play(stage, [("press", {"target": "field=twon"})], timeout_s=1)

    assert raised.value.suggestions[0] == "field=town"


@needs_browser
@pytest.mark.parametrize(
    ("target", "count"),
    [
        ("component=Badge", 2),
        ("component=Card >> component=Button", 3),
        ("component=Badge [2]", 1),
        ("action=track", 1),
        ("action=form.send", 1),
        ("field=way", 1),
        ("field=town", 1),
    ],
)
async def test_target_of_a_tree_finds_its_element(
    target: str, count: int, chromium: Chromium, tmp_path: Path
) -> None:
    with anyio.fail_after(100):
        async with staged(chromium, controls_server(tmp_path)) as stage:
            await do(stage, "show_widget", widget="controls", arguments={"who": "Ada"})
            await do(stage, "expect_count", target=target, count=count)


@needs_browser
async def test_pattern_is_matched_outside_of_the_page(chromium: Chromium, tmp_path: Path) -> None:
    counts = {
        "text=/^(New|Hot)$/": 2,
        "text=/new|hot/i [2]": 1,
        "role=button[name=/^track/i]": 2,
        "component=Card >> role=button[name=/More/i]": 1,
        "role=heading[level=2][name=/Ada/]": 1,
        "label=/^(By|News)/": 3,
        "text=/^(N+)+e+w+!$/": 0,
    }
    with anyio.fail_after(100):
        async with staged(chromium, controls_server(tmp_path)) as stage:
            await do(stage, "show_widget", widget="controls", arguments={"who": "a" * 40 + "! Ada"})
            for target, count in counts.items():
                await do(stage, "expect_count", target=target, count=count)
            await do(stage, "expect_text", target="role=heading[level=2]", pattern="a{40}! Ada$")
            for pattern in ("^Hello, (a+)+$", "^(Hello, )(a|a)*$"):
                with pytest.raises(CallError) as raised:
                    await do(
                        stage, "expect_text", 1, target="role=heading[level=2]", pattern=pattern
                    )
                assert raised.value.code == "W4301"
            await do(stage, "expect_visible", target="text=New")


@needs_browser
async def test_contrast_outside_a_card_is_measured_on_the_hosts_background(
    chromium: Chromium, tmp_path: Path
) -> None:
    def tree(color: str) -> dict[str, Any]:
        caption = {"type": "Caption", "value": "It is read in the dark.", "color": color}
        return {"type": "Basic", "children": [caption]}

    with anyio.fail_after(100):
        async with staged(chromium, controls_server(tmp_path)) as stage:
            await do(stage, "set_theme", theme="dark")
            await do(stage, "show_tree", tree=tree("secondary"))
            await do(stage, "expect_accessible")
            await do(stage, "show_tree", tree=tree("#444444"))
            with pytest.raises(CallError, match="color-contrast"):
                await do(stage, "expect_accessible")


def test_there_are_thirty_five_keywords_and_each_is_tried_both_ways() -> None:
    assert len(KEYWORDS) == 35
    assert set(HOLDS) == set(FAILS) == set(KEYWORDS)


@pytest.mark.parametrize("slug", KEYWORDS)
def test_keyword_schema_is_accepted_by_every_host(slug: str) -> None:
    schema = KEYWORDS[slug].schema

    assert "anyOf" not in str(schema)
    assert schema["additionalProperties"] is False
    required = {one.name for one in KEYWORDS[slug].parameters if one.default is one.empty}
    assert set(schema.get("required", ())) == required
    assert KEYWORDS[slug].summary.endswith(".")


def test_two_keywords_of_one_name_are_refused() -> None:
    press = KEYWORDS["press"].function

    with pytest.raises(ConfigError, match="two keywords are called 'press'"):
        build_table([("act", [press]), ("more", [press])])


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("Expect Visble", "there is no keyword 'Expect Visble'; did you mean 'Expect Visible'?"),
        ("expect-text", None),
        ("Pick  Date", None),
    ],
)
def test_keyword_search_matches_names(name: str, problem: str | None) -> None:
    if problem is None:
        assert find_keyword(name).slug in {"expect_text", "pick_date"}
        return
    with pytest.raises(CallError) as raised:
        find_keyword(name)
    assert (raised.value.code, str(raised.value)) == ("W4101", problem)


@pytest.mark.parametrize(
    ("name", "arguments", "problem"),
    [
        ("Press", None, "Press needs 'target'"),
        (
            "Press",
            {"taget": "text=A"},
            "Press needs 'target'; Press takes no 'taget'; did you mean 'target'?",
        ),
        ("Look", "text=A", "Look takes nothing"),
        (
            "Expect Count",
            {"target": "text=A", "count": "many"},
            (
                "Expect Count, count: input should be a valid integer, "
                "unable to parse string as an integer"
            ),
        ),
        (
            "Press",
            5,
            'Press, target: a target is a text, as role=button[name="Track"], or a list of such',
        ),
    ],
)
def test_invalid_arguments_are_refused_in_a_sentence(
    name: str, arguments: object, problem: str
) -> None:
    with pytest.raises(CallError) as raised:
        find_keyword(name).parse(arguments)

    assert (raised.value.code, str(raised.value)) == ("W4102", problem)
