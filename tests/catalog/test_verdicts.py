"""What was proven is remembered, and never believed without digest, version and a whole line."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.making import source
from tests.serving import greeting, widget_file
from widgetd.catalog.registry import Registry
from widgetd.catalog.verdicts import FILE, Verdicts
from widgetd.errors import WidgetError
from widgetd.store.opening import local_store
from widgetd.tools.rendering import Rendering
from widgetd.tools.result import Policy
from widgetd.tools.tool import Toolbox
from widgetd.widget.compiled import Widget
from widgetd.widget.limits import Limits


def load(verdicts: Verdicts, text: str) -> Widget:
    toolbox = Toolbox(Rendering(Registry(), Policy(), local_store()), verdicts=verdicts)
    return toolbox.load(source("Greeting.widget", text), None, limits=Limits(), strict=False)


def parts(widget: Widget) -> set[str]:
    """Which parts were compiled."""
    return {"template", "schema", "facts"} & vars(widget).keys()


def test_a_file_proven_before_is_served_without_being_compiled(tmp_path: Path) -> None:
    first = load(Verdicts(tmp_path, "1"), widget_file())
    again = load(Verdicts(tmp_path, "1"), widget_file())

    assert parts(first) == {"template", "schema", "facts"}
    assert parts(again) == set()
    assert again.description == first.description
    assert again.call({"who": "Ada"}).tree == greeting("Hello", "Ada")


def test_another_content_is_proven_anew(tmp_path: Path) -> None:
    load(Verdicts(tmp_path, "1"), widget_file())

    assert parts(load(Verdicts(tmp_path, "1"), widget_file(text="Bye"))) != set()
    with pytest.raises(WidgetError):
        load(Verdicts(tmp_path, "1"), widget_file(template="{% if %}"))


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
