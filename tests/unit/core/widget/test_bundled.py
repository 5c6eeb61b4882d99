"""The bundled widgets keep what they are examples of."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.unit.core.schema.schemas import with_nulls
from widgetd.base.files.source import Source
from widgetd.core.checks.rules import check_widget
from widgetd.core.widget.document import Studio, decode_package
from widgetd.core.widget.states import show_state
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load
from widgetd.server.search.search_index import words

States = dict[str, Mapping[str, Any]]

FOLDER = Path(__file__).resolve().parents[4] / "widgets"

EXAMPLES_OF_STUDIO = {
    "Channel Message",
    "Create Event",
    "Create Task",
    "Draft Email",
    "Enable Notification",
    "Event Session",
    "Flight Tracker",
    "Player Card",
    "Playlist",
    "Purchase Complete",
    "Purchase Items",
    "Ride Status",
    "Software Purchase",
    "View Event",
    "Weather Current",
    "Weather Forecast",
}

RESPONSE_TYPES = {
    "shopify-products",
    "product-detail",
    "form-lead",
    "form-payment",
    "form-choices",
    "chart",
    "table",
    "calendar",
    "file-upload",
    "success",
    "error",
}

NAMES = sorted(path.stem for path in FOLDER.glob("*.widget"))


@cache
def compile_widget(name: str) -> Widget:
    return load(bundled_source(f"{name}.widget"), bundled_source(f"{name}.widget.toml"))


def bundled_source(name: str) -> Source:
    content = (FOLDER / name).read_bytes()
    return Source.of(name, content)


@pytest.fixture(params=NAMES)
def widget(request: pytest.FixtureRequest) -> Widget:
    return compile_widget(request.param)


@pytest.fixture
def studio(widget: Widget) -> Studio:
    assert widget.definition.studio is not None
    return widget.definition.studio


@pytest.fixture
def states(widget: Widget, studio: Studio) -> States:
    """Return arguments by the name of the state that they show, Studio's own sample among them."""
    named = {example.name: example.arguments for example in widget.definition.sidecar.examples}
    return {"sample": dict(studio.default_state), **named}


def test_every_example_of_studio_and_every_response_type_is_bundled() -> None:
    assert set(NAMES) >= EXAMPLES_OF_STUDIO
    assert {compile_widget(name).definition.ui_type for name in NAMES} >= RESPONSE_TYPES


def test_no_two_share_a_tool_name_or_a_response_type() -> None:
    assert len({compile_widget(name).tool for name in NAMES}) == len(NAMES)
    assert len({compile_widget(name).definition.ui_type for name in NAMES}) == len(NAMES)


def test_file_and_studio_have_the_same_name(widget: Widget, studio: Studio) -> None:
    assert widget.definition.path == f"{widget.definition.name}.widget"
    assert studio.name == widget.definition.name
    assert re.fullmatch(r"wig_[a-z0-9]{8}", studio.id)


def test_sample_renders_to_the_preview(widget: Widget, states: States) -> None:
    assert widget.call(states["sample"], strict=True).tree == widget.definition.document.preview


def test_widget_has_several_states_without_repairs(widget: Widget, states: States) -> None:
    assert len(states) >= 3
    for state in states.values():
        assert widget.call(state, strict=True).tree["type"] == "Card"


def test_null_is_accepted_for_every_omitted_argument(widget: Widget, states: States) -> None:
    assert widget.definition.schema is not None
    smallest = widget.schema.smallest
    assert smallest is not None
    for state in (*states.values(), smallest):
        arguments = with_nulls(widget.definition.schema, state, everywhere=True)

        rendered = widget.call(arguments)
        assert rendered.tree == widget.call(state).tree
        assert bool(rendered.coerced) == (arguments != state)


def test_it_asks_for_three_things_at_most_and_for_no_id_and_no_price_in_words(
    widget: Widget,
) -> None:
    assert widget.definition.schema is not None
    required = widget.definition.schema.get("required", ())

    assert len(required) <= 3
    assert [name for name in required if re.fullmatch(r"id|\w+Id|\w+Text", name)] == []


def test_smallest_arguments_draw_without_holes(widget: Widget) -> None:
    least = widget.schema.sample(state="required")
    assert least is not None
    rendered = widget.call(least)
    texts = [
        (part["type"], part[name])
        for part in objects(rendered.tree)
        for name in ("value", "label")
        if part.get("type") in ("Title", "Text", "Caption", "Badge", "Button") and name in part
    ]
    beside = [text for _, text in texts] + [widget.summary.text(rendered.arguments)]

    assert texts
    assert [text for text in beside if not text or text.strip(" ·,") != text] == []
    assert [text for text in beside if re.search(r"\b(None|null|undefined)\b| [,.:;] ", text)] == []


