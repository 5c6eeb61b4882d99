"""Actions that a tree offers, and their payloads."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from widgetd.base.errors import CallError
from widgetd.core.schema.validator import compile_schema
from widgetd.core.widget.actions import find_tree_actions, has_actions


def button(name: str = "go", payload: Any = None, **more: Any) -> dict[str, Any]:
    action = {"type": name} if payload is None else {"type": name, "payload": payload}
    return {"type": "Button", "onClickAction": action, **more}


def card(*children: Any, **more: Any) -> dict[str, Any]:
    return {"type": "Card", "children": list(children), **more}


def form(*children: Any) -> dict[str, Any]:
    return {"type": "Form", "onSubmitAction": {"type": "send"}, "children": list(children)}


def closed_schema(**properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "additionalProperties": False}


def test_tree_offers_the_actions_of_its_components_at_every_property() -> None:
    tree = card(
        {"type": "ListViewItem", "onClickAction": {"type": "item", "handler": "client"}},
        form({"type": "Select", "name": "s", "onChangeAction": {"type": "change"}}),
        {"type": "Novelty", "menu": [{"label": "More", "action": {"type": "more"}}]},
        confirm={"label": "Yes", "action": {"type": "yes"}},
        cancel={"label": "No", "action": {"type": "no"}},
    )

    offered = find_tree_actions(tree)

    assert list(offered) == ["yes", "no", "item", "send", "change", "more"]
    assert [one.handler for one in offered.values()][2:4] == ["client", "server"]


@pytest.mark.parametrize(
    "tree",
    [
        card(),
        card(button(disabled=True)),
        card({"type": "Button", "onClickAction": {"type": None}}),
        card({"type": "Button", "onClickAction": None}),
        card(confirm={"label": "Yes", "action": {"type": "yes"}}, collapsed=True),
        card({"type": "Chart", "data": [{"action": "click", "count": 1}]}),
        card({"type": "Text", "value": "onClickAction"}),
    ],
)
def test_disabled_controls_offer_no_action(tree: dict[str, Any]) -> None:
    assert find_tree_actions(tree) == {}
    assert not has_actions(tree)
    assert not has_actions(tree, orjson.dumps(tree))


@pytest.mark.parametrize("payload", [None, {}, {"a": 1}, "text", ["a"]])
def test_payload_other_than_an_object_counts_as_one(payload: Any) -> None:
    offered = find_tree_actions(card(button(payload=payload)))["go"]
    expected = payload if isinstance(payload, dict) else {} if payload is None else None

    assert offered.accept(payload) == ({"value": payload} if expected is None else expected)
    assert offered.accept(offered.accept(payload)) == offered.accept(payload)


@pytest.mark.parametrize(
    ("written", "returned"),
    [(2**53 + 1, 2**53), (-(2**63) + 1, -(2**63)), (2**64 - 1, 18446744073709552000)],
)
def test_large_integer_is_accepted_as_browsers_return_it(written: int, returned: int) -> None:
    offered = find_tree_actions(card(button(payload={"id": written})))["go"]
    schema = compile_schema(orjson.loads(orjson.dumps(offered.schema)))

    for sent in (written, orjson.loads(str(returned))):
        assert offered.accept({"id": sent}) == {"id": written}
        assert schema.admits({"id": sent})


def test_action_in_a_form_has_its_fields_and_one_outside_has_none() -> None:
    field = {"type": "Textarea", "name": "note"}
    inside = find_tree_actions(form(field, button()))
    outside = find_tree_actions(card(field, button()))

    note = {"type": "string"}
    assert inside["go"].schema == inside["send"].schema == closed_schema(note=note)
    assert outside["go"].schema == closed_schema()


def test_change_outside_a_form_has_the_changed_field() -> None:
    box = {"type": "Checkbox", "name": "a.b", "onChangeAction": {"type": "tick"}}

    assert find_tree_actions(card(box, {"type": "Input", "name": "c"}))[
        "tick"
    ].schema == closed_schema(a=closed_schema(b={"type": "boolean"}))


def test_authors_payload_takes_precedence_over_a_field_of_that_name() -> None:
    tree = form({"type": "Input", "name": "id.of"}, button(payload={"id": 7}))

    assert find_tree_actions(tree)["go"].schema == {
        **closed_schema(id={"const": 7}),
        "required": ["id"],
    }


@pytest.mark.parametrize(
    ("component", "submitted", "carried"),
    [
        ({"type": "Input"}, {"type": "string"}, {"type": "string"}),
        (
            {"type": "Input", "required": True, "pattern": r"\d+"},
            {"type": "string", "minLength": 1, "pattern": r"^(?:\d+)$"},
            {"type": "string"},
        ),
        ({"type": "Input", "pattern": "(?<=a)b"}, {"type": "string"}, {"type": "string"}),
        (
            {"type": "Input", "inputType": "url"},
            {"type": "string", "anyOf": [{"const": ""}, {"format": "iri"}]},
            {"type": "string"},
        ),
        (
            {"type": "Input", "inputType": "number", "required": True},
            {"type": "number"},
            {"type": ["number", "null"]},
        ),
        ({"type": "Checkbox", "required": True}, {"const": True}, {"type": "boolean"}),
        (
            {"type": "RadioGroup", "options": [{"value": "a"}, {"value": "b", "disabled": True}]},
            {"enum": ["a"]},
            {"enum": ["a"]},
        ),
        (
            {"type": "Select", "options": [{"value": "a"}], "defaultValue": "z"},
            {"enum": ["a", "z", ""]},
            {"enum": ["a", "z", ""]},
        ),
        (
            {"type": "DatePicker"},
            {"type": "string", "anyOf": [{"const": ""}, {"pattern": r"^\d{4}-\d{2}-\d{2}"}]},
            {"type": "string"},
        ),
    ],
)
def test_field_rules_are_checked_when_the_form_is_submitted(
    component: dict[str, Any], submitted: dict[str, Any], carried: dict[str, Any]
) -> None:
    offered = find_tree_actions(form({"name": "x", **component}, button()))

    assert offered["send"].schema["properties"]["x"] == submitted
    assert offered["go"].schema["properties"]["x"] == carried


def test_editable_text_is_a_field() -> None:
    text = {"type": "Text", "value": "Draft", "editable": {"name": "title", "required": True}}

    assert find_tree_actions(form(text))["send"].schema == {
        **closed_schema(title={"type": "string", "minLength": 1}),
        "required": ["title"],
    }


@pytest.mark.parametrize(
    "component",
    [
        {"type": "Input", "name": "x", "disabled": True},
        {"type": "Input", "name": ""},
        {"type": "Input", "name": "a.__proto__.b"},
        {"type": "Text", "editable": False},
    ],
)
def test_field_without_a_value_sends_nothing(component: dict[str, Any]) -> None:
    assert find_tree_actions(form(component))["send"].schema == closed_schema()


def test_fields_of_one_name_send_what_either_would() -> None:
    radios = [
        {"type": "RadioGroup", "name": "x", "options": [{"value": value}]} for value in ("a", "b")
    ]
    mixed = [{"type": "Input", "name": "x"}, {"type": "Checkbox", "name": "x"}]
    above = [{"type": "Input", "name": "x"}, {"type": "Input", "name": "x.y"}]

    assert find_tree_actions(form(*radios))["send"].schema == closed_schema(x={"enum": ["a", "b"]})
    assert find_tree_actions(form(*mixed))["send"].schema == closed_schema(x={})
    assert find_tree_actions(form(*above))["send"].schema == closed_schema(x={})


def test_payload_schema_admits_every_place_of_the_action_and_no_other_payload() -> None:
    offered = find_tree_actions(card(button(payload={"id": 1}), button(payload={"id": 2})))["go"]
    schema = compile_schema({"type": "object", **offered.schema})

    assert [schema.admits({"id": number}) for number in (1, 2, 3)] == [True, True, False]
    assert offered.accept({"id": 2.0}) == {"id": 2}
    with pytest.raises(CallError) as caught:
        offered.accept({"id": 3})
    assert str(caught.value) == "payload.id: expected one of 1, 2, got 3"


def test_missing_required_field_is_reported_by_its_own_name() -> None:
    offered = find_tree_actions(form({"type": "Input", "name": "a.b.c", "required": True}))["send"]

    with pytest.raises(CallError) as caught:
        offered.accept({})

    assert str(caught.value) == (
        "payload.a.b.c: expected a string of at least 1 character, got nothing"
    )
    assert [argument.path for argument in caught.value.invalid_arguments] == ["a.b.c"]


def test_payload_of_a_hundred_levels_is_recognised() -> None:
    deep: dict[str, Any] = {}
    for _ in range(100):
        deep = {"deeper": deep}

    assert find_tree_actions(card(button(payload=deep)))["go"].accept(deep) == deep
