"""The choice between an export's two sources, and the findings on the other one."""
# ruff: noqa: E501 - a table reads best with one case to a line

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from tests.support.corpus import corpus_files, needs_corpus
from tests.support.findings import location_of
from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.checks.rules import check_widget
from widgetd.core.studio.compare import argument_sets, compare, compare_sources
from widgetd.core.studio.limits import LIMITS
from widgetd.core.widget.document import VIEW
from widgetd.core.widget.page_program import program_or_empty
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load, load_widget

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "names": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["n", "names"],
}
SAMPLE = {"n": 3, "names": ["Ann", "Bob"]}


def export(
    view: str | None,
    template: str | None,
    preview: Any = None,
    sidecar: str = "",
    schema: Any = SCHEMA,
) -> Widget:
    """Return a file as Studio exports it, in which each part may be missing."""
    file: dict[str, Any] = {
        "version": "1.0",
        "name": "People",
        "jsonSchema": schema,
        "description": "Show people.",
    }
    if template is not None:
        file["template"] = template
    if preview is not None:
        file["outputJsonPreview"] = preview
    if view is not None:
        package = {"id": "wig_1", "name": "People", "view": view, "defaultState": SAMPLE}
        file["encodedWidget"] = base64.b64encode(json.dumps(package).encode()).decode()
    source = Source(path="people.widget", content=json.dumps(file).encode(), digest="1")
    beside = Source(path="people.widget.toml", content=sidecar.encode(), digest="2")
    return load(source, beside if sidecar else None)


def jinja_card(*children: str) -> str:
    within = "".join(child if child.startswith("{%") else f",{child}" for child in children)
    strip = "{{- (_c[1:] if _c and _c[0] == ',' else _c) -}}"
    return f'{{"type":"Card","children":[{{%- set _c -%}}{within}{{%- endset -%}}{strip}]}}'


N = '{"type":"Text","value":{{ (n) | tojson }}}'
LITERAL, LITERAL_JSX = '{"type":"Text","value":{{ ((n)) | tojson }}}', "<Text value={`${n}`} />"
JOINED, JOINED_JSX = (
    '{"type":"Text","value":{{ ((none)) | tojson }}}',
    "<Text value={names.join(', ')} />",
)
SERIES = '{"type":"Chart","data":[],"xAxis":"n","series":[{"type":"Text","value":{"type":"bar","dataKey":"n"}}]}'
SERIES_JSX = "<Chart data={[]} xAxis='n' series={[{type: 'bar', dataKey: 'n'}]} />"
LOOP = '{%- for x in names -%},{"type":"Text","value":{{ (x) | tojson }}}{%- endfor -%}'
LOOP_JSX = "{names.map((x) => (<Text value={x} />))}"
SAME = "<Card><Text value={n} /></Card>"


def list_values(widget: Widget) -> list[Any]:
    return [
        child.get("value", child.get("series")) for child in widget.call(SAMPLE).tree["children"]
    ]


@pytest.mark.parametrize(
    ("view", "template", "source", "children"),
    [
        (None, jinja_card(N), "", [3]),
        ("", jinja_card(N), "", [3]),
        (SAME, jinja_card(N), "template", [3]),
        (f"<Card>{LOOP_JSX}</Card>", jinja_card(LOOP), "template", ["Ann", "Bob"]),
        (f"<Card>{LITERAL_JSX}</Card>", jinja_card(LITERAL), "view", ["3"]),
        (f"<Card>{JOINED_JSX}</Card>", jinja_card(JOINED), "view", ["Ann, Bob"]),
        (f"<Card>{SERIES_JSX}</Card>", jinja_card(SERIES), "view", [[{"type": "bar", "dataKey": "n"}]]),
        (f"<Card>{LITERAL_JSX}{JOINED_JSX}{LOOP_JSX}</Card>", jinja_card(LITERAL, JOINED, LOOP), "view", ["3", "Ann, Bob", "Ann", "Bob"]),
        # an edit is not undone
        (f"<Card>{JOINED_JSX}</Card>", jinja_card(JOINED, N), "template", [None, 3]),
        (f"<Card>{JOINED_JSX}{LOOP_JSX}</Card>", jinja_card(JOINED, '{"type":"Text","value":"mine"}'), "template", [None, "mine"]),
        (f"<Card>{SERIES_JSX}<Text value='a' /></Card>", jinja_card(SERIES, '{"type":"Text","value":"b"}'), "template", [[{"type": "bar", "dataKey": "n"}], "b"]),
        (f"<Card>{SERIES_JSX}</Card>", jinja_card(SERIES.replace("bar", "line"), N), "template", [[{"type": "line", "dataKey": "n"}], 3]),
        (f"<Card>{JOINED_JSX}<Row />{LITERAL_JSX}</Card>", jinja_card(JOINED, LITERAL), "template", [None, "3"]),
        ("<Card><Text value={n} size='sm' /></Card>", jinja_card(N), "template", [3]),
        # the JSX cannot be compiled
        (f"<Card>{JOINED_JSX}{{useState()}}</Card>", jinja_card(JOINED), "template", [None]),
        ("<Card><", jinja_card(LITERAL), "template", ["3"]),
        # there is no template
        (f"<Card>{JOINED_JSX}</Card>", "", "view", ["Ann, Bob"]),
        (f"<Card>{JOINED_JSX}</Card>", " \n", "view", ["Ann, Bob"]),
        (f"<Card>{JOINED_JSX}</Card>", None, "view", ["Ann, Bob"]),
    ],
)  # fmt: skip
def test_jsx_is_drawn_where_the_exporter_lost_some_of_it(
    view: str | None, template: str | None, source: str, children: list[Any]
) -> None:
    widget = export(view, template)

    assert (widget.source, list_values(widget)) == (source, children)
    assert program_or_empty(widget)


