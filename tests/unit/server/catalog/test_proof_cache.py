"""Cache of proofs: each needs its digest, its version and a whole line."""

from __future__ import annotations

import base64
import resource
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.widgets import greeting, source, widget_file
from widgetd.base.errors import WidgetError
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.proof_cache import FILE, ProofCache
from widgetd.server.catalog.state import StateFolder, seal
from widgetd.server.render.entry import tool_entry

TEMPLATE_THAT_FAILS = "{% if %}"


def load(
    proofs: ProofCache, text: str, *, path: str = "Greeting.widget", digest: str = ""
) -> Widget:
    file = source(path, text)
    file = replace(file, digest=digest or file.digest)
    return Loader(tool_entry, proofs=proofs).load(file, None)


def test_proven_file_is_served_without_being_parsed(tmp_path: Path) -> None:
    first = load(ProofCache(StateFolder(tmp_path), "1"), widget_file())
    again = load(ProofCache(StateFolder(tmp_path), "1"), "no JSON at all", digest=first.key)

    assert (again.tool, again.description) == (first.tool, first.description)
    assert again.listing == first.listing


def test_proven_widget_is_compiled_at_its_first_call(tmp_path: Path) -> None:
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file())

    assert load(ProofCache(StateFolder(tmp_path), "1"), widget_file()).call(
        {"who": "Ada"}
    ).tree == greeting("Hello", "Ada")


LOSSY = '{"type":"Card","children":[{"type":"Text","value":{{ ((none)) | tojson }}}]}'


def test_choice_of_the_drawn_source_is_remembered(tmp_path: Path) -> None:
    view = "<Card><Text value={[who, who].join(', ')} /></Card>"
    package = base64.b64encode(orjson.dumps({"view": view, "defaultState": {"who": "Ada"}}))
    text = widget_file(template=LOSSY, encodedWidget=package.decode())
    first = load(ProofCache(StateFolder(tmp_path), "1"), text)
    again = load(ProofCache(StateFolder(tmp_path), "1"), text)

    assert (first.source, again.source) == ("view", "view")
    assert again.call({"who": "Eve"}).tree == {
        "type": "Card",
        "children": [{"type": "Text", "value": "Eve, Eve"}],
    }
    assert {"choice", "comparison", "template"}.isdisjoint(vars(again))


def test_changed_content_is_proven_again(tmp_path: Path) -> None:
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file())

    with pytest.raises(WidgetError):
        load(ProofCache(StateFolder(tmp_path), "1"), widget_file(template=TEMPLATE_THAT_FAILS))


def test_other_path_is_proven_again_because_it_may_name_the_widget(tmp_path: Path) -> None:
    untitled = widget_file("Untitled widget")
    load(ProofCache(StateFolder(tmp_path), "1"), untitled, path="One.widget")

    again = load(ProofCache(StateFolder(tmp_path), "1"), untitled, path="Two.widget")
    assert again.tool == "two"


def test_only_the_last_proof_of_a_file_is_stored(tmp_path: Path) -> None:
    for text in ("Hello", "Bye"):
        load(ProofCache(StateFolder(tmp_path), "1"), widget_file(text=text))

    cache = ProofCache(StateFolder(tmp_path), "1")
    assert len(cache) == 1
    assert load(cache, widget_file(text="Bye")).call({"who": "Ada"}).tree == greeting("Bye", "Ada")


def test_file_of_proofs_is_compacted_as_it_grows(tmp_path: Path) -> None:
    digest = load(ProofCache(StateFolder(tmp_path), "1"), widget_file()).key
    proofs = ProofCache(StateFolder(tmp_path), "1")
    proof = proofs.take("Greeting.widget", digest)
    assert proof is not None

    for _ in range(3 * LIMITS.proof_lines):
        proofs.add("Greeting.widget", digest, proof)
    assert (tmp_path / FILE).read_bytes().count(b"\n") < 2 * LIMITS.proof_lines

    for _ in range(3):
        started = ProofCache(StateFolder(tmp_path), "1")
        for _ in range(LIMITS.proof_lines - 1):
            started.add("Greeting.widget", digest, proof)
    assert (tmp_path / FILE).read_bytes().count(b"\n") < 2 * LIMITS.proof_lines
    assert len(ProofCache(StateFolder(tmp_path), "1")) == 1


