from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widgetd.core.schema.pydantic_model import camel_case
from widgetd.core.widget.naming import (
    folders,
    make_title,
    make_tool_name,
    slugify,
    sort_by_preference,
    to_kebab_case,
)


@pytest.mark.parametrize(
    ("name", "tool"),
    [
        ("Flight Tracker", "flight_tracker"),
        ("123 Test", "_123_test"),
        ("Multi-choice Selector", "multi_choice_selector"),
        ("BookingForm", "bookingform"),
        ("articleList", "articlelist"),
        ("MCQ Card (copy)", "mcq_card_copy"),
        ("Map + Inline Preview", "map__inline_preview"),
        ("travel/booking", "travelbooking"),
        ("Café Größe", "cafe_grosse"),
        ("课程", "kecheng"),
        ("wеather", "weather"),
        ("Full　width", "full_width"),
        ("a\u200bb\u202e", "ab"),
        ("x" * 60, "x" * 40),
        ("1" * 60, "_" + "1" * 39),
    ],
)
def test_tool_is_named_after_its_widget(name: str, tool: str) -> None:
    assert make_tool_name(name, "any.widget") == tool


@pytest.mark.parametrize("name", ["", "   ", "+++", "- -", "Untitled widget", " untitled Widget "])
def test_widget_with_a_generic_name_is_named_after_its_file(name: str) -> None:
    assert make_tool_name(name, "pets/Cat Profile.widget") == "cat_profile"


def test_nameless_widget_is_named_after_a_hash_of_its_path() -> None:
    assert make_tool_name("!!!", "pets/+++.widget") == "widget_cd2240aa"
    assert make_tool_name("!!!", "cars/+++.widget") != "widget_cd2240aa"


@given(st.text(), st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1))
def test_every_name_gives_a_tool_that_every_host_accepts(name: str, path: str) -> None:
    assert re.fullmatch(r"[a-z_][a-z0-9_]{0,39}", make_tool_name(name, path))


@given(st.text())
def test_tool_name_is_its_own_slug(name: str) -> None:
    assert slugify(slugify(name)) == slugify(name)


@pytest.mark.parametrize(
    ("name", "path", "title"),
    [
        ("  Flight   Tracker ", "a.widget", "Flight Tracker"),
        ("Untitled widget", "pets/Cat Profile.widget", "Cat Profile"),
        ("", "pets/cat_profile.widget", "cat_profile"),
    ],
)
def test_title_is_the_human_readable_name(name: str, path: str, title: str) -> None:
    assert make_title(name, path) == title


@pytest.mark.parametrize(
    ("text", "camel", "kebab"),
    [
        ("flight_tracker", "FlightTracker", "flight-tracker"),
        ("_123_test", "_123Test", "123-test"),
        ("departureCity", "DepartureCity", "departurecity"),
        ("map__inline_preview", "MapInlinePreview", "map-inline-preview"),
        ("日本", "RiBen", "riben"),
        ("", "", ""),
    ],
)
def test_name_has_a_class_form_and_a_response_type_form(text: str, camel: str, kebab: str) -> None:
    assert camel_case(text) == camel
    assert to_kebab_case(text) == kebab


@pytest.mark.parametrize(
    ("paths", "winner"),
    [
        (["card (1).widget", "travel/card.widget"], "travel/card.widget"),
        (["travel/card.widget", "card.widget"], "card.widget"),
        (["b.widget", "a.widget"], "a.widget"),
        (["card (2).widget", "card (10).widget"], "card (2).widget"),
    ],
)
def test_one_tool_name_goes_to_the_same_file_in_any_order(paths: list[str], winner: str) -> None:
    assert sort_by_preference(paths)[0] == winner
    assert sort_by_preference(reversed(paths))[0] == winner


def test_subfolders_become_tags() -> None:
    assert folders("card.widget") == ()
    assert folders("travel/air/card.widget") == ("travel", "air")
