"""Actions of a widget that are known before a call."""

from __future__ import annotations

import pytest

from tests.support.form import order
from tests.support.widgets import build_widget
from widgetd.core.widget.actions import find_widget_actions
from widgetd.core.widget.actions.widget_actions import TemplateAction, find_template_actions

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
