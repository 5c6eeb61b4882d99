from __future__ import annotations

import json
from typing import Any

import pytest

from widgetd.base.files.source import Source
from widgetd.core.checks.rules import check_widget
from widgetd.core.studio.findings import check_wrapped_data
from widgetd.server.catalog.loader import load


def test_data_mistaken_for_components_by_the_exporter_is_named() -> None:
    template = """{"type":"Card","children":[
      {"type":"Chart","series":[{"type":"Text","value":{"type":"bar","dataKey":"a"}}]},
      {"type":"Select","options":[{"label":"a"}]}]}"""

    assert [str(finding) for finding in check_wrapped_data(template)] == [
        (
            "#/template: line 2: the exporter made 'Text' components of 'series', "
            "which is data; widgetd draws the data; to be understood by others, "
            'replace each {"type": "Text", "value": {…}} by its value'
        )
    ]


@pytest.mark.parametrize(
    ("value", "message", "advice"),
    [
        ("{{ (n === 1) | tojson }}", "=== or !== (line 2)", "write == and !="),
        (
            '{{ ("a" + n + "b") | tojson }}',
            "a text added to what may be a number (line 2)",
            "write ~ for +",
        ),
        ("{{ yes }}", "a value without tojson (line 2)", "write {{ x | tojson }}"),
        (
            '"to {{ n }}"',
            "a value inside quotes (line 2)",
            "write {{ (… ~ x) | tojson }} without the quotes",
        ),
        (
            '"to {{ n }} {{ city | tojson }}"',
            "a value inside quotes (line 2), an optional argument (line 2)",
            (
                "write {{ (… ~ x) | tojson }} without the quotes; "
                "write {{ (x if x is defined else none) | tojson }}"
            ),
        ),
    ],
)
def test_exporter_syntax_is_reported_once_with_its_replacement(
    value: str, message: str, advice: str
) -> None:
    assert read_by_others(f'{{"type":"Card",\n"title":{value}}}') == [
        (
            "a.widget#/template: line 2: chatkit's WidgetTemplate cannot read all of it: "
            f"{message}; widgetd does; for both, {advice}"
        )
    ]


@pytest.mark.parametrize(
    "value",
    [
        "{{ (n == 1) | tojson }}",
        '{{ ("a" ~ n) | tojson }}',
        '{{ ("a" + "b") | tojson }}',
        "{{ (n + 1) | tojson }}",
        "{{ city | tojson }}",
        '"a === b"',
        "{% set x = n %}{{ x | tojson }}",
        '"{{ n | string | tojson | replace(\'"\', "") }}"',
    ],
)
def test_common_syntax_has_no_finding(value: str) -> None:
    assert read_by_others(f'{{"type":"Card",\n"title":{value}}}') == []


def test_condition_on_an_optional_argument_cannot_be_read_by_strict_readers() -> None:
    raw = '{"type":"Card","key":"{{ n }}","title":{% if TEST %}"a"{% else %}"b"{% endif %}}'
    absent = ", an optional argument (line 1)"

    for test, read in (
        ("city", absent),
        ("not city", absent),
        ("n and city", absent),
        ("city is defined and city", ""),
        ("city | default('')", ""),
        ("yes", ""),
    ):
        [finding] = read_by_others(raw.replace("TEST", test))
        assert (f"a value inside quotes (line 1){absent}" in finding) is bool(read), test


def test_value_inside_quotes_is_reported_without_a_schema() -> None:
    [finding] = read_by_others('{"type":"Card","key":"{{ n }}"}', schema=None)

    assert "cannot read all of it: a value inside quotes (line 1); widgetd does" in finding


SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "yes": {"type": "boolean"},
        "city": {"type": "string"},
    },
    "required": ["n", "yes"],
}


def read_by_others(template: str, schema: dict[str, Any] | None = SCHEMA) -> list[str]:
    file: dict[str, Any] = {"version": "1.0", "name": "A", "template": template}
    if schema:
        file["jsonSchema"] = schema
    source = Source(path="a.widget", content=json.dumps(file).encode(), digest="")
    widget = load(source)
    return [str(one) for one in check_widget(widget) if one.code == "W1328"]
