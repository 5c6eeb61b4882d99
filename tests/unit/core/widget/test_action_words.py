"""User actions in words for people."""

from __future__ import annotations

from typing import Any

import pytest

from widgetd.core.widget.actions import find_tree_actions
from widgetd.core.widget.actions.words import describe_action

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
