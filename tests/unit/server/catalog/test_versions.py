"""Generations are kept within limits, stored once per content, and never believed blindly."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from itertools import accumulate
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from threading import Thread

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.logs import captured_logs
from tests.support.widgets import build_widget, snapshot_of, source, widget_file
from widgetd.base.files.source import Source
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.catalog.state import StateFolder, seal, unseal
from widgetd.server.catalog.versions import CONTENTS, LOG, Version, Versions


def saved(*texts: str) -> tuple[Snapshot, dict[str, Source]]:
    """Build a snapshot of widgets A, B, ... with these texts, and the folder's files."""
    names = [chr(ord("A") + number) for number in range(len(texts))]
    sources = {
        f"{name}.widget": source(f"{name}.widget", widget_file(name, text=text))
        for name, text in zip(names, texts, strict=True)
    }
    widgets = [build_widget(name, text=text) for name, text in zip(names, texts, strict=True)]
    return snapshot_of(*widgets), sources


def record(versions: Versions, *texts: str) -> str:
    snapshot, sources = saved(*texts)
    versions.record(snapshot, sources)
    return snapshot.generation


def texts_of(versions: Versions, generation: str) -> list[bytes]:
    pairs = [versions.sources(*each) for each in sorted(versions.files(generation).items())]
    return [pair[0].content for pair in pairs if pair is not None]


def expected(*texts: str) -> list[bytes]:
    return [one.content for one in saved(*texts)[1].values()]


def is_end(line: bytes) -> bool:
    """Return whether a line ends a generation."""
    return b'"generation"' in line


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
    lines = (tmp_path / LOG).read_bytes().splitlines()
    assert sum(map(is_end, lines)) <= 2 * LIMITS.versions
    assert len(lines) <= 4 * LIMITS.versions + 2


FOLDERS = [("1", "x", "p"), ("2", "x", "p"), ("2", "y", "p"), ("2", "y"), ("3", "y")]
"""Texts of the widgets of five generations."""

Harm = Callable[[bytes, int], bytes]


def flip(log: bytes, place: int) -> bytes:
    return log[:place] + bytes([log[place] ^ 1]) + log[place + 1 :]


def cut_short(log: bytes, place: int) -> bytes:
    return log[:place]


def insert_break(log: bytes, place: int) -> bytes:
    return log[:place] + b"\n" + log[place:]


def find_harmed(harm: Harm, log: bytes, place: int) -> list[bytes]:
    """Return the lines that a harm damages; the break between two belongs to both."""
    lines = log.splitlines(keepends=True)
    ends = list(accumulate(map(len, lines)))
    at = bisect_right(ends, place)
    is_break = place + 1 == ends[at]
    if harm is flip:
        return lines[at : at + 1 + is_break]
    if harm is cut_short:
        return lines[at + is_break :]
    return [] if is_break or place in (0, *ends) else [lines[at]]


def files_of(line: bytes) -> dict[str, str | None]:
    files: dict[str, str | None] = orjson.loads(line.partition(b"\t")[2]).get("files", {})
    return files


@pytest.mark.parametrize("harm", [flip, cut_short, insert_break])
def test_damage_costs_what_the_damaged_lines_say_and_nothing_else(
    tmp_path: Path, harm: Harm
) -> None:
    versions = Versions(StateFolder(tmp_path))
    generations = [record(versions, *texts) for texts in FOLDERS]
    whole = {generation: versions.files(generation) for generation in generations}
    log = (tmp_path / LOG).read_bytes()

    breaks = [place for place, byte in enumerate(log) if byte == ord("\n")]
    for place in {*range(0, len(log), 17), *breaks}:
        (tmp_path / LOG).write_bytes(harm(log, place))
        harmed, read = find_harmed(harm, log, place), Versions(StateFolder(tmp_path))
        lost = [change for line in harmed for change in files_of(line).items()]
        for path, key in whole[generations[-1]].items():
            is_known = read.recall(path) == versions.sources(path, key)
            assert is_known or (path, key) in lost
        kept = {one.generation: read.files(one.generation) for one in read.latest()}
        assert kept == {generation: whole[generation] for generation in kept}
        for generation in whole.keys() - kept.keys():
            assert any(
                generation.encode() in line
                or any(whole[generation].get(path) == key for path, key in files_of(line).items())
                for line in harmed
            )


