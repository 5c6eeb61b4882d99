"""Generations are kept within limits, stored once per content, and never believed blindly."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.logs import captured_logs
from tests.support.widgets import snapshot_of, source, widget, widget_file
from widgetd.catalog.limits import LIMITS
from widgetd.catalog.snapshot import Snapshot
from widgetd.catalog.state import StateFolder, seal
from widgetd.catalog.versions import CONTENTS, LOG, Version, Versions
from widgetd.files.source import Source


def saved(*texts: str) -> tuple[Snapshot, dict[str, Source]]:
    """Build a snapshot of widgets A, B, ... with these texts, and the folder's files."""
    names = [chr(ord("A") + number) for number in range(len(texts))]
    sources = {
        f"{name}.widget": source(f"{name}.widget", widget_file(name, text=text))
        for name, text in zip(names, texts, strict=True)
    }
    widgets = [widget(name, text=text) for name, text in zip(names, texts, strict=True)]
    return snapshot_of(*widgets), sources


def record(versions: Versions, *texts: str) -> str:
    snapshot, sources = saved(*texts)
    versions.record(snapshot, sources)
    return snapshot.generation


def texts_of(versions: Versions, generation: str) -> list[bytes]:
    pairs = [versions.sources(*each) for each in versions.files(generation).items()]
    return [pair[0].content for pair in pairs if pair is not None]


def expected(*texts: str) -> list[bytes]:
    return [one.content for one in saved(*texts)[1].values()]


def test_each_generation_is_restored_and_unchanged_files_are_stored_once(tmp_path: Path) -> None:
    versions = Versions(StateFolder(tmp_path))
    folders = [("1", "x"), ("2", "x"), ("2",), ("1", "x"), ("3", "x")]
    generations = [record(versions, *texts) for texts in folders]

    again = Versions(StateFolder(tmp_path))
    assert [one.generation for one in again.latest()] == generations
    for texts, generation in zip(folders, generations, strict=True):
        assert texts_of(again, generation) == expected(*texts)
    assert len(list((tmp_path / CONTENTS).iterdir())) == len({"1", "2", "3", "x"})
    assert again.latest()[1].tools == ("~a",)


def test_restart_adds_no_generation_of_its_own(tmp_path: Path) -> None:
    for _ in range(3):
        record(Versions(StateFolder(tmp_path)), "1", "x")

    assert len(Versions(StateFolder(tmp_path)).latest()) == 1


def test_generations_and_contents_stay_within_their_limits(tmp_path: Path) -> None:
    versions = Versions(StateFolder(tmp_path))
    count = 3 * LIMITS.versions
    generations = [record(versions, str(number), "x") for number in range(count)]

    listed = versions.latest()
    assert [one.generation for one in listed] == generations[-LIMITS.versions :]
    assert texts_of(versions, listed[0].generation) == expected(str(count - LIMITS.versions), "x")
    assert len(list((tmp_path / CONTENTS).iterdir())) <= 2 * LIMITS.versions + 2
    assert len((tmp_path / LOG).read_bytes().splitlines()) <= 2 * LIMITS.versions


def cut(log: bytes) -> bytes:
    return log[:-3]


def change(log: bytes) -> bytes:
    return log.replace(b'"widgets":2', b'"widgets":9', 2)


def drop_first(log: bytes) -> bytes:
    return log.partition(b"\n")[2]


def add_foreign(log: bytes) -> bytes:
    return b"\x00\xff\n{}\n" + log + b"what is this\n"


@pytest.mark.parametrize(
    ("harm", "left"), [(cut, 2), (change, 0), (drop_first, 0), (add_foreign, 3)]
)
def test_damaged_lines_are_skipped_with_their_successors(
    tmp_path: Path, harm: object, left: int
) -> None:
    assert callable(harm)
    versions = Versions(StateFolder(tmp_path))
    for number in range(3):
        record(versions, str(number), "x")
    log = tmp_path / LOG
    log.write_bytes(harm(log.read_bytes()))

    harmed = Versions(StateFolder(tmp_path))
    assert len(harmed.latest()) == left
    newest = record(harmed, "new", "y")
    assert texts_of(Versions(StateFolder(tmp_path)), newest) == expected("new", "y")


def test_changed_content_is_not_believed(tmp_path: Path) -> None:
    versions = Versions(StateFolder(tmp_path))
    generation = record(versions, "1")
    [content] = (tmp_path / CONTENTS).iterdir()
    content.write_bytes(content.read_bytes().replace(b"1", b"2"))

    assert texts_of(Versions(StateFolder(tmp_path)), generation) == []


@pytest.mark.parametrize("in_the_way", [LOG, CONTENTS])
def test_unwritable_state_costs_history_and_one_event(tmp_path: Path, in_the_way: str) -> None:
    place = tmp_path / in_the_way
    if in_the_way == LOG:
        place.mkdir()
    else:
        place.write_text("something else")
    versions = Versions(StateFolder(tmp_path))
    with captured_logs() as events:
        for number in range(3):
            record(versions, str(number))
        if place.is_dir():
            place.rmdir()
        else:
            place.unlink()
        newest = record(versions, "last")

    assert events.names() == ["state.failed", "state.recovered"]
    assert [one.generation for one in versions.latest()] == [newest]
    assert texts_of(versions, newest) == expected("last")
    assert isinstance(versions.latest()[0], Version)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text("+ab"),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=8,
)


@st.composite
def harmed_lines(draw: st.DrawFn, line: bytes) -> bytes:
    """Draw what may stand in place of a line, with a checksum that is right."""
    written = orjson.loads(line.partition(b"\t")[2])
    names = st.sampled_from(sorted(written))
    others = draw(st.dictionaries(names, JSON, max_size=3))
    lacking = draw(st.sets(names, max_size=1))
    whole = {name: value for name, value in (written | others).items() if name not in lacking}
    body = draw(st.just(orjson.dumps(whole)) | JSON.map(orjson.dumps) | st.binary())
    body = body.replace(b"\n", b"")
    return seal(body) + b"\n"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_recorded_generation_is_recalled_from_any_list(tmp_path: Path, data: st.DataObject) -> None:
    with TemporaryDirectory(dir=tmp_path) as folder:
        state = StateFolder(Path(folder))
        record(Versions(state), "1")
        log = Path(folder) / LOG
        log.write_bytes(data.draw(harmed_lines(log.read_bytes())))

        recalled = Versions(state).recall("A.widget")
        assert recalled is None or [recalled[0].content] == expected("1")
        record(Versions(state), "2")
        again = Versions(state).recall("A.widget")
        assert again is not None
        assert [again[0].content] == expected("2")
