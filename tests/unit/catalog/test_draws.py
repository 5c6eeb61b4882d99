"""What was being drawn at two ends in a row is drawn no more."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.making import source
from tests.serving import widget_file
from widgetd.catalog.draws import FILE, LEAST_S, Draws
from widgetd.catalog.loader import Loader
from widgetd.catalog.state import StateFolder
from widgetd.errors import WidgetError
from widgetd.render.entry import tool_entry

ONE, OTHER = "1" * 32, "2" * 32
_AMID: list[AbstractContextManager[None]] = []
"""Draws that nobody ends; to forget one would end it."""


class Clock:
    """Each start is so much later than the one before."""

    def __init__(self, apart_s: float = LEAST_S + 1) -> None:
        self._apart_s = apart_s
        self._now_s = 1_700_000_000.0

    def __call__(self) -> float:
        return self._now_s

    def start(self) -> None:
        self._now_s += self._apart_s


CLOCK = Clock()


def started(state: StateFolder, version: str = "1", clock: Clock = CLOCK) -> Draws:
    clock.start()
    draws = Draws(state, version, now=clock)
    draws.open()
    return draws


def ended_amid(state: StateFolder, *digests: str, clock: Clock = CLOCK) -> Draws:
    """A process that starts, and is ended while it draws those."""
    draws = started(state, clock=clock)
    amid(draws, *digests)
    return draws


def amid(draws: Draws, *digests: str) -> None:
    for digest in digests:
        _AMID.append(draws.of(digest))
        _AMID[-1].__enter__()


def refused(state: StateFolder, version: str = "1") -> frozenset[str]:
    return started(state, version).refused


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def test_what_was_drawn_at_two_ends_in_a_row_is_refused_and_nothing_else(
    state: StateFolder,
) -> None:
    assert ended_amid(state, ONE, OTHER).refused == set()
    assert ended_amid(state, ONE).refused == set()
    assert started(state).refused == {ONE}


def test_what_is_refused_stays_so(state: StateFolder) -> None:
    ended_amid(state, ONE)
    ended_amid(state, ONE)
    ended_amid(state)
    ended_amid(state, OTHER)

    assert refused(state) == {ONE}


def test_an_end_between_that_found_nothing_drawn_begins_anew(state: StateFolder) -> None:
    ended_amid(state, ONE)
    ended_amid(state)
    ended_amid(state, ONE)

    assert refused(state) == set()


def test_a_start_that_is_refused_before_it_serves_is_no_end(state: StateFolder) -> None:
    ended_amid(state, ONE)
    ended_amid(state, ONE)
    Draws(state, "1")

    assert refused(state) == {ONE}


def test_what_had_just_begun_did_not_end_the_process(state: StateFolder) -> None:
    soon = Clock(LEAST_S / 2)
    for _ in range(3):
        assert ended_amid(state, ONE, clock=soon).refused == set()


def test_what_was_drawn_to_its_end_or_failed_stands_nowhere(state: StateFolder) -> None:
    for _ in range(3):
        draws = ended_amid(state)
        with draws.of(ONE):
            pass
        with pytest.raises(ZeroDivisionError), draws.of(OTHER):
            _ = 1 // 0

    assert refused(state) == set()


def test_every_thread_has_its_place(state: StateFolder) -> None:
    many = [f"{number:032x}" for number in range(60)]
    ended_amid(state, *many)
    ended_amid(state, *many)

    assert refused(state) == set(many)


def test_more_draws_than_places_are_drawn_all_the_same(state: StateFolder) -> None:
    draws = ended_amid(state, *[ONE] * 64)

    with draws.of(OTHER):
        drawn = True

    assert drawn


def test_another_version_of_widgetd_tries_everything_again(state: StateFolder) -> None:
    ended_amid(state, ONE)
    ended_amid(state, ONE)

    assert refused(state, version="2") == set()


def cut(path: Path) -> None:
    os.truncate(path, 4090)


def rubbish(path: Path) -> None:
    path.write_bytes(b"\xff{]" * 3000)


def of_another_shape(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096] + b'{"version":"1","suspected":[{}],"refused":[7]}')


@pytest.mark.parametrize("harm", [cut, rubbish, of_another_shape, Path.unlink])
def test_what_stands_in_the_file_is_met_as_what_it_may_be(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    state = StateFolder(tmp_path)
    ended_amid(state, ONE)
    ended_amid(state, ONE)
    harm(tmp_path / FILE)

    assert refused(state) <= {ONE, 7}
    ended_amid(state, OTHER)
    ended_amid(state, OTHER)
    assert OTHER in refused(state)


def test_the_place_of_a_draw_that_goes_on_is_in_the_file_at_once(tmp_path: Path) -> None:
    draws = started(StateFolder(tmp_path))

    with draws.of(ONE):
        content = (tmp_path / FILE).read_bytes()

    assert ONE.encode() in content


def test_a_refused_content_is_not_drawn_until_it_changes(state: StateFolder) -> None:
    text = widget_file()
    file = source("Greeting.widget", text)
    ended_amid(state, file.digest)
    ended_amid(state, file.digest)
    loader = Loader(tool_entry, draws=started(state))

    with pytest.raises(WidgetError) as caught:
        loader.load(file, None)

    assert str(caught.value) == (
        "Greeting.widget: widgetd was ended twice in a row while it drew this content; "
        "change its template; any change has it tried again"
    )
    assert caught.value.finding.code == "W1012"
    assert loader.load(source("Greeting.widget", text + " "), None).tool == "greeting"
    assert loader.load(file, source("Greeting.widget.toml", "title = 'Hi'")).tool == "greeting"