def test_ids_are_stable_for_a_render_and_differ_between_renders(widget: Widget) -> None:
    least = widget.schema.sample(state="required")
    assert least is not None
    first = widget.call(least, identity="r_1")
    again = widget.call(least, identity="r_1")
    other = widget.call(least, identity="r_2")
    generated = set(widget.definition.sidecar.ids) - least.keys()

    assert first.tree == again.tree
    for name in generated:
        assert first.arguments[name] != other.arguments[name]


def test_widget_has_no_findings(widget: Widget) -> None:
    assert [str(finding) for finding in check_widget(widget, strict=True)] == []


def test_sample_looks_the_same_without_a_network(widget: Widget) -> None:
    assert widget.definition.document.preview is not None
    images = [
        part["src"]
        for part in objects(widget.definition.document.preview)
        if part.get("type") == "Image"
    ]

    assert [src for src in images if not src.startswith("data:image/svg+xml;base64,")] == []
    assert [src for src in images if len(src) > 512] == []


def test_no_description_repeats_its_name_and_every_object_is_closed(widget: Widget) -> None:
    assert widget.definition.schema is not None
    parts = list(subschemas(widget.definition.schema))

    # A model pays for each in every turn.
    assert [
        at
        for at, part in parts
        if "description" in part and set(words(part["description"])) <= set(words(at))
    ] == []
    assert [
        at
        for at, part in parts
        # A row of a chart or a table is keyed by columns that the call itself names.
        if "properties" in part and part["additionalProperties"] is not False and at != "rows[]"
    ] == []


def test_view_and_template_name_the_same_components_and_actions_in_the_same_order(
    widget: Widget, studio: Studio
) -> None:
    template = widget.definition.template

    assert re.findall(r"<([A-Z][\w.]*)", studio.view) == re.findall(
        r'"type":"([A-Z][\w.]*)"', template
    )
    assert re.findall(r'\btype: "([a-z]+\.[\w.]+)"', studio.view) == actions(widget)


def test_zod_schema_names_the_properties_of_the_json_schema(widget: Widget) -> None:
    assert widget.definition.schema is not None
    package = decode_package(widget.definition.document.encoded_studio or "")
    assert package is not None
    declared = {
        name for at, _ in subschemas(widget.definition.schema) for name in re.findall(r"\w+", at)
    }

    assert set(re.findall(r"^\s+(\w+):\s", package["schema"], re.MULTILINE)) == declared


def test_sidecar_describes_the_widget_and_each_of_its_actions(widget: Widget) -> None:
    sidecar = widget.definition.sidecar

    assert sidecar.title
    assert sidecar.version == "1.0.0"
    assert 100 <= len(widget.description) <= 300
    assert {*sidecar.actions, *sidecar.local} == set(actions(widget))


def test_sidecar_names_existing_arguments(widget: Widget) -> None:
    assert widget.definition.schema is not None
    sidecar = widget.definition.sidecar
    declared = {at.replace("[]", "") for at, _ in subschemas(widget.definition.schema)}

    assert set(sidecar.summary_fields + sidecar.sensitive) <= declared


def test_model_gets_every_fact_and_a_summary_of_one_line(widget: Widget, states: States) -> None:
    sidecar = widget.definition.sidecar
    summaries = [widget.summary.text(state) for state in states.values()]
    of_one = widget.summary.text(show_state(widget, "one").arguments)

    assert set(widget.summary.facts(states["sample"], "text")) == {
        "summary",
        *sidecar.summary_fields,
        *sidecar.summary_data,
    }
    assert [text for text in summaries if not 10 < len(text) <= 240 or "\n" in text] == []
    assert len(set(summaries)) == len(states)
    assert re.findall(r"\b1 \w+s\b", " ".join([*summaries, of_one])) == []


def actions(widget: Widget) -> list[str]:
    """Return the types of the actions in the template, in its order."""
    return re.findall(r'"type":"([a-z]+\.[\w.]+)"', widget.definition.template)


def objects(value: object) -> Iterator[Mapping[str, Any]]:
    """Yield every object in a JSON value."""
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for one in inner:
        yield from objects(one)


def subschemas(schema: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every subschema with its place: `lines[].price`; `rows[]{}` is that of further keys."""
    yield at, schema
    for name, inner in schema.get("properties", {}).items():
        yield from subschemas(inner, f"{at}.{name}".lstrip("."))
    if "items" in schema:
        yield from subschemas(schema["items"], f"{at}[]")
    if isinstance(schema.get("additionalProperties"), dict):
        yield from subschemas(schema["additionalProperties"], f"{at}{{}}")
    for inner in schema.get("anyOf", ()):
        yield from subschemas(inner, at)