@pytest.mark.parametrize(
    "schema",
    [
        {**SCHEMA, "required": ["n"]},
        {**SCHEMA, "required": ["n"], "properties": {"n": {}, "people": {"type": "array"}}},
    ],
    ids=["optional", "renamed"],
)
def test_untouched_export_keeps_its_source_when_its_list_may_be_absent(schema: Any) -> None:
    count = '{"type":"Text","value":{{ (names | length) | tojson }}}'
    view = f"<Card>{JOINED_JSX}{SERIES_JSX}<Text value={{names.length}} />{LOOP_JSX}</Card>"

    widget = export(view, jinja_card(JOINED, SERIES, count, LOOP), schema=schema)

    assert (widget.source, widget.choice.edits) == ("view", ())
    assert not [one for one in compare_messages(widget) if one.startswith(("W1323", "W1326"))]


def test_edit_and_loss_of_one_file_are_reported_apart() -> None:
    view = f"<Card>{JOINED_JSX}{SERIES_JSX}{LITERAL_JSX}</Card>"
    word = LITERAL.replace("((n))", '"three"')

    widget = export(view, jinja_card(JOINED, SERIES, word), {"type": "Card", "children": [
        {"type": "Text", "value": "Ann, Bob"},
        {"type": "Chart", "data": [], "xAxis": "n", "series": [{"type": "bar", "dataKey": "n"}]},
        {"type": "Text", "value": "3"},
    ]})  # fmt: skip

    assert list_values(widget) == [None, [{"type": "bar", "dataKey": "n"}], "three"]
    [loss, *_] = [one for one in compare_messages(widget) if one.startswith("W1307")]
    assert 'is absent, not "Ann, Bob"' in loss
    assert loss.endswith(
        "; write these values into the template, or make its edits in the JSX and leave the template empty"
    )
    edits = [one for one in compare_messages(widget) if one.startswith("W1326")]
    assert [one.partition("; ")[0] for one in edits] == [
        (
            "W1326 people.widget#/template: the template was edited after the export: "
            '/children/2/value is "three", where the JSX says 3'
        )
    ]
    assert {"W1307", "W1324", "W1326"} <= {one[:5] for one in compare_messages(widget)}


def compare_messages(widget: Widget) -> list[str]:
    return [f"{one.code} {one}" for one in check_widget(widget) if one.code[:3] != "W14"]


