"""Journal of renders at a crash: contents are tried again, arguments quarantined."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.support.widgets import source, widget_file
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.server.catalog.crash_journal import PAGE_FILE, QUARANTINE_FILE, CrashJournal
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.state import StateFolder
from widgetd.server.render.entry import tool_entry

ONE, OTHER = "1" * 32, "2" * 32
_AMID: list[AbstractContextManager[None]] = []
"""Renders that nobody ends; to forget one would end it."""


class Clock:
    """Each start is so much later than the one before."""

    def __init__(self, apart_s: float = LIMITS.crash_render_s + 1) -> None:
        self._apart_s = apart_s
        self._now_s = 1_700_000_000.0

    def __call__(self) -> float:
        return self._now_s

    def start(self) -> None:
        self._now_s += self._apart_s


CLOCK = Clock()


def start_journal(state: StateFolder, version: str = "1", clock: Clock = CLOCK) -> CrashJournal:
    clock.start()
    journal = CrashJournal(state, version, now=clock)
    journal.open()
    return journal


def end_amid(state: StateFolder, *digests: str, clock: Clock = CLOCK) -> CrashJournal:
    """Start a journal and end it while these are being rendered, as a crash would."""
    journal = start_journal(state, clock=clock)
    amid(journal, *digests)
    return journal


def amid(journal: CrashJournal, *digests: str) -> None:
    for digest in digests:
        _AMID.append(journal.rendering(digest))
        _AMID[-1].__enter__()


def suspects(state: StateFolder) -> frozenset[str]:
    return start_journal(state).suspects


@pytest.fixture
def state(tmp_path: Path) -> StateFolder:
    return StateFolder(tmp_path / "state")


def test_content_rendered_at_the_end_is_suspect_and_nothing_is_refused(
    state: StateFolder,
) -> None:
    end_amid(state, ONE, OTHER)

    journal = start_journal(state)
    assert journal.suspects == {ONE, OTHER}
    assert journal.refused == set()


def test_suspects_stay_until_they_were_tried(state: StateFolder) -> None:
    end_amid(state, ONE, OTHER)
    end_amid(state)
    journal = start_journal(state)
    journal.acquit(OTHER)
    journal.refuse(ONE)

    for _ in range(2):
        journal = start_journal(state)
        assert journal.suspects == set()
        assert journal.refused == {ONE}


def test_start_that_fails_before_it_serves_changes_nothing(state: StateFolder) -> None:
    end_amid(state, ONE)
    CrashJournal(state, "1")

    assert suspects(state) == {ONE}


def test_newly_begun_render_is_not_suspect(state: StateFolder) -> None:
    soon = Clock(LIMITS.crash_render_s / 2)
    for _ in range(3):
        assert end_amid(state, ONE, clock=soon).suspects == set()


def test_completed_or_failed_render_leaves_nothing(state: StateFolder) -> None:
    for _ in range(3):
        journal = end_amid(state)
        with journal.rendering(ONE):
            pass
        with pytest.raises(ZeroDivisionError), journal.rendering(OTHER):
            _ = 1 // 0

    assert suspects(state) == set()


def test_arguments_rendered_at_the_end_are_quarantined_for_their_widget_alone(
    state: StateFolder,
) -> None:
    journal = start_journal(state)
    digest = journal.digest({"v": "1" * 30_000 + "e"})
    _AMID.append(journal.rendering(ONE, digest))
    _AMID[-1].__enter__()

    restarted = start_journal(state)
    with pytest.raises(CallError) as refused, restarted.rendering(ONE, digest):
        pass
    assert refused.value.code == "W1014"
    assert refused.value.message == (
        "widgetd was ended while it rendered these arguments; "
        "send other ones, or these again in 60 minutes"
    )
    assert refused.value.retry_after_s == LIMITS.quarantine_s
    with restarted.rendering(OTHER, digest), restarted.rendering(ONE, restarted.digest({"v": "1"})):
        pass
    with restarted.rendering(ONE):
        pass


def test_quarantine_persists_over_starts_and_expires(state: StateFolder) -> None:
    journal = start_journal(state)
    digest = journal.digest({"v": 1})
    _AMID.append(journal.rendering(ONE, digest))
    _AMID[-1].__enter__()
    start_journal(state)

    later = Clock(LIMITS.quarantine_s / 2)
    later._now_s = CLOCK._now_s
    with pytest.raises(CallError, match="again in 30 minutes"):
        start_journal(state, clock=later).rendering(ONE, digest).__enter__()
    with start_journal(state, clock=later).rendering(ONE, digest):
        pass


def test_arguments_have_no_digest_without_a_state_folder() -> None:
    assert CrashJournal().digest({"v": 1}) == ""


def test_every_thread_has_its_place(state: StateFolder) -> None:
    many = [f"{number:032x}" for number in range(60)]
    end_amid(state, *many)

    assert suspects(state) == set(many)


def test_more_draws_than_places_are_drawn_all_the_same(state: StateFolder) -> None:
    journal = end_amid(state, *[ONE] * 64)

    with journal.rendering(OTHER):
        is_drawing = True

    assert is_drawing


def test_another_version_of_widgetd_tries_everything_again(state: StateFolder) -> None:
    start_journal(state).refuse(ONE)
    start_journal(state).refuse(OTHER)

    assert start_journal(state, "2").refused == set()


def cut(path: Path) -> None:
    os.truncate(path, path.stat().st_size - 6)


def rubbish(path: Path) -> None:
    path.write_bytes(b"\xff{]" * 3000)


def of_another_shape(path: Path) -> None:
    known = {"version": "1", "suspects": [{}], "refused": [7], "arguments": {"x": "y", "z": 1e99}}
    path.write_text(json.dumps(known))


@pytest.mark.parametrize("harm", [cut, rubbish, of_another_shape, Path.unlink])
@pytest.mark.parametrize("file", [PAGE_FILE, QUARANTINE_FILE])
def test_damaged_files_are_ignored_and_replaced(
    tmp_path: Path, harm: Callable[[Path], None], file: str
) -> None:
    state = StateFolder(tmp_path)
    start_journal(state).refuse(ONE)
    end_amid(state, ONE)
    harm(tmp_path / file)

    assert start_journal(state).suspects <= {ONE}
    end_amid(state, OTHER)
    assert OTHER in suspects(state)


def test_slot_of_a_render_in_progress_is_in_the_file(tmp_path: Path) -> None:
    journal = start_journal(StateFolder(tmp_path))

    with journal.rendering(ONE, journal.digest({"v": 1})):
        content = (tmp_path / PAGE_FILE).read_bytes()

    assert ONE.encode() in content
    assert journal.digest({"v": 1}).encode() in content


class Precheck:
    """A process with limits that contents end, or not."""

    def __init__(self, ends_with: str | None = None) -> None:
        self._ends_with = ends_with
        self.tried = 0

    def check_jsx(self, text: str) -> None:
        raise AssertionError(text)

    def prove(self, source: Source, sidecar: Source | None, *_: object) -> None:
        self.tried += 1
        if sidecar is None and source.digest == self._ends_with:
            raise WidgetError(Finding(code="W1013", problem="it is", advice="shorten it"))


def test_suspect_that_ends_the_process_with_limits_is_refused_until_it_changes(
    state: StateFolder,
) -> None:
    text = widget_file()
    file = source("Greeting.widget", text)
    end_amid(state, file.digest)
    precheck = Precheck(file.digest)
    with pytest.raises(WidgetError, match="ends a process again"):
        Loader(tool_entry, journal=start_journal(state), precheck=precheck).load(file, None)
    loader = Loader(tool_entry, journal=start_journal(state), precheck=precheck)
    with pytest.raises(WidgetError) as caught:
        loader.load(file, None)

    assert str(caught.value) == (
        "Greeting.widget: widgetd was ended while it rendered this content, and its own sample "
        "ends a process again; change its template; any change has it tried again"
    )
    assert caught.value.finding.code == "W1012"
    assert precheck.tried == 1
    assert loader.load(source("Greeting.widget", text + " "), None).tool == "greeting"
    assert loader.load(file, source("Greeting.widget.toml", "title = 'Hi'")).tool == "greeting"


def test_passing_suspect_is_served_and_not_tried_again(state: StateFolder) -> None:
    file = source("Greeting.widget", widget_file())
    for _ in range(3):
        end_amid(state, file.digest)
    precheck = Precheck()
    for _ in range(2):
        loader = Loader(tool_entry, journal=start_journal(state), precheck=precheck)
        assert loader.load(file, None).tool == "greeting"

    assert precheck.tried == 3, "as a suspect, and for each of two loads"
