"""What was proven is remembered, and never believed without digest, version and a whole line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.making import source
from tests.serving import greeting, widget_file
from widgetd.catalog.loader import Loader
from widgetd.catalog.proof_cache import FILE, ROOM, ProofCache
from widgetd.errors import WidgetError
from widgetd.mcp.entry import tool_entry
from widgetd.widget.widget import Widget

TEMPLATE_THAT_FAILS = "{% if %}"


def load(
    proofs: ProofCache, text: str, *, path: str = "Greeting.widget", digest: str = ""
) -> Widget:
    file = source(path, text)
    file = replace(file, digest=digest or file.digest)
    return Loader(tool_entry, proofs=proofs).load(file, None)


def test_a_file_proven_before_is_served_without_being_looked_into(tmp_path: Path) -> None:
    first = load(ProofCache(tmp_path, "1"), widget_file())
    again = load(ProofCache(tmp_path, "1"), "no JSON at all", digest=first.key)

    assert (again.tool, again.description) == (first.tool, first.description)
    assert again.listing == first.listing


def test_a_widget_proven_before_is_compiled_when_it_is_called(tmp_path: Path) -> None:
    load(ProofCache(tmp_path, "1"), widget_file())

    assert load(ProofCache(tmp_path, "1"), widget_file()).call({"who": "Ada"}).tree == greeting(
        "Hello", "Ada"
    )


def test_another_content_is_proven_anew(tmp_path: Path) -> None:
    load(ProofCache(tmp_path, "1"), widget_file())

    with pytest.raises(WidgetError):
        load(ProofCache(tmp_path, "1"), widget_file(template=TEMPLATE_THAT_FAILS))


def test_another_path_is_proven_anew_for_it_may_name_the_widget(tmp_path: Path) -> None:
    load(ProofCache(tmp_path, "1"), widget_file("Untitled widget"), path="One.widget")

    assert (
        load(ProofCache(tmp_path, "1"), widget_file("Untitled widget"), path="Two.widget").tool
        == "two"
    )


def test_of_one_file_only_the_last_proof_is_kept(tmp_path: Path) -> None:
    for text in ("Hello", "Bye"):
        load(ProofCache(tmp_path, "1"), widget_file(text=text))

    kept = ProofCache(tmp_path, "1")
    assert len(kept) == 1
    assert load(kept, widget_file(text="Bye")).call({"who": "Ada"}).tree == greeting("Bye", "Ada")


def test_the_file_of_proofs_is_written_anew_before_it_grows_for_ever(tmp_path: Path) -> None:
    digest = load(ProofCache(tmp_path, "1"), widget_file()).key
    proofs = ProofCache(tmp_path, "1")
    proof = proofs.take("Greeting.widget", digest)
    assert proof is not None

    for _ in range(3 * ROOM):
        proofs.add("Greeting.widget", digest, proof)

    assert (tmp_path / FILE).read_bytes().count(b"\n") < 2 * ROOM
    assert len(ProofCache(tmp_path, "1")) == 1


def test_another_version_of_widgetd_believes_nothing(tmp_path: Path) -> None:
    load(ProofCache(tmp_path, "1"), widget_file())

    assert len(ProofCache(tmp_path, "2")) == 0


@pytest.mark.parametrize("keep", [0, 10, 40, -3])
def test_a_line_that_is_not_whole_is_not_believed(tmp_path: Path, keep: int) -> None:
    load(ProofCache(tmp_path, "1"), widget_file())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:keep])

    assert len(ProofCache(tmp_path, "1")) == 0


def test_a_line_that_somebody_changed_is_not_believed(tmp_path: Path) -> None:
    load(ProofCache(tmp_path, "1"), widget_file())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes().replace(b"Greeting", b"Treating"))

    assert len(ProofCache(tmp_path, "1")) == 0


def test_the_file_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    proofs = ProofCache(tmp_path, "1")
    load(proofs, widget_file())
    (tmp_path / FILE).unlink()

    load(proofs, widget_file(text="Bye"))
    assert len(ProofCache(tmp_path, "1")) == 1
