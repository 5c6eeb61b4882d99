"""What was proven is remembered, and never believed without digest, version and a whole line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.making import source
from tests.serving import greeting, widget_file
from widgetd.catalog.proof_cache import FILE, ROOM, Verdicts
from widgetd.catalog.registry import Registry
from widgetd.errors import WidgetError
from widgetd.limits import Limits
from widgetd.mcp.calls import Rendering
from widgetd.mcp.result import Policy
from widgetd.mcp.tool import Toolbox
from widgetd.store.factory import local_store
from widgetd.widget.widget import Widget

TEMPLATE_THAT_FAILS = "{% if %}"


def load(
    verdicts: Verdicts, text: str, *, path: str = "Greeting.widget", digest: str = ""
) -> Widget:
    toolbox = Toolbox(Rendering(Registry(), Policy(), local_store()), verdicts=verdicts)
    file = source(path, text)
    file = replace(file, digest=digest or file.digest)
    return toolbox.load(file, None, limits=Limits(), strict=False)


def test_a_file_proven_before_is_served_without_being_looked_into(tmp_path: Path) -> None:
    first = load(Verdicts(tmp_path, "1"), widget_file())
    again = load(Verdicts(tmp_path, "1"), "no JSON at all", digest=first.key)

    assert (again.tool, again.description) == (first.tool, first.description)
    assert again.listing == first.listing


def test_a_widget_proven_before_is_compiled_when_it_is_called(tmp_path: Path) -> None:
    load(Verdicts(tmp_path, "1"), widget_file())

    assert load(Verdicts(tmp_path, "1"), widget_file()).call({"who": "Ada"}).tree == greeting(
        "Hello", "Ada"
    )


def test_another_content_is_proven_anew(tmp_path: Path) -> None:
    load(Verdicts(tmp_path, "1"), widget_file())

    with pytest.raises(WidgetError):
        load(Verdicts(tmp_path, "1"), widget_file(template=TEMPLATE_THAT_FAILS))


def test_another_path_is_proven_anew_for_it_may_name_the_widget(tmp_path: Path) -> None:
    load(Verdicts(tmp_path, "1"), widget_file("Untitled widget"), path="One.widget")

    assert (
        load(Verdicts(tmp_path, "1"), widget_file("Untitled widget"), path="Two.widget").tool
        == "two"
    )


def test_of_one_file_only_the_last_verdict_is_kept(tmp_path: Path) -> None:
    for text in ("Hello", "Bye"):
        load(Verdicts(tmp_path, "1"), widget_file(text=text))

    kept = Verdicts(tmp_path, "1")
    assert len(kept) == 1
    assert load(kept, widget_file(text="Bye")).call({"who": "Ada"}).tree == greeting("Bye", "Ada")


def test_the_file_of_verdicts_is_written_anew_before_it_grows_for_ever(tmp_path: Path) -> None:
    digest = load(Verdicts(tmp_path, "1"), widget_file()).key
    verdicts = Verdicts(tmp_path, "1")
    verdict = verdicts.take("Greeting.widget", digest)
    assert verdict is not None

    for _ in range(3 * ROOM):
        verdicts.add("Greeting.widget", digest, verdict)

    assert (tmp_path / FILE).read_bytes().count(b"\n") < 2 * ROOM
    assert len(Verdicts(tmp_path, "1")) == 1


def test_another_version_of_widgetd_believes_nothing(tmp_path: Path) -> None:
    load(Verdicts(tmp_path, "1"), widget_file())

    assert len(Verdicts(tmp_path, "2")) == 0


@pytest.mark.parametrize("keep", [0, 10, 40, -3])
def test_a_line_that_is_not_whole_is_not_believed(tmp_path: Path, keep: int) -> None:
    load(Verdicts(tmp_path, "1"), widget_file())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes()[:keep])

    assert len(Verdicts(tmp_path, "1")) == 0


def test_a_line_that_somebody_changed_is_not_believed(tmp_path: Path) -> None:
    load(Verdicts(tmp_path, "1"), widget_file())
    file = tmp_path / FILE
    file.write_bytes(file.read_bytes().replace(b"Greeting", b"Treating"))

    assert len(Verdicts(tmp_path, "1")) == 0


def test_the_file_may_be_deleted_at_any_time(tmp_path: Path) -> None:
    verdicts = Verdicts(tmp_path, "1")
    load(verdicts, widget_file())
    (tmp_path / FILE).unlink()

    load(verdicts, widget_file(text="Bye"))
    assert len(Verdicts(tmp_path, "1")) == 1
