from __future__ import annotations

from typing import Any

import pytest

from tests.support.widgets import build_widget
from widgetd.base.errors import CallError, WidgetError
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.bound_action import BoundAction

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "string"},
        "passport": {"type": "string"},
        "booked": {"type": "string"},
    },
    "required": ["number"],
}

TEMPLATE = """{"type":"Card","children":[{"type":"Button","label":"Book","onClickAction":{
 "type":"seat.book","payload":{"seat":"12A"}}}]}"""

HEAD = 'sensitive = ["passport"]\n[actions."seat.book"]\nupstream = "airline"\ntool = "book"\n'

GIVEN = {"number": "PA 845", "passport": "C01X00T47"}


def bind(sidecar: str) -> BoundAction:
    widget = build_widget("Seat", schema=SCHEMA, template=TEMPLATE, sidecar=sidecar)
    return widget.bound_actions["seat.book"]


def test_request_has_the_payload_without_passwords_by_default() -> None:
    action = bind(HEAD)

    request = action.request(GIVEN, {"seat": "12A", "pin": "1234"}, ["pin"])

    assert request == {"seat": "12A"}


def test_request_maps_arguments_and_payload_and_omits_absent_values() -> None:
    action = bind(
        HEAD + '[actions."seat.book".arguments]\nflight = "number"\nseat = "payload.seat"\nx = "no"'
    )

    assert action.request(GIVEN, {"seat": "12A"}, []) == {"flight": "PA 845", "seat": "12A"}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("passport", "C01X00T47"),
        ("{p: passport}", {"p": "C01X00T47"}),
        ("payload.pin", "1234"),
        ("payload", {"seat": "12A"}),
        ("@", {"number": "PA 845", "payload": {"seat": "12A"}}),
        ("values(payload)", ["12A"]),
    ],
)
def test_sensitive_value_is_sent_only_where_an_expression_names_its_field(
    expression: str, value: Any
) -> None:
    action = bind(HEAD + f"[actions.\"seat.book\".arguments]\nall = '{expression}'\n")
    payload = {"seat": "12A", "pin": "1234"}

    assert action.request(GIVEN, payload, ["pin"]) == {"all": value}
    request = action.request(GIVEN, payload, ["pin"], is_shown=True)
    assert "C01X00T47" not in str(request)
    assert "1234" not in str(request)


def test_question_is_written_from_payload_and_arguments_without_secrets() -> None:
    action = bind(HEAD + 'confirm = "Book {{ payload.seat }} on {{ number }} for {{ passport }}?"')

    question = action.question(GIVEN, {"seat": "12A"}, [])

    assert question == "Book 12A on PA 845 for ?"
    assert bind(HEAD).question(GIVEN, {}, []) == ""


def test_answer_fills_arguments_and_absent_values_change_nothing() -> None:
    action = bind(
        HEAD + '[actions."seat.book".result]\nbooked = "seat.code"\nnumber = "none.here"\n'
    )

    merged = action.merge(GIVEN, {"seat": {"code": "12A"}})

    assert merged == {**GIVEN, "booked": "12A"}


def test_unevaluable_request_is_refused_without_values() -> None:
    action = bind(HEAD + '[actions."seat.book".arguments]\nall = "length(`1`)"\n')

    with pytest.raises(CallError) as raised:
        action.request(GIVEN, {}, [])

    assert raised.value.code == "W5007"


@pytest.mark.parametrize(
    ("sidecar", "message"),
    [
        (
            '[actions."seat.book"]\ntool = "book"\n',
            (
                "Seat.widget.toml#/actions/seat.book: the action 'seat.book' does not say which "
                "upstream does it; write 'upstream'"
            ),
        ),
        (
            '[actions."seat.book"]\nupstream = "airline"\n',
            (
                "Seat.widget.toml#/actions/seat.book: the action 'seat.book' does not say which "
                "tool does it; write 'tool'"
            ),
        ),
        (
            '[actions."seat.book"]\nconfirm = "Sure?"\n',
            (
                "Seat.widget.toml#/actions/seat.book: the action 'seat.book' does not say which "
                "upstream does it; write 'upstream'"
            ),
        ),
    ],
)
def test_action_naming_a_part_of_its_tool_is_refused(sidecar: str, message: str) -> None:
    with pytest.raises(WidgetError) as raised:
        bind(sidecar)

    assert raised.value.finding.code == "W1606"
    assert str(raised.value) == message


def test_invalid_question_template_is_refused() -> None:
    with pytest.raises(WidgetError) as raised:
        bind(HEAD + 'confirm = "Book {{ payload.seat"\n')

    assert raised.value.finding.code == "W1607"
    assert str(raised.value).startswith("Seat.widget.toml#/actions/seat.book/confirm: ")


def test_check_names_unpermitted_tools_and_unknown_fields() -> None:
    widget = build_widget(
        "Seat",
        schema=SCHEMA,
        template=TEMPLATE,
        sidecar=HEAD + '[actions."seat.book".result]\nbook = "seat"\n',
    )

    def said(upstreams: dict[str, list[str]]) -> list[str]:
        findings = check_widget(widget, upstreams=upstreams)
        return [f"{f.code} {f}" for f in findings if f.code in {"W1605", "W1608"}]

    unknown_field = (
        "W1608 Seat.widget.toml#/actions/seat.book/result/book: the action fills 'book', which "
        "the schema lacks; did you mean 'booked'?"
    )
    assert said({"airline": []}) == [
        (
            "W1605 Seat.widget.toml#/actions/seat.book/tool: the upstreams file does not allow the "
            "action 'book'; write actions = [\"book\"] in [airline] there"
        ),
        unknown_field,
    ]
    assert said({"airline": ["book"]}) == [unknown_field]
