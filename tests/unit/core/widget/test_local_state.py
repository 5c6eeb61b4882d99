"""Local state: the sidecar's tables, and what their expressions do."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.widgets import build_widget, source
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "rows": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "done": {"type": "boolean"}},
            },
        },
        "open": {"type": "integer"},
    },
}
TEMPLATE = (
    '{"type":"Card","children":[{"type":"Text","value":{{ open | tojson }}}'
    '{% for row in rows if showAll or not row.done %},{"type":"Text","value":'
    "{{ row.name | tojson }}}{% endfor %}"
    ',{"type":"Button","label":"All","onClickAction":{"type":"filter.toggle"}}]}'
)
SIDECAR = """
[derived]
open = "rows | length if showAll else 1"
[state]
showAll = false
[local."filter.toggle"]
showAll = "not showAll"
"""
ARGUMENTS = {"rows": [{"name": "Sow", "done": False}, {"name": "Weed", "done": True}]}


def tasks(sidecar: str = SIDECAR, template: str = TEMPLATE, **file: Any) -> Widget:
    return build_widget("Tasks", sidecar=sidecar, schema=SCHEMA, template=template, **file)


def text_values(tree: dict[str, Any]) -> list[Any]:
    return [child["value"] for child in tree["children"] if child["type"] == "Text"]


def test_template_and_derived_arguments_read_the_first_state() -> None:
    assert text_values(tasks().call(ARGUMENTS).tree) == [1, "Sow"]


def test_expressions_read_arguments_the_state_before_and_the_payload() -> None:
    sidecar = """
[state]
at = 1
before = 0
[local.step]
at = "at + payload.by + (rows | length)"
before = "at"
"""
    widget = tasks(sidecar, TEMPLATE.replace("showAll", "at + before"))
    state = widget.local.act("step", ARGUMENTS, widget.local.complete({}), {"by": 5})

    assert state == {"at": 8, "before": 1}


def test_state_takes_precedence_over_an_added_argument() -> None:
    assert text_values(tasks().call({**ARGUMENTS, "showAll": True}).tree) == [1, "Sow"]


def test_inferred_schema_omits_the_state() -> None:
    file = json.dumps({"version": "1.0", "name": "Tasks", "template": TEMPLATE})
    widget = load(
        source("Tasks.widget", file), source("Tasks.widget.toml", SIDECAR), limits=Limits()
    )

    assert sorted(widget.schema.advertised["properties"]) == ["open", "rows"]


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ({"showal": True}, "the widget's state has no 'showal'; did you mean 'showAll'?"),
        ({"showAll": "x" * 20_000}, "the state has more than 16,384 bytes"),
    ],
    ids=["unknown", "large"],
)
def test_state_of_a_page_is_checked(state: dict[str, Any], message: str) -> None:
    with pytest.raises(CallError) as raised:
        tasks().local.complete(state)

    assert raised.value.message == message


@pytest.mark.parametrize(
    ("sidecar", "code", "at"),
    [
        ("[state]\nrows = 1", "W1610", "/state/rows"),
        ("[state]\npayload = 1", "W1610", "/state/payload"),
        ('[state]\n"show all" = 1', "W1610", "/state/show all"),
        ('[local.a]\nb = "1"', "W1612", "/local/a/b"),
        ('[local.a]\n[actions.a]\ndescription = "d"', "W1611", "/local/a"),
    ],
    ids=["argument", "payload", "no name", "not in the state", "in actions"],
)
def test_contradictory_tables_are_faults(sidecar: str, code: str, at: str) -> None:
    with pytest.raises(WidgetError) as raised:
        tasks(sidecar)

    finding = raised.value.finding
    assert (finding.code, finding.at, finding.path) == (code, at, "Tasks.widget.toml")


def test_check_warns_of_unread_names_and_unhandled_actions() -> None:
    sidecar = SIDECAR + 'hidden = "payload.x or colour"\n[local."sort.pick"]\n'
    sidecar = sidecar.replace("[state]\n", "[state]\nhidden = false\n")
    findings = {(one.code, one.at) for one in check_widget(tasks(sidecar))}

    assert findings >= {
        ("W1614", "/state/hidden"),
        ("W1613", "/local/filter.toggle/hidden"),
        ("W1615", "/local/sort.pick"),
    }


def test_check_accepts_state_that_the_template_reads() -> None:
    assert [one for one in check_widget(tasks()) if one.code.startswith("W16")] == []
    assert "W1320" not in {one.code for one in check_widget(tasks())}
