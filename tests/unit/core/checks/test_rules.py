# ruff: noqa: E501, ISC004 - a table reads best with one case to a line
from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

from tests.support.corpus import CORPUS, corpus_files, needs_corpus
from tests.support.findings import location_of
from widgetd.base.errors import CODES, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.checks.declared_paths import DeclaredPaths
from widgetd.core.checks.renders import OutputProbe, render_samples
from widgetd.core.checks.rules import RULES, Subject, check_widget
from widgetd.core.checks.schemas import find_unread_fields
from widgetd.core.studio.compare import differences
from widgetd.core.widget.definition import define
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load


def build_parcel(template: str, toml: str = "", **properties: Any) -> Widget:
    schema = {"type": "object", "properties": properties, "additionalProperties": False}
    file = {
        "version": "1.0",
        "name": "Parcel",
        "description": "Show where a parcel is.",
        "template": template,
        "jsonSchema": schema,
    }
    source = Source(path="parcel.widget", content=json.dumps(file).encode(), digest="")
    sidecar = Source(path="parcel.widget.toml", content=toml.encode(), digest="")
    return load(source, sidecar)


def check_messages(widget: Widget, *, strict: bool = False) -> list[str]:
    return [f"{finding.code} {finding}" for finding in check_widget(widget, strict=strict)]


def card(*values: str) -> str:
    texts = ",".join(f'{{"type":"Text","value":{{{{ ({value}) | tojson }}}}}}' for value in values)
    return f'{{"type":"Card","children":[{texts}]}}'


TEXT: dict[str, Any] = {"type": "string", "minLength": 1}
STOPS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object", "properties": {"city": {"type": "string"}, "km": {}}},
}


def test_good_widget_has_no_findings() -> None:
    assert check_messages(build_parcel(card("city | default('?')"), city={"type": "string"})) == []


def test_each_rule_declares_its_inputs_and_reports_only_its_own_codes() -> None:
    toml = 'summary = "{{ twon }}"\nsensitive = ["nobody"]\n[actions.x]\ndescription = "."'
    faulty = card("city", "stops | tojson").replace('"Text"', '"Txet"')
    widget = build_parcel(faulty, toml, city={}, stops={"type": "array"})
    subject = Subject(widget=widget, definition=widget.definition, strict=True)
    met: set[str] = set()

    for rule in RULES:
        needed = [getattr(subject, name) for name in rule.needs]
        assert set(rule.codes) <= CODES.keys()
        if None not in needed:
            codes = {finding.code for finding in rule.function(*needed)}
            assert codes <= set(rule.codes)
            met |= codes

    assert met == {"W1401", "W1212", "W1213", "W1214"}


def test_operation_that_the_page_lacks_is_named_once_with_its_place() -> None:
    widget = build_parcel(
        card("city", "stops | sort | first"), city={"type": "string"}, stops=STOPS
    )

    assert [str(each) for each in check_widget(widget) if each.code == "W1332"] == [
        "parcel.widget#/template: line 1: the page does not have '|sort', so that the server alone "
        "draws the widget; write it with another operation, or accept that pages draw results "
        "alone, not while arguments stream nor on a static site"
    ]


def test_misspelt_name_is_one_finding_with_all_its_consequences() -> None:
    widget = build_parcel(card("cty", "stops | length"), city={"type": "string"}, stops=STOPS)

    assert check_messages(widget) == [
        (
            "W1320 parcel.widget#/template: line 1: the template reads 'cty', "
            "which the schema does not declare; did you mean 'city'?"
        )
    ]


@pytest.mark.parametrize(
    ("arguments", "at", "line"),
    [
        ('city = "a"\nstops = [{ km = 7 }, { km = "x" }]', "/stops/1/km", 5),
        ("city = 1", "/city", 4),
        ("[examples.arguments.stops]", "/stops", 4),
        ("town = 1", "/town", 4),
    ],
)
def test_invalid_example_is_shown_at_its_error(arguments: str, at: str, line: int) -> None:
    sidecar = f'[[examples]]\nname = "one"\n[examples.arguments]\n{arguments}\n'
    stops = {"type": "array", "items": {"properties": {"km": {"type": "number"}}}}
    file = build_parcel(
        card("city | default('?')", "stops | length"), sidecar, city=TEXT, stops=stops
    )
    [finding] = [one for one in check_widget(file) if one.code == "W1211"]

    assert finding.at == f"/examples/0/arguments{at}"
    assert location_of(finding, sidecar).line == line


