"""Widgets are found by what they are for, and a search follows what is served."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.making import snapshot_of, widget
from widgetd.catalog.snapshot import Snapshot
from widgetd.mcp.search import MANY, Search
from widgetd.widget.widget import Widget

FLIGHT = widget("Flight", sidecar='description = "Show where a flight is."')
HOTEL = widget("Hotel", sidecar='description = "Show a hotel near the flight\'s destination."')
HOTEL_NOW = widget("Hotel", sidecar='description = "Show rooms, with their prices."')
TRAVEL = widget("Trips", path="travel/Trips.widget")


def found(search: Search, snapshot: Snapshot, query: str) -> list[tuple[str, float]]:
    hits, total = search.find(snapshot, query, 10)
    assert total == len(hits)
    return [(hit.widget.tool, hit.score) for hit in hits]


def test_the_best_match_comes_first_and_a_word_in_the_name_means_more() -> None:
    names = [tool for tool, _ in found(Search(), snapshot_of(FLIGHT, HOTEL, TRAVEL), "flights")]

    assert names == ["flight", "hotel"]


def test_folders_names_and_endings_are_found() -> None:
    everything = snapshot_of(FLIGHT, HOTEL, TRAVEL)

    assert [tool for tool, _ in found(Search(), everything, "travel")] == ["trips"]
    assert [tool for tool, _ in found(Search(), everything, "TRIP")] == ["trips"]
    assert found(Search(), everything, "zebra") == []


def test_the_limit_cuts_the_answer_and_not_the_count() -> None:
    hits, total = Search().find(snapshot_of(FLIGHT, HOTEL), "flight", 1)

    assert ([hit.widget.tool for hit in hits], total) == (["flight"], 2)


async def test_many_widgets_are_read_beside_the_loop_and_found_all_the_same() -> None:
    crowd = snapshot_of(*(widget(f"Widget {number}") for number in range(MANY + 1)), FLIGHT)
    search = Search()

    await search.prepare(crowd)

    assert found(search, crowd, "flight") == found(Search(), crowd, "flight")


@given(st.lists(st.lists(st.sampled_from([FLIGHT, HOTEL, HOTEL_NOW, TRAVEL]), max_size=3)))
def test_a_search_that_followed_any_swaps_finds_what_a_new_one_does(
    moments: list[list[Widget]],
) -> None:
    search = Search()
    for widgets in moments:
        now = snapshot_of(*widgets)
        for query in ("flight", "show rooms", "travel"):
            assert found(search, now, query) == found(Search(), now, query)
