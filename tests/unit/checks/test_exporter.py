from __future__ import annotations

import pytest

from widgetd.checks.exporter import (
    template_elements,
    wrapped_data,
)

TEMPLATE = """{"type":"Card","children":[{%- set _c -%}
,{"type":"Row","onClickAction":{"type":"go","payload":{"id":{{ (id) | tojson }}}},"children":[]}
{%- for s in stops -%},{"type":"Text","value":"{{ s["a"] }}: {{ s.b }}",
"size":{% if s %}"sm"{% else %}"lg"{% endif %}}{%- endfor -%}
{%- endset -%}{{- (_c[1:] if _c and _c[0] == ',' else _c) -}}]}"""


def test_every_component_that_a_template_writes_is_found_with_what_it_says() -> None:
    card, row, text = template_elements(TEMPLATE)

    assert [(one.type, one.line) for one in (card, row, text)] == [
        ("Card", 1),
        ("Row", 2),
        ("Text", 3),
    ]
    assert row.attributes["onClickAction"] == '{"type":"go","payload":{"id":{{ (id) | tojson }}}}'
    assert text.attributes["value"] == '"{{ s["a"] }}: {{ s.b }}"'
    assert text.attributes["size"] == '{% if s %}"sm"{% else %}"lg"{% endif %}'


@pytest.mark.parametrize("text", ["", "{", "}", '{"type":', "]}[{", '{{ x }}{"a" "b"}'])
def test_text_that_is_no_template_is_read_all_the_same(text: str) -> None:
    assert isinstance(template_elements(text), list)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"' + "{{ x }}" * 5_000,
        '{"type":"' + '\\"' * 20_000,
        "{{" * 20_000,
        "{%" * 20_000,
        '"' + "{#" * 20_000,
    ],
    ids=lambda text: text[:14],
)
def test_text_that_never_closes_what_it_opens_is_run_through_once(text: str) -> None:
    """Minutes, or Python's whole stack, where anything is tried twice; so the time limit tells."""
    assert len(template_elements(text)) <= 1


def test_data_that_the_exporter_took_for_components_is_named() -> None:
    template = """{"type":"Card","children":[
      {"type":"Chart","series":[{"type":"Text","value":{"type":"bar","dataKey":"a"}}]},
      {"type":"Select","options":[{"label":"a"}]}]}"""

    assert [str(finding) for finding in wrapped_data(template)] == [
        (
            "#/template: line 2: the exporter made 'Text' components of 'series' of 'Chart', "
            "which is data; widgetd draws the data; to be understood by others, "
            'replace each {"type": "Text", "value": {…}} by its value'
        )
    ]
