"""States of a widget: its author's sample, and states derived from it."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from tests.support.corpus import CORPUS, needs_corpus
from tests.support.widgets import build_widget, bundled_widgets, source
from widgetd.base.limits import Limits
from widgetd.core.widget.components import tree
from widgetd.core.widget.states import SAMPLE, list_states, show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.catalog import discover_widgets
from widgetd.server.catalog.loader import load

ROWS = {
    "type": "object",
    "properties": {
        "rows": {"type": "array", "items": {"type": "string"}},
        "size": {"type": "integer"},
    },
    "required": ["rows"],
    "additionalProperties": False,
}
TEMPLATE = (
    '{"type":"Card","children":[{% for row in rows %}{% if not loop.first %},{% endif %}'
    '{"type":"Text","value":{{ row | tojson }}}{% endfor %}]}'
)
WORD = '{"type":"Card","children":[{"type":"Text","value":"Boats"}]}'
PREVIEW = {"type": "Card", "children": [{"type": "Text", "value": "As Studio drew it"}]}


def pack(**state: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps({"defaultState": state}).encode()).decode()


def make_widget(*, sidecar: str = "", **file: Any) -> Widget:
    return build_widget(schema=ROWS, template=TEMPLATE, sidecar=sidecar, **file)


def texts(widget_read: Widget, key: str = SAMPLE) -> list[str]:
    root = show_state(widget_read, key).tree(widget_read)
    return [part["value"] for part in root.get("children", [])]


def test_sample_is_the_authors_preview() -> None:
    parcel_widget = make_widget(encodedWidget=pack(rows=["Skiff"]), outputJsonPreview=PREVIEW)

    assert texts(parcel_widget) == ["Skiff"]
    assert (list_states(parcel_widget)[0].label, show_state(parcel_widget, SAMPLE).note) == (
        "Sample",
        "",
    )


@pytest.mark.parametrize("encoded", ["", pack(), pack(rows=[])])
def test_file_without_a_sample_shows_its_preview(encoded: str) -> None:
    parcel_widget = make_widget(encodedWidget=encoded, outputJsonPreview=PREVIEW)

    assert texts(parcel_widget) == ["As Studio drew it"]
    assert list_states(parcel_widget)[0].label == "As exported"
    assert show_state(parcel_widget, SAMPLE).note == (
        "The file brings no sample that can be read; this is its preview as it stands."
    )


def test_first_example_with_content_is_shown_without_a_preview() -> None:
    sidecar = """
