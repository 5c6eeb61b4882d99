"""Arguments that a call leaves out are filled in as the sidecar says."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.widgets import build_widget
from widgetd.base.errors import WidgetError
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.sidecar import find_line
from widgetd.core.widget.widget import Widget

TEXT = {"type": "string"}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "orderId": TEXT,
        "amount": {"type": "number"},
        "amountText": TEXT,
        "currency": TEXT,
        "pin": TEXT,
        "lines": {
            "type": "array",
            "items": {"type": "object", "properties": {"price": {}, "text": TEXT}},
        },
    },
}
TEMPLATE = '{"type":"Card","key":{{ orderId | tojson }},"size":{{ amountText | tojson }}}'
SIDECAR = """
ids = ["orderId"]
sensitive = ["pin"]
[derived]
amountText = "'%.2f' | format(amount) ~ ' ' ~ currency"
"lines.text" = "price ~ ' ' ~ currency"
"""


def make_widget(sidecar: str = SIDECAR) -> Widget:
    return build_widget("Order", schema=SCHEMA, template=TEMPLATE, sidecar=sidecar)


def fill_arguments(**arguments: Any) -> dict[str, Any]:
    return dict(make_widget().call(arguments).arguments)


def test_arguments_are_derived_from_others() -> None:
    assert fill_arguments(amount=12.5, currency="EUR")["amountText"] == "12.50 EUR"


def test_passed_arguments_are_not_derived() -> None:
    arguments = fill_arguments(orderId="o1", amount=12.5, currency="EUR", amountText="€12.50")

    assert (arguments["orderId"], arguments["amountText"]) == ("o1", "€12.50")


def test_list_field_is_derived_from_its_siblings_and_parents() -> None:
    lines = fill_arguments(currency="EUR", lines=[{"price": 2}, {"price": 3, "text": "three"}])[
        "lines"
    ]

    assert [line["text"] for line in lines] == ["2 EUR", "three"]


def test_underivable_argument_is_omitted() -> None:
    assert set(fill_arguments(currency="EUR")) == {"currency", "orderId"}


def test_id_is_the_same_for_the_same_arguments_and_another_in_each_render() -> None:
    once, again, other = (
        fill_arguments(amount=1),
        fill_arguments(amount=1),
        fill_arguments(amount=2),
    )
    order = make_widget()
    first, second = (order.call({"amount": 1}, identity=name) for name in ("r_1", "r_2"))

    assert once["orderId"] == again["orderId"] != other["orderId"]
    assert first.tree["key"] != second.tree["key"]


def test_ids_reveal_no_sensitive_value() -> None:
    assert fill_arguments(pin="1111")["orderId"] == fill_arguments(pin="2222")["orderId"]


def test_invalid_expression_is_a_fault_of_the_sidecar() -> None:
    with pytest.raises(WidgetError) as caught:
        make_widget('[derived]\namountText = "amount ~"').compile()

    finding = caught.value.finding
    assert (finding.path, finding.at) == ("Order.widget.toml", "/derived/amountText")
    assert finding.line is None  # that of the expression is none of the file


@pytest.mark.parametrize(
    ("sidecar", "at", "line"),
    [
        ('summary = "{{ a"', "/summary", 1),
        ('[summary_data]\nb = "a"\nc = "a ~"', "/summary_data/c", 3),
        ('[state]\nopen = false\n[local."a.b"]\nopen = "not"', "/local/a.b/open", 4),
        (
            '[actions.x]\ndescription = "X."\n[[actions.x.checks]]\nholds = "a and"\nsays = "A."',
            "/actions/x/checks/0/holds",
            4,
        ),
    ],
)
def test_expression_of_a_sidecar_is_reported_at_its_line(sidecar: str, at: str, line: int) -> None:
    with pytest.raises(WidgetError) as caught:
        make_widget(sidecar).compile()

    assert (caught.value.finding.at, find_line(sidecar, at)) == (at, line)


def test_undeclared_derived_argument_is_a_finding() -> None:
    sidecar = 'ids = ["orderid"]\n[derived]\namountTxt = "amuont"\n'

    findings = [one for one in check_widget(make_widget(sidecar)) if one.code in ("W1119", "W1213")]
    assert [(one.code, one.level, one.at, one.advice) for one in findings] == [
        ("W1213", "warning", "/ids", "did you mean 'orderId'?"),
        ("W1119", "fault", "/derived/amountTxt", "did you mean 'amountText'?"),
        ("W1119", "fault", "/derived/amountTxt", "did you mean 'amount'?"),
    ]


def test_check_reading_more_than_the_payload_is_a_fault() -> None:
    sidecar = (
        '[actions."x"]\ndescription = "X."\n[[actions."x".checks]]\n'
        "holds = \"'@' in email\"\nsays = 'Give an email.'\n"
    )
    with pytest.raises(WidgetError) as caught:
        make_widget(sidecar).compile()
    finding = caught.value.finding
    assert (finding.code, finding.path) == ("W1118", "Order.widget.toml")
    assert finding.at == "/actions/x/checks/0/holds"
    assert str(finding).endswith(
        "the check ''@' in email' reads 'email', which is never there; "
        "write 'payload.email': a check reads the payload"
    )

    make_widget(sidecar.replace('email"', 'payload.email"')).compile()