def test_undeclared_read_is_a_fault_under_strict_rules() -> None:
    widget = build_parcel(card("city | default('?')", "twon | default('?')"), city={}, town={})

    warning, *_ = check_widget(widget)
    fault, *_ = check_widget(widget, strict=True)

    assert (warning.code, warning.level) == ("W1320", "warning")
    assert (fault.code, fault.level) == ("W1321", "fault")
    assert str(fault) == (
        "parcel.widget#/template: line 1: the template reads 'twon', "
        "which the schema does not declare; did you mean 'town'?"
    )


@pytest.mark.parametrize(
    "template",
    [
        card("stops | tojson"),
        '{"type":"Card","key":{{ stops | tojson }}}',
        '{"type":"Card","key":"{% for s in stops %}{{ s | tojson | length }}{% endfor %}"}',
    ],
)
def test_field_of_an_object_passed_on_whole_is_used(template: str) -> None:
    assert not [
        line for line in check_messages(build_parcel(template, stops=STOPS)) if "W1210" in line
    ]


def test_only_fields_possibly_shown_through_their_parent_are_tried_out() -> None:
    fields: dict[str, Any] = {f"f{number}": {"type": "string"} for number in range(200)}
    around = {"type": "object", "properties": fields}
    widget = build_parcel(card("city.f0", "city | length"), city=around, town=around, **fields)
    paths: list[str] = []

    findings = find_unread_fields(
        {"city", "city.f0"},
        DeclaredPaths(widget.schema.document),
        shows=lambda path: bool(paths.append(path)),  # type: ignore[func-returns-value]  # nothing
    )

    assert len(list(findings)) == 200 + 1 + 50
    assert paths == [f"city.f{number}" for number in range(1, 51)]


def test_many_undeclared_names_are_all_reported_and_some_get_advice() -> None:
    widget = build_parcel(card(*(f"twon{number}" for number in range(60))), town0={}, town59={})
    findings = [finding for finding in check_widget(widget) if finding.code == "W1320"]

    assert len(findings) == 60
    assert findings[0].advice == "did you mean 'town0'?"
    assert findings[59].advice == "declare it"


def test_undeclared_name_suggests_the_only_unread_field_beside_it() -> None:
    items = {"type": "object", "properties": {"id": {}, "label": {"type": "string"}}}
    rows = {"type": "array", "items": items}
    loop = "{% for s in rows %}{{ s.id }}{{ s.name }}{% endfor %}"
    template = f'{{"type":"Card","key":"{loop}"}}'

    assert [
        line
        for line in check_messages(build_parcel(template, rows=rows))
        if line[:5] in ("W1210", "W1320")
    ] == [
        (
            "W1320 parcel.widget#/template: line 1: the template reads 'rows[].name', which the "
            "schema does not declare; did you mean 'label', which is never used?"
        )
    ]


def test_field_read_only_by_the_sidecar_is_used() -> None:
    toml = 'summary = "{{ city }}"\nsummary_fields = ["place.km"]\n[summary_data]\nn = "town"'
    widget = build_parcel('{"type":"Card"}', toml, city={}, town={}, place=STOPS["items"])

    assert check_messages(widget) == [
        (
            "W1210 parcel.widget#/jsonSchema/properties/place/properties/city: "
            "'place.city' is never used; show it, or take it out of the schema"
        )
    ]


def test_undeclared_read_in_a_sidecar_expression_is_warned_about() -> None:
    toml = """
        summary = "{{ city }} {{ twon }} {{ twon }}"
        [summary_data]
        "the count" = "stops | map(attribute='km') | list | length + hops"
        first = "stops[0].ctiy"
    """
    widget = build_parcel(card("city", "stops"), toml, city={"type": "string"}, stops=STOPS)

    assert [line for line in check_messages(widget) if "W1213" in line] == [
        (
            "W1213 parcel.widget.toml#/summary: the schema does not declare 'twon'; "
            "declare it, or use city or stops"
        ),
        (
            "W1213 parcel.widget.toml#/summary_data/the count: the schema does not declare 'hops'; "
            "did you mean 'stops'?"
        ),
        (
            "W1213 parcel.widget.toml#/summary_data/first: the schema does not declare "
            "'stops[].ctiy'; did you mean 'city'?"
        ),
    ]


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("/bergen.png", 'write "format": "uri-reference" to admit addresses without a host'),
        ("img/bergen.png", 'write "format": "uri-reference" to admit addresses without a host'),
        ("Bergen", "correct the sample, or the schema"),
        ("a / b", "correct the sample, or the schema"),
    ],
)
def test_example_address_without_a_host_is_advised_upon(address: str, advice: str) -> None:
    toml = f'[[examples]]\narguments = {{ picture = "{address}" }}'
    widget = build_parcel(card("picture"), toml, picture={"type": "string", "format": "uri"})

    [misfit] = [finding for finding in check_widget(widget) if finding.code == "W1211"]
    assert misfit.advice == advice


