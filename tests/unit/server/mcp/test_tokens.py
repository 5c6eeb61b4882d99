"""Tokens of a result stay few in profile `split`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from json import dumps
from typing import Any

import pytest

from tests.support.daemons import needs_wings
from tests.support.widgets import bundled_widgets
from widgetd.base.files.folder import bundled_folder
from widgetd.cli import main
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Entry, Snapshot
from widgetd.server.render.tokens import table, tokens_of_result

WIDGETS = bundled_widgets()
SERVED = Snapshot.empty().with_changes(
    {
        widget.definition.path: Entry(path=widget.definition.path, key=widget.key, widget=widget)
        for widget in WIDGETS
    }
)


NEEDED = {
    "choice_form": {"question"},
    "error_notice": {"error"},
    "file_upload": {"purpose"},
    "lead_form": {"purpose"},
    "product_detail": {"title"},
    "product_grid": {"topProducts"},
    "success_notice": {"message"},
}
"""Facts without which a model cannot say what was shown."""


def cases() -> Iterator[Any]:
    for widget in WIDGETS:
        studio = widget.definition.studio
        assert studio is not None
        yield pytest.param(widget, studio.default_state, id=f"{widget.tool}-sample")
        for example in widget.definition.sidecar.examples:
            yield pytest.param(widget, example.arguments, id=f"{widget.tool}-{example.name}")
        yield pytest.param(widget, fullest(widget), id=f"{widget.tool}-fullest")


def fullest(widget: Widget) -> dict[str, Any]:
    """Return every argument of the sample and the examples, each with its longest value."""
    full: dict[str, Any] = {}
    for arguments in widget.examples:
        for name, value in arguments.items():
            full[name] = max(full.get(name, value), value, key=lambda one: len(dumps(one)))
    return full


@pytest.mark.parametrize(("widget", "arguments"), list(cases()))
def test_every_example_of_a_bundled_widget_costs_under_100_tokens_in_profile_split(
    widget: Widget, arguments: Mapping[str, Any]
) -> None:
    assert tokens_of_result(widget, SERVED, arguments, "split") < 100


@pytest.mark.parametrize(("widget", "arguments"), list(cases()))
def test_every_result_has_one_summary_of_25_tokens_and_the_facts_of_its_question(
    widget: Widget, arguments: Mapping[str, Any]
) -> None:
    facts = widget.summary.facts(arguments, widget.summary.text(arguments))

    assert 0 < len(facts["summary"]) <= 100
    assert facts.keys() >= NEEDED.get(widget.tool, set())
    for product in facts.get("topProducts", ()):
        assert product.keys() == {"id", "title", "price"}
    if "topProducts" in facts and arguments["products"]:
        assert facts["priceRange"].keys() == {"min", "max", "currency"}
        assert facts.get("categories", []) == arguments.get("categories", [])[:2]


@needs_wings
def test_guide_for_developers_shows_the_total_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    guide = (bundled_folder().parent / "docs" / "developers.md").read_text(encoding="utf-8")
    section = guide.partition("\n## What it costs a model\n")[2].partition("\n## ")[0]

    assert main(["list", "--tokens", "--dir", str(bundled_folder())]) == 0

    assert capsys.readouterr().out.splitlines()[-1] in section


def test_table_has_a_row_for_each_widget() -> None:
    *lines, _, total = table(SERVED).splitlines()

    assert lines[0].split() == ["widget", "tool", "chatkit", "split", "full"]
    assert [line.split()[0] for line in lines[1:]] == [widget.tool for widget in WIDGETS]
    cost, parts = re.fullmatch(r"27 tools cost ([\d,]+) tokens: (.*)", total).groups()  # type: ignore[union-attr]
    numbers = [int(part.split()[1].replace(",", "")) for part in parts.split(", ")]
    assert sum(numbers) == int(cost.replace(",", "")) <= 8_000