def test_next_start_writes_what_damage_has_cost(tmp_path: Path) -> None:
    for texts in FOLDERS:
        record(Versions(StateFolder(tmp_path)), *texts)
    lines = (tmp_path / LOG).read_bytes().splitlines(keepends=True)

    for number in range(len(lines)):
        rest = [*lines[:number], b"damaged\n", *lines[number + 1 :]]
        (tmp_path / LOG).write_bytes(b"".join(rest))
        last = record(Versions(StateFolder(tmp_path)), *FOLDERS[-1])
        newest = record(Versions(StateFolder(tmp_path)), "new", "y")

        read = Versions(StateFolder(tmp_path))
        assert texts_of(read, newest) == expected("new", "y")
        assert is_end(lines[number]) or texts_of(read, last) == expected(*FOLDERS[-1])


def test_two_processes_never_spoil_the_generations_of_each_other(tmp_path: Path) -> None:
    writers = [Versions(StateFolder(tmp_path)) for _ in range(2)]
    random, texts = Random(0), {}
    for number in range(5 * LIMITS.versions):
        folder = (str(number), str(random.randrange(3)), "x")[: random.randint(1, 3)]
        texts[record(random.choice(writers), *folder)] = folder

    for reader in (*writers, Versions(StateFolder(tmp_path))):
        names = [version.generation for version in reader.latest()]
        assert names == list(texts)[-LIMITS.versions :]
        assert all(texts_of(reader, name) == expected(*texts[name]) for name in names)


def test_processes_that_write_at_once_write_one_after_the_other(tmp_path: Path) -> None:
    def write(first: int) -> None:
        versions = Versions(StateFolder(tmp_path))
        for number in range(first, first + LIMITS.versions):
            record(versions, str(number), "x")

    threads = [Thread(target=write, args=(number * 1000,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    read = Versions(StateFolder(tmp_path))
    assert len(read.latest()) == LIMITS.versions
    files = [read.files(version.generation) for version in read.latest()]
    assert all(len(each) == 2 and read.list_lost(each) == [] for each in files)
    assert all(unseal(line) for line in (tmp_path / LOG).read_bytes().splitlines())


def test_process_that_keeps_the_lock_costs_history_and_one_event(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    versions = Versions(state)
    with captured_logs() as events:
        with StateFolder(tmp_path).hold_lock(LOG):
            record(versions, "1")
        assert versions.latest() == []
        newest = record(versions, "2")

    assert events.names() == ["state.failed", "state.recovered"]
    assert events.all[0]["problem"] == "Another process is writing to it"
    assert texts_of(versions, newest) == expected("2")


def chain(*generations: Mapping[str, str | None]) -> list[bytes]:
    """Write generations as widgetd 0.3 did: a line has the hash of the one before it."""
    lines: list[bytes] = []
    for number, files in enumerate(generations):
        after = lines[-1].partition(b"\t")[0].decode() if lines else ""
        about = {"generation": str(number), "since": 1.5, "widgets": 2, "tools": ["~a"]}
        lines.append(seal(orjson.dumps(about | {"after": after, "files": files})) + b"\n")
    return lines


def test_generations_of_0_3_are_read_and_continued(tmp_path: Path) -> None:
    versions = Versions(StateFolder(tmp_path))
    first, second = record(versions, "1", "x"), record(versions, "2")
    whole = [versions.files(first), versions.files(second)]
    log = tmp_path / LOG
    log.write_bytes(b"".join(chain(whole[0], {**whole[1], "B.widget": None}, whole[0])))

    assert [one.generation for one in versions.latest()] == ["0", "1", "2"]
    assert [versions.files(name) for name in "012"] == [*whole, whole[0]]
    for number in range(3 * LIMITS.versions):
        newest = record(versions, str(number), "new")
        assert texts_of(versions, newest) == expected(str(number), "new")
    assert len(versions.latest()) == LIMITS.versions


def test_generation_of_0_3_is_whole_only_after_all_lines_before_it(tmp_path: Path) -> None:
    versions = Versions(StateFolder(tmp_path))
    files = versions.files(record(versions, "1", "x"))
    lines = chain(files, {"A.widget": None}, {"C.widget": files["A.widget"]})
    (tmp_path / LOG).write_bytes(lines[0] + lines[2])

    assert [one.generation for one in versions.latest()] == ["0"]
    assert versions.recall("C.widget") is not None


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
def harmed_lines(draw: st.DrawFn, log: bytes) -> bytes:
    """Draw a log with something else in place of a line, with a checksum that is right."""
    lines = log.splitlines(keepends=True)
    line = draw(st.sampled_from(lines))
    written = orjson.loads(line.partition(b"\t")[2])
    names = st.sampled_from(sorted(written))
    others = draw(st.dictionaries(names, JSON, max_size=3))
    lacking = draw(st.sets(names, max_size=1))
    whole = {name: value for name, value in (written | others).items() if name not in lacking}
    body = draw(st.just(orjson.dumps(whole)) | JSON.map(orjson.dumps) | st.binary())
    body = body.replace(b"\n", b"")
    return log.replace(line, seal(body) + b"\n")


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
