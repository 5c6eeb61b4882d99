"""Search finds widgets by their purpose and follows changes of the folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.corpus import CORPUS, needs_corpus
from tests.support.widgets import build_widget, snapshot_of
from widgetd.base.files.folder import bundled_folder
from widgetd.core.widget.widget import Widget
from widgetd.daemon.loading import build_catalog
from widgetd.server.access.principal import Caller
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.entry import tool_entry
from widgetd.server.search.search import MANY, Search
from widgetd.server.search.search_index import words
from widgetd.settings import Settings

FLIGHT = build_widget("Flight", sidecar='description = "Show where a flight is."')
HOTEL = build_widget(
    "Hotel", sidecar='description = "Show a hotel near the flight\'s destination."'
)
HOTEL_NOW = build_widget("Hotel", sidecar='description = "Show rooms, with their prices."')
TRAVEL = build_widget("Trips", path="travel/Trips.widget")


def scores(search: Search, snapshot: Snapshot, query: str) -> list[tuple[str, float]]:
    hits, total = search.find(snapshot, query, 10)
    assert total == len(hits)
    return [(hit.widget.tool, hit.score) for hit in hits]


def test_best_match_is_first_and_a_word_in_the_name_weighs_more() -> None:
    names = [tool for tool, _ in scores(Search(), snapshot_of(FLIGHT, HOTEL, TRAVEL), "flights")]

    assert names == ["flight", "hotel"]


def test_folders_names_and_endings_are_searched() -> None:
    everything = snapshot_of(FLIGHT, HOTEL, TRAVEL)

    assert [tool for tool, _ in scores(Search(), everything, "travel")] == ["trips"]
    assert [tool for tool, _ in scores(Search(), everything, "TRIP")] == ["trips"]
    assert scores(Search(), everything, "zebra") == []


def test_limit_applies_to_the_answer_and_not_to_the_count() -> None:
    hits, total = Search().find(snapshot_of(FLIGHT, HOTEL), "flight", 1)

    assert ([hit.widget.tool for hit in hits], total) == (["flight"], 2)


def test_tags_filter_widgets() -> None:
    sky = build_widget(
        "Sky", sidecar='tags = ["weather"]\ndescription = "Show the sky of a flight."'
    )
    everything = snapshot_of(FLIGHT, HOTEL, TRAVEL, sky)

    def tools(query: str, *tags: str) -> list[str]:
        hits, total = Search().find(everything, query, 10, tags=tags)
        assert total == len(hits)
        return [hit.widget.tool for hit in hits]

    assert tools("", "weather", "travel") == ["sky", "trips"]
    assert tools("flight", "weather") == ["sky"]
    assert tools("flight", "cooking") == []


CHART = build_widget(
    "Chart",
    sidecar='keywords = ["trend"]\n'
    'description = "Draw numbers as lines. Use it for a course; use a table for exact values."',
)
TABLE = build_widget("Table", sidecar='description = "Show exact values in rows."')
BUTTON = build_widget("Button Box", sidecar='description = "Ask with a multi-choice form."')


def first(query: str) -> str | None:
    hits, _ = Search().find(snapshot_of(FLIGHT, CHART, TABLE, BUTTON), query, 1)
    return hits[0].widget.tool if hits else None


def test_sentence_that_points_to_another_widget_gives_no_credit() -> None:
    assert first("table") == "table"
    assert [tool for tool, _ in scores(Search(), snapshot_of(CHART, TABLE), "exact values")] == [
        "table"
    ]


def test_synonyms_keywords_typos_and_hyphens_are_matched() -> None:
    assert first("graph") == "chart"
    assert first("a trend") == "chart"
    assert first("fligt") == "flight"
    assert first("buton") == "button_box"
    assert first("multichoice") == first("multi choice") == "button_box"


def test_stop_words_match_nothing() -> None:
    assert first("what is the one that I would like to have?") is None
    assert first("zebra crossing") is None
    assert words("Show me where it is, please") == []


def load_widgets(folder: Path) -> dict[str, Widget]:
    load = Loader(tool_entry).load
    return dict(build_catalog(Settings(), folder, load, quiet_ms=0).scan().widgets)


def rank_answers(file: str, *widgets: Widget) -> list[int]:
    """Return the place of the widget that each question of a file means; 3 beyond three."""
    questions = json.loads(Path(__file__).with_name(file).read_text())
    everything, search = snapshot_of(*widgets), Search()
    ranks = []
    for question, expected in questions:
        tools = [hit.widget.tool for hit in search.find(everything, question, 3)[0]]
        ranks.append(tools.index(expected) if expected in tools else 3)
    return ranks


@needs_corpus
def test_sixty_questions_find_the_intended_widget() -> None:
    ranks = rank_answers(
        "search_questions.json",
        *{**load_widgets(CORPUS), **load_widgets(bundled_folder())}.values(),
    )

    assert len(ranks) == 60
    assert sum(rank == 0 for rank in ranks) >= 54, ranks
    assert sum(rank < 3 for rank in ranks) >= 59, ranks


def test_questions_about_shops_and_actions_find_the_intended_bundled_widget() -> None:
    ranks = rank_answers("bundled_questions.json", *load_widgets(bundled_folder()).values())

    assert len(ranks) == 37
    assert sum(rank == 0 for rank in ranks) >= 34, ranks
    assert max(ranks) < 3, ranks


def test_questions_written_without_a_look_at_the_index_find_the_intended_widget() -> None:
    ranks = rank_answers("fresh_questions.json", *load_widgets(bundled_folder()).values())

    assert len(ranks) == 30
    assert sum(rank < 3 for rank in ranks) >= 27, ranks


@pytest.mark.parametrize(
    ("plural", "singular"),
    [
        ("prices", "price"),
        ("gates", "gate"),
        ("shoes", "shoe"),
        ("pictures", "picture"),
        ("matches", "match"),
        ("boxes", "box"),
        ("classes", "class"),
        ("cities", "city"),
        ("flights", "flight"),
    ],
)
def test_plural_finds_its_singular(plural: str, singular: str) -> None:
    assert words(plural) == words(singular)


@pytest.mark.parametrize(
    ("query", "tool"),
    [("chrat", "chart"), ("grpah of sales", "chart"), ("flihgt", "flight_tracker")],
)
def test_two_swapped_letters_are_one_slip(query: str, tool: str) -> None:
    bundled = snapshot_of(*load_widgets(bundled_folder()).values())

    [hit, *_], _ = Search().find(bundled, query, 3)

    assert hit.widget.tool == tool


async def test_unknown_tool_is_answered_by_meaning_unless_its_name_is_misspelt() -> None:
    bundled = snapshot_of(*load_widgets(bundled_folder()).values())

    async def suggestion(name: str) -> tuple[str, ...]:
        error = await Search().explain_unknown(name, Caller(snapshot=bundled))
        return error.suggestions

    assert await suggestion("flight_status") == ("flight_tracker",)
    assert await suggestion("ride_statsu") == ("ride_status",)
    assert await suggestion("zebra_crossing") == ()


async def test_many_widgets_indexed_beside_the_loop_are_found_as_few_are() -> None:
    crowd = snapshot_of(*(build_widget(f"Widget {number}") for number in range(MANY + 1)), FLIGHT)

    hits = await Search().search(Caller(snapshot=crowd), "flight", 10)

    assert hits == Search().find(crowd, "flight", 10)
    assert hits[1] == 1


@given(st.lists(st.lists(st.sampled_from([FLIGHT, HOTEL, HOTEL_NOW, TRAVEL]), max_size=3)))
def test_search_updated_over_any_swaps_equals_a_new_one(moments: list[list[Widget]]) -> None:
    search = Search()
    for widgets in moments:
        now = snapshot_of(*widgets)
        for query in ("flight", "show rooms", "travel"):
            assert scores(search, now, query) == scores(Search(), now, query)


def test_word_of_any_length_is_scanned_once() -> None:
    endless = "x" * 1_000_000  # by the square of its length this would take hours
    described = build_widget("Long", sidecar=f'description = "{endless[:200_000]} parcel"')

    assert len(words(endless)) == 1_000_000 // 64
    assert words(f"{endless} e-mail")[-1] == "email"
    assert [name for name, _ in scores(Search(), snapshot_of(FLIGHT, described), "parcel")] == [
        "long"
    ]


def test_search_reads_a_bounded_part_of_a_question() -> None:
    served = snapshot_of(FLIGHT, HOTEL)

    assert scores(Search(), served, "flight " + "?" * 3_000) == scores(Search(), served, "flight")
    assert scores(Search(), served, "?" * 3_000 + " flight") == []


def test_word_that_lifts_no_widget_over_the_floor_matches_none() -> None:
    crowd = [
        build_widget(f"Crowd {number}", sidecar='description = "Show all of the common ones."')
        for number in range(40)
    ]
    served = snapshot_of(*crowd, FLIGHT)

    assert scores(Search(), served, "common flight") == scores(Search(), served, "flight")
    assert Search().find(served, "common", 10)[1] == len(crowd)