def test_another_version_of_widgetd_ignores_all_proofs(tmp_path: Path) -> None:
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file())

    assert len(ProofCache(StateFolder(tmp_path), "2")) == 0


@pytest.mark.parametrize("keep", [0, 10, 40, -3])
def test_incomplete_line_is_ignored(tmp_path: Path, keep: int) -> None:
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:keep])

    assert len(ProofCache(StateFolder(tmp_path), "1")) == 0


def test_changed_line_is_not_believed(tmp_path: Path) -> None:
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes().replace(b"Greeting", b"Treating"))

    assert len(ProofCache(StateFolder(tmp_path), "1")) == 0


LINE = (
    ["1", "Greeting.widget", "d", ["Greeting", "greeting", "Greeting", ""], ["Says it.", "l", ""]],
    b'{"name":"greeting","inputSchema":{}}',
)
"""What stands in a line: the head, and the tool's entry in a list."""


def whole(*parts: bytes) -> bytes:
    """Make a whole line of any content."""
    line = b"\t".join(parts)
    return seal(line) + b"\n"


def count_believed(folder: Path, text: bytes) -> int:
    (folder / FILE).write_bytes(text)
    return len(ProofCache(StateFolder(folder), "1"))


@pytest.mark.parametrize(
    "head",
    [
        *(b"", b"\xff", b"{", b"null", b"3", b"{}", b"[]", b'"12345"', b"[" * 2000),
        *(orjson.dumps(LINE[0][:count]) for count in range(5)),
        orjson.dumps([*LINE[0], 1]),
        *(
            orjson.dumps([*LINE[0][:at], other, *LINE[0][at + 1 :]])
            for at in range(5)
            for other in (None, True, 7, {}, [], [1, 2], [1, 2, 3, 4], {"a": 1, "b": 2})
        ),
        orjson.dumps([*LINE[0][:3], ["Greeting", None, "Greeting", ""], LINE[0][4]]),
        orjson.dumps([*LINE[0][:3], LINE[0][3], ["Says it.", "l", 1]]),
    ],
)
def test_whole_line_without_a_proof_is_ignored(tmp_path: Path, head: bytes) -> None:
    assert count_believed(tmp_path, whole(orjson.dumps(LINE[0]), *LINE[1:])) == 1
    assert count_believed(tmp_path, whole(head, *LINE[1:])) == 0


@pytest.mark.parametrize(
    "entries",
    [
        (),
        (LINE[1], b""),
        (LINE[1], b"", b""),
        (LINE[1], LINE[1]),
        *((other,) for other in (b"", b"\xff", b"[]", b"{}", b'{"name":"greeting"}', b'{"na')),
        (b'{"name":"another","inputSchema":{}}',),
        (LINE[1] + b"]}",),
    ],
)
def test_line_with_an_entry_invalid_for_lists_is_ignored(
    tmp_path: Path, entries: tuple[bytes, ...]
) -> None:
    assert count_believed(tmp_path, whole(orjson.dumps(LINE[0]), *entries)) == 0


@given(
    text=st.binary()
    | st.binary().map(whole)
    | st.lists(st.binary()).map(lambda parts: whole(*parts))
)
def test_any_content_of_the_file_of_proofs_is_survived(text: bytes) -> None:
    with TemporaryDirectory() as folder:
        assert count_believed(Path(folder), text) == 0


def test_torn_line_does_not_damage_later_ones(tmp_path: Path) -> None:
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file(), path="A.widget")
    with (tmp_path / FILE).open("ab") as file:
        file.write(b"cut sh")
    load(ProofCache(StateFolder(tmp_path), "1"), widget_file("Other"), path="B.widget")

    assert len(ProofCache(StateFolder(tmp_path), "1")) == 2


def test_line_without_room_leaves_no_part_behind(tmp_path: Path) -> None:
    proofs = ProofCache(StateFolder(tmp_path), "1")
    load(proofs, widget_file(), path="A.widget")
    before = (tmp_path / FILE).read_bytes()
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 100, hard))
    try:
        load(proofs, widget_file("Other"), path="B.widget")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))

    assert (tmp_path / FILE).read_bytes() == before


def test_file_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    proofs = ProofCache(StateFolder(tmp_path), "1")
    load(proofs, widget_file())
    (tmp_path / FILE).unlink()

    load(proofs, widget_file(text="Bye"))
    assert len(ProofCache(StateFolder(tmp_path), "1")) == 1