@pytest.mark.parametrize(
    ("view", "template", "expected"),
    [
        (f"<Card><Text value={{n}} />{LOOP_JSX}</Card>", jinja_card(N, LOOP), []),
        (
            f"<Card>{JOINED_JSX}</Card>",
            jinja_card(JOINED),
            [
                (
                    "W1307 people.widget#/template: the exporter lost some of the JSX: /children/0/value is absent, "
                    'not "Ann, Bob"; widgetd draws the JSX; others draw the template, unless it says the same'
                ),
                "W1210 people.widget#/jsonSchema/properties/n: 'n' is never used; show it, or take it out of the schema",
            ],
        ),
        (
            f"<Card>{LITERAL_JSX}{LOOP_JSX}</Card>",
            jinja_card(LITERAL, LOOP),
            [
                (
                    'W1307 people.widget#/template: the exporter lost some of the JSX: /children/0/value is 3, not "3"; '
                    "widgetd draws the JSX; others draw the template, unless it says the same"
                )
            ],
        ),
        (
            f"<Card><Text value={{n}} size='sm' />{LOOP_JSX}</Card>",
            jinja_card(N, LOOP),
            [
                (
                    "W1326 people.widget#/template: the template and the JSX disagree: /children/0/size is absent, "
                    'where the JSX says "sm"; exporting again makes the template of the JSX; widgetd draws the template, or the JSX '
                    'where the sidecar says source = "view"'
                )
            ],
        ),
        (
            "<Card><Text value={n} />" + LOOP_JSX + "</Card>",
            "",
            [
                (
                    "W1325 people.widget: there is no template, so the JSX in encodedWidget is drawn; "
                    "export the widget again to have one, if others than widgetd draw it"
                )
            ],
        ),
        (
            f"<Card>\n{JOINED_JSX}{{n}}{{names.splice()}}</Card>",
            jinja_card(JOINED, N, LOOP),
            [
                (
                    "W1307 people.widget#/template: line 1: the exporter could not translate this value and wrote (none); "
                    "nor can the JSX be drawn: line 2: the method splice is not available; "
                    "write the value that the JSX shows, or simplify the JSX and export again"
                )
            ],
        ),
        (f"<Card>{{useState()}}{LOOP_JSX}</Card>", jinja_card(N, LOOP), []),
    ],
)  # fmt: skip
def test_comparison_names_the_author_of_each_change(
    view: str, template: str, expected: list[str]
) -> None:
    assert compare_messages(export(view, template)) == expected


def test_unusable_template_gives_way_to_a_jsx_that_draws_the_preview() -> None:
    view, faulty = f"<Card>\n<Text value={{n}} />{LOOP_JSX}</Card>", jinja_card("{%- if -%}", LOOP)
    children = [{"type": "Text", "value": each} for each in (3, "Ann", "Bob")]
    preview = {"type": "Card", "children": children}

    widget = export(view, faulty, preview)

    assert (widget.source, list_values(widget)) == ("view", [3, "Ann", "Bob"])
    assert compare_messages(widget) == [
        (
            "W1325 people.widget#/template: line 1: the JSX is drawn, for the template cannot be: "
            "Expected an expression, got 'end of statement block'; write it as Jinja reads it"
        )
    ]
    for other in (None, {"type": "Card", "children": children[:1]}):
        with pytest.raises(WidgetError, match=r"Expected an expression"):
            export(view, faulty, other)


@pytest.mark.parametrize(
    ("source", "children"), [("template", [None, "Ann", "Bob"]), ("view", ["Ann, Bob", 3])]
)
def test_sidecar_may_choose_the_source(source: str, children: list[Any]) -> None:
    widget = export(
        f"<Card>{JOINED_JSX}<Text value={{n}} /></Card>",
        jinja_card(JOINED, LOOP),
        sidecar=f'source = "{source}"',
    )

    assert (widget.source, list_values(widget)) == (source, children)
    assert not [one for one in compare_messages(widget) if one.startswith("W1326")]


@pytest.mark.parametrize(
    ("view", "template", "sidecar", "message"),
    [
        (None, jinja_card(N), 'source = "view"', "people.widget: the sidecar asks for the JSX, and the file holds none; export the widget again, or leave 'source' out"),
        ("<Card>\n</Row>", "", "", "people.widget#/encodedWidget/view: line 2: </Row> does not close <Card>; write </Card>"),
        ("import x from 'y'", jinja_card(N), 'source = "view"', "people.widget#/encodedWidget/view: line 1: the statement import is not available: import x from 'y'; arguments come by their names, and a form keeps what a user types"),
    ],
)  # fmt: skip
def test_undrawable_jsx_is_refused_if_it_is_required(
    view: str | None, template: str, sidecar: str, message: str
) -> None:
    with pytest.raises(WidgetError) as caught:
        export(view, template, sidecar=sidecar)

    assert (caught.value.finding.code, str(caught.value)) == ("W1327", message)


