from __future__ import annotations

import pytest

from widgetd.checks.exporter import (
    exporter_losses,
    jsx_elements,
    template_elements,
    wrapped_data,
)

VIEW = """<Card>
  {/* <Ghost a={1} /> */}
  <Row gap={2} {...rest}>
    <Text value={`${count} of ${total}`} size="sm" truncate />
    {open ? <Icon name={open > 2 ? "star" : 'dot'} /> : null}
  </Row>
  {stops.map((stop, i) => (<Caption key={i} value={stop.names.join(", }")} />))}
  <Table.Row style={{ a: { b: "}" } }} />
</Card>"""


def test_every_element_of_a_view_is_found_with_what_it_says() -> None:
    found = jsx_elements(VIEW)

    assert [(one.type, one.line) for one in found] == [
        ("Card", 1),
        ("Row", 3),
        ("Text", 4),
        ("Icon", 5),
        ("Caption", 7),
        ("Table.Row", 8),
    ]
    told = {one.type: one.attributes for one in found}
    assert told["Row"] == {"gap": "2"}
    assert told["Text"] == {
        "value": "`${count} of ${total}`",
        "size": '"sm"',
        "truncate": "true",
    }
    assert told["Icon"] == {"name": "open > 2 ? \"star\" : 'dot'"}
    assert told["Caption"] == {"key": "i", "value": 'stop.names.join(", }")'}
    assert told["Table.Row"] == {"style": '{ a: { b: "}" } }'}


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


@pytest.mark.parametrize(
    "text", ["", "{", "}", '{"type":', "]}[{", '{{ x }}{"a" "b"}', "<", "<A", "<A b={"]
)
def test_text_that_is_neither_is_read_all_the_same(text: str) -> None:
    assert isinstance(template_elements(text), list)
    assert isinstance(jsx_elements(text), list)


@pytest.mark.parametrize(
    "text",
    [
        '{"type":"' + "{{ x }}" * 5_000,
        '{"type":"' + '\\"' * 20_000,
        "{{" * 20_000,
        "{%" * 20_000,
        '"' + "{#" * 20_000,
        "/* " * 20_000,
        "<A b={" + "/* " * 20_000,
        "<A b={" + "`${" * 20_000,
        '<A b={"' + '\\"' * 20_000,
        "<A b={" + "{" * 20_000,
    ],
    ids=lambda text: text[:14],
)
def test_text_that_never_closes_what_it_opens_is_run_through_once(text: str) -> None:
    """Minutes, or Python's whole stack, where anything is tried twice; so the time limit tells."""
    assert len(template_elements(text)) <= 1
    assert len(jsx_elements(text)) <= 1


def test_a_literal_in_a_literal_ends_where_it_ends() -> None:
    [text, icon] = jsx_elements('<Text value={`a ${b ? `}${c}` : "`}"} d`} size="sm" /><Icon />')

    assert text.attributes == {"value": '`a ${b ? `}${c}` : "`}"} d`', "size": '"sm"'}
    assert icon.type == "Icon"


def lost(attributes: str, template: str) -> list[str]:
    view = f"<Card><Text {attributes} /></Card>"
    written = '{"type":"Card","children":[{"type":"Text"' + template + "}]}"
    return [finding.problem for finding in exporter_losses(view, written)]


@pytest.mark.parametrize(
    ("attributes", "template", "problem"),
    [
        (
            'value={names.join(", ")}',
            ',"value":{{ (none) | tojson }}',
            'JSX says names.join(", "), the template says none',
        ),
        ("value={city}", "", "JSX says city, the template says nothing"),
        (
            "value={a + b}",
            ',"value":{{ (a) | tojson }}',
            "JSX says a + b, the template says nothing of 'b'",
        ),
        (
            "value={`${city}, ${land}`}",
            ',"value":{{ ((city ~ ", ")) | tojson }}',
            "JSX says `${city}, ${land}`, the template says nothing of 'land'",
        ),
    ],
)
def test_a_value_that_the_exporter_lost_is_named(
    attributes: str, template: str, problem: str
) -> None:
    assert lost(attributes, template) == [f"the exporter lost 'value' of 'Text': the {problem}"]


@pytest.mark.parametrize(
    ("attributes", "template"),
    [
        ("value={city}", ',"value":{{ (city) | tojson }}'),
        ("value={null}", ""),
        ("value={undefined}", ',"value":{{ (none) | tojson }}'),
        (
            'value={ok ? "a" : undefined}',
            ',"value":{% if ok %}"a"{% else %}{{ (none) | tojson }}{% endif %}',
        ),
        (
            "value={stops.map((s) => ({ label: s.name }))}",
            ',"value":[{% for s in stops %}{"label":{{ s.name }}}{% endfor %}]',
        ),
        ('value={{ a: "b", c: city }}', ',"value":{"a":"b","c":{{ (city) | tojson }}}'),
        ("{...rest}", ""),
        ("truncate", ',"truncate":true'),
        ("value={String(n)}", ',"value":{{ (n) | tojson }}'),
    ],
)
def test_a_value_that_the_template_has_is_not_spoken_of(attributes: str, template: str) -> None:
    assert lost(attributes, template) == []


def test_a_component_that_the_exporter_lost_is_named_with_its_line() -> None:
    view = '<Card>\n  <Text value="a" />\n  {xs.map((x) => <Caption value={x} />)}\n</Card>'
    template = '{"type":"Card","children":[{"type":"Text","value":"a"}]}'

    assert [str(finding) for finding in exporter_losses(view, template)] == [
        (
            "#/template: line 1: the exporter lost the 'Caption' of line 3 of the JSX; "
            "write in the template what the JSX says, or simplify the JSX and export again"
        )
    ]


def test_nothing_is_said_of_a_template_that_was_reworked_by_hand() -> None:
    view = "<Card><Text value={city} /></Card>"
    template = '{"type":"Card","children":[{"type":"Title","value":"x"},{"type":"Text"}]}'

    assert list(exporter_losses(view, template)) == []


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
