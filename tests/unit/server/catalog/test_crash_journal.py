"""Journal of renders at a crash: their arguments are quarantined."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from widgetd.base.errors import CallError
from widgetd.server.catalog.crash_journal import PAGE_FILE, QUARANTINE_FILE, CrashJournal
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.state import StateFolder

CONTENT = "c" * 32
ONE, OTHER, NEW = "1" * 16, "2" * 16, "3" * 16
_AMID: list[AbstractContextManager[None]] = []
"""Renders that nobody ends; to forget one would end it."""


class StartClock:
    """Each start is so much later than the one before."""

    def __init__(self, apart_s: float = LIMITS.crash_render_s + 1) -> None:
        self._apart_s = apart_s
        self._now_s = 1_700_000_000.0

    def __call__(self) -> float:
        return self._now_s

    def start(self) -> None:
        self._now_s += self._apart_s


CLOCK = StartClock()


def start_journal(
    state: StateFolder, version: str = "1", clock: StartClock = CLOCK
) -> CrashJournal:
    clock.start()
    journal = CrashJournal(state, version, now=clock)
    journal.open()
    return journal


def end_amid(state: StateFolder, *arguments: str, clock: StartClock = CLOCK) -> CrashJournal:
    """Start a journal and end it while a content is drawn with these, as a crash would."""
    journal = start_journal(state, clock=clock)
    for digest in arguments:
        _AMID.append(journal.rendering(CONTENT, digest))
        _AMID[-1].__enter__()
    return journal


def quarantined(journal: CrashJournal, *arguments: str) -> set[str]:
    """Return those of `arguments` that the content must not be drawn with."""
    refused = set()
    for digest in arguments:
        try:
            with journal.rendering(CONTENT, digest):
                pass
        except CallError:
            refused.add(digest)
    return refused


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def test_start_that_fails_before_it_serves_changes_nothing(state: StateFolder) -> None:
    end_amid(state, ONE)
    CrashJournal(state, "1")

    assert quarantined(start_journal(state), ONE, OTHER) == {ONE}


def test_newly_begun_render_is_not_suspect(state: StateFolder) -> None:
    soon = StartClock(LIMITS.crash_render_s / 2)
    end_amid(state, ONE, clock=soon)
    assert quarantined(start_journal(state, clock=soon), ONE) == set()


def test_completed_or_failed_render_leaves_nothing(state: StateFolder) -> None:
    for _ in range(3):
        journal = end_amid(state)
        with journal.rendering(CONTENT, ONE):
            pass
        with pytest.raises(ZeroDivisionError), journal.rendering(CONTENT, OTHER):
            _ = 1 // 0

    assert quarantined(start_journal(state), ONE, OTHER) == set()


def test_our_own_arguments_leave_nothing(state: StateFolder) -> None:
    end_amid(state, "")

    assert quarantined(start_journal(state), "") == set()


def test_arguments_rendered_at_the_end_are_quarantined_for_their_widget_alone(
    state: StateFolder,
) -> None:
    journal = start_journal(state)
    digest = journal.digest({"v": "1" * 30_000 + "e"})
    _AMID.append(journal.rendering(CONTENT, digest))
    _AMID[-1].__enter__()

    restarted = start_journal(state)
    with pytest.raises(CallError) as refused, restarted.rendering(CONTENT, digest):
        pass
    assert refused.value.code == "W1014"
    assert refused.value.message == (
        "widgetd was ended while it rendered these arguments; "
        "send other ones, or these again in 60 minutes"
    )
    assert refused.value.retry_after_s == LIMITS.quarantine_s
    with (
        restarted.rendering("d" * 32, digest),
        restarted.rendering(CONTENT, restarted.digest({"v": "1"})),
    ):
        pass


def test_quarantine_persists_over_starts_and_expires(state: StateFolder) -> None:
    journal = start_journal(state)
    digest = journal.digest({"v": 1})
    _AMID.append(journal.rendering(CONTENT, digest))
    _AMID[-1].__enter__()
    start_journal(state)

    later = StartClock(LIMITS.quarantine_s / 2)
    later._now_s = CLOCK._now_s
    with pytest.raises(CallError, match="again in 30 minutes"):
        start_journal(state, clock=later).rendering(CONTENT, digest).__enter__()
    with start_journal(state, clock=later).rendering(CONTENT, digest):
        pass


def test_arguments_have_no_digest_without_a_state_folder() -> None:
    assert CrashJournal().digest({"v": 1}) == ""


def test_every_thread_has_its_place(state: StateFolder) -> None:
    many = [f"{number:016x}" for number in range(60)]
    end_amid(state, *many)

    assert quarantined(start_journal(state), *many) == set(many)


def test_more_draws_than_places_are_drawn_all_the_same(state: StateFolder) -> None:
    journal = end_amid(state, *[ONE] * 64)

    assert quarantined(journal, OTHER) == set()


def test_another_version_of_widgetd_tries_everything_again(state: StateFolder) -> None:
    end_amid(state, ONE)
    start_journal(state)

    assert quarantined(start_journal(state, "2"), ONE) == set()


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 6)


def rubbish(path: Path) -> None:
    path.write_bytes(b"\xff{]" * 3000)


def of_another_shape(path: Path) -> None:
    known = {"version": "1", "arguments": {"x": "y", "z": 1e99}}
    path.write_text(json.dumps(known))


@pytest.mark.parametrize("harm", [cut, rubbish, of_another_shape, Path.unlink])
@pytest.mark.parametrize("file", [PAGE_FILE, QUARANTINE_FILE])
def test_damaged_files_are_ignored_and_replaced(
    tmp_path: Path, harm: Callable[[Path], None], file: str
) -> None:
    state = StateFolder(tmp_path)
    end_amid(state, ONE)
    end_amid(state, OTHER)
    harm(tmp_path / file)

    assert quarantined(start_journal(state), ONE, OTHER, NEW) <= {ONE, OTHER}
    end_amid(state, NEW)
    assert NEW in quarantined(start_journal(state), NEW)


def test_slot_of_a_render_in_progress_is_in_the_file(tmp_path: Path) -> None:
    journal = start_journal(StateFolder(tmp_path))

    with journal.rendering(CONTENT, journal.digest({"v": 1})):
        content = (tmp_path / PAGE_FILE).read_bytes()

    assert CONTENT.encode() in content
    assert journal.digest({"v": 1}).encode() in content