def test_finding_in_the_jsx_is_shown_with_its_line() -> None:
    widget = export("<Card>\n  <Text value={m} /></Card>", "")
    [finding] = [one for one in check_widget(widget) if one.code == "W1320"]
    location = location_of(finding, widget.definition.content.decode())

    assert (finding.at, finding.line, finding.column) == (VIEW, 2, 16)
    assert finding.problem == "the JSX reads 'm', which the schema does not declare"
    assert (location.text, location.text_column) == ("  <Text value={m} /></Card>", 16)


def test_failing_view_is_named_as_such() -> None:
    widget = export("<Card><Text value={names[9].length + n.trim()} /></Card>", "")

    assert [one for one in compare_messages(widget) if "fails" in one] == [
        (
            "W1310 people.widget#/encodedWidget/view: line 1: the JSX fails on any arguments: "
            "a number is no text; correct the JSX"
        )
    ]


@pytest.mark.parametrize(
    ("view", "template", "expected"),
    [
        # W1326 explains these, and W1323 would advise to undo the edit
        ("<Card><Text value='a' /></Card>", jinja_card('{"type":"Text","value":"b"}'), "the template was edited after the export"),
        ("<Card><Text value='c' /></Card>", jinja_card('{"type":"Text","value":"a"}'), "the JSX was changed after the export"),
        ("<Card><Text value='c' /></Card>", jinja_card('{"type":"Text","value":"b"}'), "the template and the JSX disagree"),
        ("<Card><Text value='b' /></Card>", jinja_card('{"type":"Text","value":"b"}'), "the JSX draws the same: export the widget again, for its preview or sample is old"),
        ("<Card>{f()}</Card>", jinja_card('{"type":"Text","value":"b"}'), "export the widget again, or correct the template"),
    ],
)  # fmt: skip
def test_advice_about_a_preview_depends_on_the_agreeing_sources(
    view: str, template: str, expected: str
) -> None:
    widget = export(view, template, {"type": "Card", "children": [{"type": "Text", "value": "a"}]})

    findings = [one for one in check_widget(widget) if one.code in {"W1323", "W1326"}]
    assert [
        (one.problem.partition(":")[0], one.advice)[one.code == "W1323"] for one in findings
    ] == [expected]


def test_complete_template_imports_no_library() -> None:
    widget = export(SAME, jinja_card(N))
    widget.call(SAMPLE)

    assert "view" not in vars(widget)


def test_holding_one_source_against_the_other_has_one_budget_of_steps() -> None:
    slow = "names.map((a) => " * 4 + "1" + ")" * 4
    many = {**SAMPLE, "names": ["x"] * 40}
    widget = export(f"<Card>{JOINED_JSX}<Text value={{{slow}}} /></Card>", jinja_card(JOINED, N))
    studio = widget.definition.studio
    assert studio is not None
    view, schema = widget.view, Counting(widget.schema)
    larger = replace(studio, default_state=many)

    compare_sources((widget.template, view, view), larger, cast("Any", schema), Limits())

    assert schema.asked <= 2


class Counting:
    """A schema that counts how many sets of arguments were filled in."""

    def __init__(self, schema: Any) -> None:
        self._schema, self.asked = schema, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._schema, name)

    def with_defaults(self, arguments: dict[str, Any]) -> Any:
        self.asked += 1
        return self._schema.with_defaults(arguments)


EDITED = {
    "MCQ Card (copy)",
    "Multi-choice Selector",
    "Multi-choice Selector@c62e1062",
    "Single-choice list",
    "Single-choice list@be0109b7",
    "event_list",
    "line_select",
    "plotly",
}
LOST = {"Playlist"}


def exports() -> list[Path]:
    files = []
    for path in corpus_files():
        try:
            widget = load_widget(path)
        except WidgetError:
            continue
        if widget.definition.view:
            files.append(path)
    return files


@needs_corpus
@pytest.mark.parametrize("path", exports(), ids=lambda path: path.stem)
def test_comparison_recognises_untouched_exports_and_edited_ones(path: Path) -> None:
    widget = load_widget(path)
    studio = widget.definition.studio
    assert studio is not None
    comparison = compare(widget)

    assert comparison.is_export is (path.stem not in EDITED)
    assert comparison.agrees is (path.stem not in EDITED | LOST)
    assert widget.source == ("view" if path.stem in LOST else "template")
    assert len(list(argument_sets(studio, widget.schema))) == LIMITS.sets + len(studio.samples)
