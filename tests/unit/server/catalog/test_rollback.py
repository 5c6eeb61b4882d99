"""A rollback that cannot be served changes nothing, and its files are those of widgetd's user."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.logs import captured_logs
from tests.unit.server.catalog.test_versions import record, saved
from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import load
from widgetd.server.catalog.rollback import FILE, Rollback, write_request
from widgetd.server.catalog.state import StateFolder


def refuse(source: Source, _sidecar: Source | None) -> Widget:
    raise WidgetError(Finding(code="W1101", problem="no", advice="none", path=source.path))


def test_generation_refused_now_leaves_the_folder_served(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    rollback = Rollback(state, refuse)
    good, _ = record(rollback.versions, "good"), record(rollback.versions, "bad")
    folder, _ = saved("bad")
    write_request(state, good)

    with captured_logs() as events:
        chosen = [rollback.choose(folder, settled=True) for _ in range(3)]

    assert chosen == [folder] * 3
    assert events.names() == ["rollback.refused"]
    assert rollback.report() is None
    assert not (tmp_path / FILE).exists()


def test_refused_generation_leaves_an_earlier_rollback_served(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    rollback = Rollback(state, load)
    good, _ = record(rollback.versions, "good"), record(rollback.versions, "bad")
    folder, _ = saved("bad")
    write_request(state, good)
    served = rollback.choose(folder, settled=True)
    write_request(state, "unknown")

    assert rollback.choose(folder, settled=True) is served
    assert served.generation == good
    active = rollback.report()
    assert active is not None
    assert active["generation"] == good


@pytest.mark.parametrize("content", [b"", b"\x00\xff", b"[]", b'{"generation": 5}', b" " * 5000])
def test_foreign_request_is_ignored_with_at_most_one_event(tmp_path: Path, content: bytes) -> None:
    rollback = Rollback(StateFolder(tmp_path), load)
    record(rollback.versions, "good")
    folder, _ = saved("good")
    (tmp_path / FILE).write_bytes(content)

    with captured_logs() as events:
        chosen = [rollback.choose(folder, settled=True) for _ in range(3)]

    assert chosen == [folder] * 3
    assert len(events.names()) <= 1


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root, who may write for another user")
def test_request_written_by_root_belongs_to_the_owner_of_the_state(tmp_path: Path) -> None:
    os.chown(tmp_path, 4711, 4711)

    assert write_request(StateFolder(tmp_path), "generation")
    assert ((tmp_path / FILE).stat().st_uid, (tmp_path / FILE).stat().st_gid) == (4711, 4711)