def test_sidecar_path_may_pass_through_a_list_only_for_a_secret() -> None:
    widget = build_parcel(card("stops | tojson"), 'sensitive = ["stops.km"]', stops=STOPS)

    assert check_messages(widget) == []
    assert check_messages(
        build_parcel(card("stops | tojson"), 'summary_fields = ["stops.km"]', stops=STOPS)
    ) == [
        (
            "W1213 parcel.widget.toml#/summary_fields: the schema does not declare 'stops.km'; "
            "declare it"
        )
    ]


def test_open_schema_declares_unnamed_properties() -> None:
    anything: dict[str, Any] = {}
    extras = {"type": "object", "additionalProperties": {"type": "string"}}
    widget = build_parcel(card("a.b.c | default('?')", "x.y | default('?')"), a=anything, x=extras)

    assert check_messages(widget) == []


def test_branches_and_references_declare_their_properties() -> None:
    branches = {
        "anyOf": [{"type": "object", "properties": {"city": {"type": "string"}}}, {"type": "null"}]
    }
    widget = build_parcel(card("at.city | default('?')", "at.town | default('?')"), at=branches)

    assert check_messages(widget) == [
        (
            "W1320 parcel.widget#/template: line 1: the template reads 'at.town', "
            "which the schema does not declare; declare it, or use city"
        )
    ]


def test_definition_without_a_usable_template_is_checked_by_its_texts() -> None:
    file = {"version": "1.0", "name": "Parcel", "template": "{% no jinja"}
    definition = define(Source(path="a.widget", content=json.dumps(file).encode(), digest=""))

    assert [finding.code for finding in check_widget(definition)] == ["W1116"]


@pytest.mark.parametrize(
    ("got", "want", "at"),
    [
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": 1}, {"a": True}, ["/a"]),
        ({"a": 1}, {"a": "1"}, ["/a"]),
        ({"a": [1, 2]}, {"a": [1]}, ["/a/1"]),
        ({"a": None}, {}, ["/a"]),
        ({"a/b": {"c": []}}, {"a/b": {"c": {}}}, ["/a~1b/c"]),
    ],
)
def test_two_trees_differ_where_a_reader_would_see_it(got: Any, want: Any, at: list[str]) -> None:
    assert [place for place, _, _ in differences(got, want)] == at


@needs_corpus
def test_every_real_widget_renders_or_is_warned_about() -> None:
    served: dict[str, tuple[Finding, ...]] = {}
    for path in corpus_files():
        relative = path.relative_to(CORPUS).as_posix()
        try:
            widget = load(Source(path=relative, content=path.read_bytes(), digest=""))
        except WidgetError:
            continue
        served[path.name] = check_widget(widget)

    assert len(served) == 57
    edited = {
        name for name, findings in served.items() if any(one.code == "W1326" for one in findings)
    }
    # Their previews differ as well, which the edits explain.
    assert not [one for findings in served.values() for one in findings if one.code == "W1323"]
    assert edited >= {
        "MCQ Card (copy).widget",
        "event_list.widget",
        "line_select.widget",
        "plotly.widget",
    }
    assert not [one for findings in served.values() for one in findings if one.level == "fault"]


def test_payload_hiding_a_field_is_warned_about() -> None:
    template = (
        '{"type":"Card","asForm":true,"confirm":{"label":"Send","action":{"type":"parcel.send",'
        '"payload":{"to":1}}},"children":[{"type":"Input","name":"to.city"}]}'
    )

    assert check_messages(build_parcel(template)) == [
        (
            "W1408 parcel.widget#/template: the key 'to' in the payload of 'parcel.send' hides "
            "the form's field 'to.city'; give one of the two another name"
        )
    ]


