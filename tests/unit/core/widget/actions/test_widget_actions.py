"""Actions of a widget that are known before a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import orjson
import pytest

from tests.support.form import order
from tests.support.widgets import build_widget, bundled_widgets
from widgetd.base.errors import CallError
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.action_checks import find_messages
from widgetd.core.widget.actions import find_tree_actions, find_widget_actions, has_actions
from widgetd.core.widget.actions.widget_actions import TemplateAction, find_template_actions
from widgetd.core.widget.actions.words import describe_action
from widgetd.core.widget.widget import Widget

TEXT = {"type": "string"}


def test_keys_fields_and_their_types_are_read_off_the_samples() -> None:
    sidecar = '[actions."order.send"]\ndescription = "The user orders."'
    known = {action.type: action for action in find_widget_actions(order(sidecar))}

    assert list(known) == ["order.send", "order.stop", "line.drop"]
    assert known["order.send"].to_dict() == {
        "type": "order.send",
        "handler": "server",
        "description": "The user orders.",
        "payload": {"order": "string"},
        "fields": [
            {"name": "buyer.email", "type": "string", "required": True},
            {"name": "buyer.pin", "type": "string", "required": False},
            {"name": "count", "type": "number", "required": False},
            {"name": "size", "type": "string", "required": False},
        ],
        "schema": {
            "type": "object",
            "properties": {
                "order": TEXT,
                "buyer": {
                    "type": "object",
                    "properties": {"email": TEXT, "pin": TEXT},
                    "additionalProperties": False,
                },
                "count": {"type": ["number", "null"]},
                "size": TEXT,
            },
            "required": ["order"],
            "additionalProperties": False,
        },
    }
    assert "description" not in known["line.drop"].to_dict()


def test_action_unreached_by_samples_is_read_from_the_text() -> None:
    template = (
        '{"type":"Card"{% if who == "nobody at all" %},"children":[{"type":"Button",'
        '"onClickAction":{"type":"hide","payload":{"who":{{ who | tojson }}}}}]{% endif %}}'
    )

    [known] = find_widget_actions(build_widget(template=template))

    assert known.to_dict() == {
        "type": "hide",
        "handler": "server",
        "payload": {"who": "any"},
        "fields": [],
        "moreFields": True,
        "schema": {"type": "object", "properties": {"who": {}}, "required": ["who"]},
    }


def test_fields_named_by_arguments_are_unknown() -> None:
    template = (
        '{"type":"Form","onSubmitAction":{"type":"send"},"children":['
        '{"type":"Input","name":{{ who | tojson }}},{"type":"Input","name":"note"}]}'
    )
    card = f'{{"type":"Card","children":[{template}]}}'

    [known] = find_widget_actions(build_widget(template=card))

    assert [field.name for field in known.fields] == ["note"]
    assert "additionalProperties" not in known.schema


def test_sometimes_absent_key_is_not_required() -> None:
    template = (
        '{"type":"Card","children":['
        '{"type":"Button","onClickAction":{"type":"a","payload":{"x":1}}},'
        '{"type":"Button","onClickAction":{"type":"a","payload":{"x":null,"y":[]}}}]}'
    )

    [known] = find_widget_actions(build_widget(template=template))

    assert known.keys == {"x": ("null", "number"), "y": ("array",)}
    assert known.schema["required"] == ["x"]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        (
            '"onClickAction":{"type":"a","handler":"client","payload":{"k":{{ (x) | tojson }}}}',
            TemplateAction(type="a", handler="client", keys=("k",)),
        ),
        ('"action": {"type":"a"}', TemplateAction(type="a", handler="server", keys=())),
        ('"action":{"type":"a","payload":{{ p }}}', TemplateAction(type="a", handler="server")),
        ('"action":{"type":"a","payload":{% if x %}{}{% endif %}}', TemplateAction(type="a")),
        ('"action":{"type":{{ x | tojson }}}', TemplateAction(type="", handler="server", keys=())),
        ('"action":{"type":"a-{{ x }}"}', TemplateAction(type="")),
        ('"action":{"type":"a"', TemplateAction(type="a")),
        ('"action":{{ x | tojson }}', None),
        ('{# "action":{"type":"a"} #}', None),
    ],
)
def test_constant_actions_are_read_from_the_template(
    text: str, action: TemplateAction | None
) -> None:
    assert list(find_template_actions(text)) == ([] if action is None else [action])


FORM: dict[str, Any] = {
    "type": "Card",
    "asForm": True,
    "confirm": {"label": "Send", "action": {"type": "form.send", "payload": {"formId": "f1"}}},
    "children": [
        {"type": "Label", "value": "Your name *", "fieldName": "who.name"},
        {"type": "Input", "name": "who.name"},
        {"type": "Input", "name": "who.work_email"},
        {"type": "Checkbox", "name": "news", "label": "Send me news"},
        {"type": "Select", "name": "sizes", "options": []},
        {
            "type": "Button",
            "label": "Forget it",
            "onClickAction": {"type": "form.drop", "payload": {}},
        },
    ],
}


@pytest.mark.parametrize(
    ("action", "payload", "words"),
    [
        (
            "form.send",
            {"formId": "f1", "who": {"name": "Ada", "work_email": "a@b.example"}, "news": True},
            "“Send” with Your name Ada, Work email a@b.example, Send me news yes",
        ),
        ("form.send", {"formId": "f1", "who": {"name": ""}, "news": False}, "“Send”"),
        ("form.drop", {}, "“Forget it”"),
    ],
)
def test_action_is_described_by_labels_without_the_authors_part(
    action: str, payload: dict[str, Any], words: str
) -> None:
    assert describe_action(FORM, find_tree_actions(FORM)[action], payload) == words


def test_action_without_a_label_is_described_by_its_type() -> None:
    tree = {"type": "Card", "children": [{"type": "Row", "onClickAction": {"type": "row.open"}}]}

    assert describe_action(tree, find_tree_actions(tree)["row.open"], {}) == "“row.open”"


WIDGETS = bundled_widgets()


def trees(widget: Widget) -> Iterator[Mapping[str, Any]]:
    for example in widget.definition.sidecar.examples:
        yield widget.call(example.arguments).tree


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_smallest_payload_of_each_offered_action_is_accepted(widget: Widget) -> None:
    known = {action.type: compile_schema(action.schema) for action in find_widget_actions(widget)}
    for tree in trees(widget):
        for name, offered in find_tree_actions(tree).items():
            payload = compile_schema({"type": "object", **offered.schema}).smallest

            assert payload is not None
            assert known[name].admits(offered.accept(payload))


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_every_action_has_a_description(widget: Widget) -> None:
    assert all(action.description for action in find_widget_actions(widget))


@pytest.mark.parametrize("widget", WIDGETS, ids=[widget.tool for widget in WIDGETS])
def test_has_actions_agrees_with_find_actions(widget: Widget) -> None:
    for tree in trees(widget):
        assert (
            has_actions(tree)
            is has_actions(tree, orjson.dumps(tree))
            is bool(find_tree_actions(tree))
        )


@pytest.mark.parametrize(
    ("ticked", "says"),
    [
        ((), ["Tick more of them."]),
        (("tea",), []),
        (("tea", "cake"), []),
        (("tea", "cake", "jam"), ["Tick fewer of them."]),
    ],
)
def test_choice_form_has_its_minimum_and_maximum(ticked: tuple[str, ...], says: list[str]) -> None:
    [form] = [widget for widget in WIDGETS if widget.tool == "choice_form"]
    choices = [{"id": name, "label": name} for name in ("tea", "cake", "jam")]
    arguments = {"question": "What?", "multiple": True, "min": 1, "max": 2, "choices": choices}
    offered = find_tree_actions(form.call(arguments).tree)["choice.submit"]
    fixed = offered.triggers[0].payload

    payload = offered.accept(
        {**fixed, "choice": {one["id"]: one["id"] in ticked for one in choices}}
    )

    assert [text for _, text in find_messages(form.checks, "choice.submit", payload)] == says


@pytest.mark.parametrize(
    ("field", "sent", "says"),
    [
        ({"minLength": 2, "maxLength": 3}, "a", "Write at least 2 characters."),
        ({"minLength": 2, "maxLength": 3}, "abcd", "Write at most 3 characters."),
        ({"minLength": 2, "maxLength": 3}, "abc", ""),
        ({"minLength": 2}, "", ""),
        ({"minLength": 2, "says": "As NF 218."}, "a", "As NF 218."),
        ({"kind": "number", "min": 1, "max": 8}, 0, "Give at least 1."),
        ({"kind": "number", "min": 1, "max": 8}, 9, "Give at most 8."),
        ({"kind": "number", "min": 1, "max": 8}, 8, ""),
        ({"kind": "number", "min": 1, "says": "Bring somebody."}, 0, "Bring somebody."),
    ],
)
def test_lead_form_checks_each_field_as_its_call_says(
    field: dict[str, Any], sent: object, says: str
) -> None:
    [form] = [widget for widget in WIDGETS if widget.tool == "lead_form"]
    render = form.call({"title": "Visit", "fields": [{"name": "x", "label": "X", **field}]})
    offered = find_tree_actions(render.tree)["lead.submit"]

    payload = offered.accept({**offered.triggers[0].payload, "lead": {"x": sent}})
    messages = find_messages(form.checks, "lead.submit", payload, render.arguments)

    assert messages == ([("lead.x", says)] if says else [])


def test_payment_form_demands_a_second_step_where_its_call_does() -> None:
    [form] = [widget for widget in WIDGETS if widget.tool == "payment_form"]
    arguments = {"payee": "Choir", "amount": 15, "currency": "GBP", "confirm": True}
    offered = find_tree_actions(form.call(arguments).tree)["payment.start"]
    fixed = offered.triggers[0].payload

    with pytest.raises(CallError, match="confirmed"):
        offered.accept({**fixed, "payment": {"method": "card", "confirmed": False}})
    assert offered.accept({**fixed, "payment": {"method": "card", "confirmed": True}})
