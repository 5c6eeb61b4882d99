"""A form becomes a question, or is refused with a reason, whatever its components say."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from widgetd.base.errors import CallError
from widgetd.core.widget.actions.question import find_question

FIELDS = ("Checkbox", "DatePicker", "Input", "RadioGroup", "Select", "Text", "Textarea")
PROPERTIES = (
    "defaultChecked",
    "defaultValue",
    "disabled",
    "editable",
    "inputType",
    "label",
    "max",
    "min",
    "options",
    "pattern",
    "placeholder",
    "required",
    "value",
)

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("1ab.^$")
)
OPTIONS = st.lists(st.fixed_dictionaries({}, optional={"value": SCALARS, "label": SCALARS}))
JSON = st.recursive(
    SCALARS | st.sampled_from(["number", "email", "url", "password", "2026-01-31"]) | OPTIONS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner),
    max_leaves=4,
)


COMPONENTS = st.fixed_dictionaries(
    {"type": st.sampled_from(FIELDS), "name": st.sampled_from(["x", "x.y", "z"])},
    optional=dict.fromkeys(PROPERTIES, JSON),
)


@settings(max_examples=300)
@given(st.lists(COMPONENTS, min_size=1, max_size=2))
def test_form_is_asked_or_refused_with_a_reason(components: list[dict[str, Any]]) -> None:
    form = {"type": "Form", "onSubmitAction": {"type": "sent"}, "children": components}
    with suppress(CallError):
        question = find_question({"type": "Card", "children": [form]})
        if question is not None:
            names = {field.name for field in question.trigger.sent_fields}
            assert question.schema["properties"].keys() == names