[[examples]]
arguments = { rows = [] }
[[examples]]
arguments = { rows = ["Canoe"] }
"""

    assert texts(make_widget(sidecar=sidecar)) == ["Canoe"]


def test_samples_of_each_state_are_generated_from_the_schema() -> None:
    parcel_widget = make_widget()

    assert len(texts(parcel_widget)) == 1
    assert show_state(parcel_widget, SAMPLE).note == (
        "The file brings no sample that can be drawn; this one is made from the schema."
    )


def test_sample_without_a_schema_has_the_templates_reads() -> None:
    template = (
        '{"type":"Card","children":[{% for leg in legs %}{% if not loop.first %},{% endif %}'
        '{"type":"Text","value":{{ (leg.from.city ~ leg.stops[0]) | tojson }}}{% endfor %}]}'
    )
    text = json.dumps({"version": "1.0", "name": "Trip", "template": template})
    trip = load(source("Trip.widget", text), None, limits=Limits())

    [leg] = show_state(trip, SAMPLE).arguments["legs"]
    assert leg["from"]["city"]
    assert len(show_state(trip, "many").arguments["legs"]) == 20


def test_sample_refused_by_the_schema_is_drawn_and_marked() -> None:
    parcel_widget = make_widget(
        encodedWidget=pack(rows=["Skiff"], size="large"), outputJsonPreview=PREVIEW
    )

    assert texts(parcel_widget) == ["Skiff"]
    assert list_states(parcel_widget)[0].label == "Sample, which does not fit"
    assert show_state(parcel_widget, SAMPLE).note == (
        "The schema does not admit this sample; it is drawn all the same."
    )
    assert all(
        parcel_widget.schema.admits(show_state(parcel_widget, key).arguments)
        for key in ("one", "many", "long")
    )


@needs_corpus
def test_every_real_file_shows_something() -> None:
    widgets = discover_widgets(CORPUS)
    options = next(one for one in widgets if "flight_options" in one.definition.path)

    preview = options.definition.document.preview
    assert show_state(options, SAMPLE).tree(options) == tree(json.dumps(preview))
    assert [one.tool for one in widgets if len(json.dumps(_seen(one))) < 100] == []


def _seen(one: Widget) -> dict[str, Any]:
    return show_state(one, SAMPLE).tree(one)


def bundled_widget(tool: str) -> Widget:
    return next(one for one in bundled_widgets() if one.tool == tool)


@pytest.mark.parametrize("state", ["one", "many", "long"])
def test_chart_keeps_a_value_of_each_series_in_every_row(state: str) -> None:
    arguments = show_state(bundled_widget("chart"), state).arguments
    keys = {series["key"] for series in arguments["series"]}

    assert len(keys) == len(arguments["series"])
    assert [row for row in arguments["rows"] if not keys <= row.keys()] == []


@pytest.mark.parametrize("state", ["one", "many", "long"])
def test_table_keeps_a_cell_of_each_column_in_every_row(state: str) -> None:
    table = bundled_widget("table")
    sample, arguments = show_state(table, SAMPLE).arguments, show_state(table, state).arguments

    assert [one["key"] for one in arguments["columns"]] == [one["key"] for one in sample["columns"]]
    assert {tuple(row) for row in arguments["rows"]} <= {tuple(row) for row in sample["rows"]}


def test_many_state_copies_the_authors_elements_with_distinct_ids() -> None:
    rows = [{"id": "a", "day": "2026-01-30", "name": "Skiff"}]
    schema = {"type": "object", "properties": {"rows": {"type": "array", "maxItems": 3}}}
    seen = build_widget(schema=schema, template=WORD, encodedWidget=pack(rows=rows))

    assert show_state(seen, "many").arguments == {
        "rows": [
            {"id": "a", "day": "2026-01-30", "name": "Skiff"},
            {"id": "a-2", "day": "2026-01-30", "name": "Skiff"},
            {"id": "a-3", "day": "2026-01-30", "name": "Skiff"},
        ]
    }


def test_repeated_elements_differ_where_the_originals_do() -> None:
    seen = build_widget(
        schema={"type": "object", "properties": {"rows": {"type": "array", "maxItems": 3}}},
        template=WORD,
        encodedWidget=pack(
            rows=[
                {"day": "2026-01-30", "name": "Skiff", "price": "12.50", "sort": "boat"},
                {"day": "2026-01-31", "name": "Canoe", "price": "13.50", "sort": "boat"},
            ]
        ),
    )

    assert show_state(seen, "many").arguments["rows"][2] == {
        "day": "2026-02-01",
        "name": "Skiff 2",
        "price": "12.50",
        "sort": "boat",
    }


def test_long_text_is_the_authors_own_with_more_behind_it_and_no_name_of_an_icon() -> None:
    seen = build_widget(
        schema={
            "type": "object",
            "properties": {"title": {"type": "string", "maxLength": 60}, "icon": {}, "when": {}},
        },
        template=WORD,
        encodedWidget=pack(title="Boats at the pier", icon="lucide:ship", when="12:30"),
    )

    arguments = show_state(seen, "long").arguments
    assert arguments["title"].startswith("Boats at the pier ")
    assert 40 < len(arguments["title"]) <= 60
    assert (arguments["icon"], arguments["when"]) == ("lucide:ship", "12:30")