BUTTON = '{"type":"Card","children":[{"type":"Button","onClickAction":{"type":TYPE}}]}'


@pytest.mark.parametrize(
    ("template", "advice"),
    [
        (BUTTON.replace("TYPE", '"parcel.track"'), "did you mean 'parcel.track'?"),
        (BUTTON.replace("TYPE", '"other"'), "describe 'other'"),
        ('{"type":"Card"}', "remove it; the widget has no actions"),
    ],
)
def test_description_of_a_missing_action_is_warned_about(template: str, advice: str) -> None:
    assert check_messages(
        build_parcel(template, '[actions."parcel.trak"]\ndescription = "Track it."')
    ) == [
        (
            "W1214 parcel.widget.toml#/actions/parcel.trak: the template has no action "
            f"'parcel.trak'; {advice}"
        )
    ]


def test_action_typed_by_an_argument_may_be_described() -> None:
    widget = build_parcel(
        BUTTON.replace("TYPE", "{{ what | tojson }}"),
        '[actions."parcel.track"]\ndescription = "Track it."',
        what={"type": "string"},
    )

    assert check_messages(widget) == []


@pytest.mark.parametrize(
    ("child", "expected"),
    [
        (
            '{"type":"Icon","name":"map"}',
            [
                (
                    "W1404 parcel.widget#/template: line 1: 'name' of 'Icon' cannot be 'map', "
                    "which is no icon (at /children/0/name of the tree); did you mean 'maps'?"
                )
            ],
        ),
        (
            '{"type":"Icon","name":{{ (\'map\' if km else \'star\') | tojson }}}',
            [
                (
                    "W1404 parcel.widget#/template: line 1: 'name' of 'Icon' cannot be 'map', "
                    "which is no icon (at /children/0/name of the tree); did you mean 'maps'?"
                )
            ],
        ),
        (
            '{"type":"Text","value":true}',
            [
                (
                    "W1405 parcel.widget#/template: line 1: 'value' of 'Text' cannot be a boolean "
                    "(at /children/0/value of the tree); use a string"
                )
            ],
        ),
        ('{"type":"Icon","name":{{ icon | tojson }}}', []),
        ('{"type":"Icon","name":"{{ icon }}-{{ km }}"}', []),
        ('{"type":"Text","value":{{ km | tojson }}}', []),
    ],
)
def test_constants_are_checked_by_the_vocabulary_without_a_sample(
    child: str, expected: list[str]
) -> None:
    template = f'{{"type":"Card","padding":{{{{ km | tojson }}}},"children":[{child}]}}'
    properties: dict[str, Any] = {
        "km": {"type": "integer"},
        "icon": {"enum": ["nothing", "at-all"]},
    }

    messages = check_messages(build_parcel(template, **properties))

    assert [one for one in messages if one.startswith(("W1403", "W1404", "W1405"))] == expected


def test_component_finding_has_the_line_of_the_template_that_wrote_it() -> None:
    children = [
        "null, [false, [",
        '{"type":"Text","value":"a"}',
        ']], {"type":"Col","gap":null,"children":{"type":"Row","children":[',
        '{% for one in "ab" %}{"type":"Icon",',
        '"name":"map"}{% if not loop.last %},{% endif %}{% endfor %}',
        "]}}",
    ]
    template = '{"type":"Card","children":[\n' + "\n".join(children) + "\n]}"

    [finding] = check_widget(build_parcel(template))
    assert (finding.code, finding.line, finding.column) == ("W1404", 5, 22)
    assert "at /children/1/children/children/0/name of the tree" in finding.problem


