"""The program of a widget's page: its parts, and the widgets that have none."""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import orjson
import pytest

from tests.support.widgets import build_widget
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.page_program import (
    NoProgramError,
    page_digest,
    page_program,
    program_or_empty,
)

CARD = '{"type":"Card","children":[{"type":"Text","value":%s}]}'
RECURSIVE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "$defs": {"node": {"properties": {name: {"$ref": "#/$defs/node"} for name in ("a", "b", "c")}}},
}


def program(**file: Any) -> Any:
    return orjson.loads(page_program(build_widget(**file)))


def test_program_has_the_statements_and_the_slots_of_the_arguments() -> None:
    widget = program(template=CARD % "{{ who | tojson }}")

    before, after = (CARD % "|").split("|")
    assert widget == {
        "n": 2,
        "a": {"who": 1},
        "b": [["out", before, ["json", 1], after]],
        "kinds": {"k": "o", "p": {"who": "s"}},
    }


def test_program_has_the_servers_values_and_its_coercions() -> None:
    schema = {
        "type": "object",
        "properties": {
            "rows": {"type": "array", "items": {"$ref": "#/$defs/row"}},
            "tone": {"enum": ["calm", "loud"], "default": "calm"},
        },
        "$defs": {
            "row": {"type": "object", "properties": {"n": {"type": "integer", "default": 1}}}
        },
    }
    widget = program(
        schema=schema,
        template=CARD % '{{ (total ~ tone) | tojson }},"icon":"lucide:car"',
        sidecar='ids = ["id"]\n[derived]\ntotal = "rows | length"',
    )

    assert widget["defaults"] == {
        "p": {"rows": {"i": {"p": {"n": {"d": 1}}}}, "tone": {"d": "calm"}}
    }
    assert widget["kinds"] == {
        "k": "o",
        "p": {
            "rows": {"k": "a", "i": {"k": "o", "p": {"n": "n"}}},
            "tone": {"e": ["calm", "loud"]},
        },
    }
    assert widget["derived"] == {"total": {"n": 2, "a": {"rows": 1}, "e": ["|length", 1]}}
    assert widget["ids"] == ["id"]
    assert widget["icons"].keys() == {"lucide:car"}


def test_program_of_a_view_is_one_expression() -> None:
    studio = orjson.dumps({"view": "<Card><Text value={who} /></Card>"}).decode()
    widget = program(encodedWidget=_encoded(studio), sidecar='source = "view"')

    assert widget["e"] == ["js{}", [["js{}", [], "type", "Text", "value", 1]], "type", "Card"]


def _encoded(text: str) -> str:

    return b64encode(text.encode()).decode()


@pytest.mark.parametrize(
    ("reason", "file"),
    [
        ("the sidecar says so", {"sidecar": "program = false"}),
        (
            "its permission is elevated, and a program discloses the template",
            {"sidecar": 'permission = "elevated"'},
        ),
        (
            "a feed fills it",
            {"sidecar": '[feed]\nupstream = "people"\ntool = "get"\nask = ["who"]'},
        ),
        ("the page does not have '|wordwrap'", {"template": CARD % "{{ who|wordwrap|tojson }}"}),
        ("the page does not have '|tojson'", {"template": CARD % "{{ who|tojson(indent=2) }}"}),
        ("the page does not have '|format'", {"template": CARD % '"{{ "%(a)s"|format(a=who) }}"'}),
        ("the page does not have '|int'", {"template": CARD % "{{ who|int(0, 16)|tojson }}"}),
        ("the page does not have '|format'", {"template": CARD % '"{{ "%x"|format(who) }}"'}),
        (
            "the page does not have '.cycle()'",
            {"template": CARD % "1{% for i in who %}{{ loop.cycle(1) }}{% endfor %}"},
        ),
        (
            "the page does not have 'loop.depth'",
            {"template": CARD % "1{% for i in who %}{{ loop.depth }}{% endfor %}"},
        ),
        (
            "the page does not have 'a recursive loop'",
            {"template": CARD % "1{% for i in who recursive %}2{% endfor %}"},
        ),
        (
            "the page does not have 'a number of more than 53 bits'",
            {"template": CARD % "{{ 9007199254740993 }}"},
        ),
        (
            "a default depends on a condition",
            {
                "schema": {
                    "type": "object",
                    "properties": {"who": {"type": "string"}},
                    "anyOf": [{"properties": {"tone": {"default": "calm"}}}],
                }
            },
        ),
        (
            "its schema has too many parts",
            {"schema": RECURSIVE, "template": CARD % "{{ node|tojson }}"},
        ),
    ],
)
def test_widget_without_a_program_has_a_reason(reason: str, file: dict[str, Any]) -> None:
    widget = build_widget(**file)

    with pytest.raises(NoProgramError) as caught:
        page_program(widget)
    assert str(caught.value) == reason
    assert program_or_empty(widget) == b""


def test_program_is_limited_in_size() -> None:
    widget = build_widget(
        template=CARD % f'{{{{ who|tojson }}}},"alt":"{"x" * LIMITS.program_bytes}"'
    )

    with pytest.raises(NoProgramError, match=r"^its program has 16,\d{3} bytes, more than 16,384$"):
        page_program(widget)


def test_digest_changes_with_the_program_and_not_with_the_description() -> None:
    digest = page_digest(build_widget())

    assert page_digest(build_widget(text="Goodbye")) != digest
    assert page_digest(build_widget(sidecar='description = "Greets."')) == digest