def test_search_for_shown_fields_has_one_budget_of_steps_for_all_fields() -> None:
    costly = (
        "{% macro m(n) %}{% if n %}{{ m(n-1) }}{{ m(n-1) }}{% endif %}{% endmacro %}{{ m(14) }}"
    )
    fields = {f"f{index}": {"type": "string"} for index in range(40)}
    widget = build_parcel(
        costly + card("a | tojson", "a.f0"), a={"type": "object", "properties": fields}
    )
    outcomes = list(islice(render_samples(widget), 3))
    probe = OutputProbe(widget, [outcome.sample for outcome in outcomes])
    most = Limits().steps

    verdicts = [probe(f"a.f{index}") for index in range(1, 40)]

    assert len(outcomes) == 3
    assert all(verdicts[-30:])
    assert -most < probe.left < 0


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            card("town", "city.name"),
            [
                "W1215 parcel.widget: there is no jsonSchema, so the arguments are inferred from "
                "what the template reads: city, town; export the widget again, or write one: "
                "callers learn no types"
            ],
        ),
        ('{"type":"Card"}', []),
    ],
)
def test_inferred_arguments_are_reported(template: str, expected: list[str]) -> None:
    file = {"version": "1.0", "name": "Parcel", "description": "Parcels.", "template": template}
    source = Source(path="parcel.widget", content=json.dumps(file).encode(), digest="")

    assert [one for one in check_messages(load(source)) if one.startswith("W1215")] == expected


JSX_SCHEMA = """const schema = {
  type: "object",
  properties: {
    n: { type: "integer" },
    note: { type: "string" },
    rows: { type: "array", items: { type: "object", properties: { due: { type: "string" } } } },
    footer: { type: "object" },
  },
  required: ["n", "rows"],
};
"""


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (
            "<Card><Text value={note} /><Title value={note} /></Card>",
            [
                "W1407 p.widget.jsx#/jsonSchema/properties/note: 'value' of 'Text' and 'Title' is "
                "nothing where 'note' is absent; require it, give it a default, or show the "
                "component only where it is there"
            ],
        ),
        (
            "<Card>{rows.map((row) => <Badge label={row.due} />)}</Card>",
            [
                "W1407 p.widget.jsx#/jsonSchema/properties/rows/items/properties/due: 'label' of "
                "'Badge' is nothing where 'rows[].due' is absent; require it, give it a default, "
                "or show the component only where it is there"
            ],
        ),
        (
            "<Card>{footer}</Card>",
            [
                "W1407 p.widget.jsx#/jsonSchema/properties/footer: 'footer' is shown as a "
                "component, and need not be one; require its 'type' with an enum of components, "
                "or show its values in components"
            ],
        ),
        (
            "<Card><Text value={`Due on ${note}.`} />{rows.map((r) => <Text>{n} Due {r.due}</Text>)}</Card>",
            [
                "W1331 p.widget.jsx#/jsonSchema/properties/note: a text is 'Due on .' where "
                "'note' is absent; require it, give it a default, or show the text only where it "
                "is there",
                "W1331 p.widget.jsx#/jsonSchema/properties/rows/items/properties/due: a text is "
                "'2 Due ' where 'rows[].due' is absent; require it, give it a default, or show "
                "the text only where it is there",
            ],
        ),
        ("<Card><Text value={`${n} ${note}`} />{note && <Text>Due {note}</Text>}</Card>", []),
        (
            "<Card><Text value={props.n} /></Card>",
            [
                "W1320 p.widget.jsx: line 11: the JSX reads 'props', which the schema does not "
                "declare; write n: arguments come by their names"
            ],
        ),
        (
            'const sample = { n: "x", rows: [] };\n<Card />',
            [
                "W1211 p.widget.jsx: line 11: const sample does not fit the schema: n: expected "
                'an integer, got "x"; correct the sample, or the schema'
            ],
        ),
        ('<Card><Chart data={rows} xAxis="due" series={[{ type: "bar", dataKey: "n" }]} /></Card>', []),
    ],
)  # fmt: skip
def test_absent_argument_is_reported_at_its_declaration(view: str, expected: list[str]) -> None:
    content = (JSX_SCHEMA + view).encode()
    toml = Source(path="p.widget.jsx.toml", content=b'description = "P."', digest="")
    widget = load(Source(path="p.widget.jsx", content=content, digest=""), toml)

    assert [one for one in check_messages(widget) if "W1210" not in one] == expected


def test_jsx_without_a_schema_gets_advice_where_to_write_one() -> None:
    content = b"<Card><Text value={town} /></Card>"
    widget = load(Source(path="parcel.widget.jsx", content=content, digest=""))

    assert [one for one in check_messages(widget) if one.startswith("W1215")] == [
        (
            "W1215 parcel.widget.jsx: there is no schema, so the arguments are inferred from what "
            "the JSX reads: town; write `const schema = {…};` before the JSX: callers "
            "learn no types"
        )
    ]
