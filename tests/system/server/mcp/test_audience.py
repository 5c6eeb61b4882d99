"""Snapshots of an audience hold neither hidden widgets nor their faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.daemons import needs_wings, serving
from tests.support.widgets import build_widget, snapshot_of, widget_file
from tests.system.server.web.asking import ask
from widgetd.base.errors import Finding
from widgetd.server.access.principal import MAX_VIEWS, Audience, PerAudience, SnapshotViews
from widgetd.server.catalog.snapshot import Selection

ALL, SOME, NAMED = "sees-all-sees-all-sees", "sees-some-sees-some", "sees-named-sees-named"
TOKENS = f"""
all    {ALL}    gallery widgets:elevated
some   {SOME}   gallery
named  {NAMED}  gallery include=open
"""
FILES = {
    "A.widget": widget_file("Open"),
    "Broken.widget": "{",
    "Described.widget": "{",
    "Described.widget.toml": 'permission = "elevated"',
    "Other/Open.widget": widget_file("Open"),
}


@needs_wings
@pytest.mark.parametrize(
    ("token", "names"),
    [
        (ALL, {"Broken.widget", "Described.widget", "Other/Open.widget"}),
        (SOME, {"Broken.widget", "Other/Open.widget"}),
        (NAMED, {"Other/Open.widget"}),
    ],
)
async def test_fault_of_a_never_valid_file_is_shown_to_callers_that_see_every_possible_tool(
    tmp_path: Path, token: str, names: set[str]
) -> None:
    folder, tokens = tmp_path / "widgets", tmp_path / "tokens"
    (folder / "Other").mkdir(parents=True)
    tokens.write_text(TOKENS)
    for name, text in FILES.items():
        (folder / name).write_text(text)
    async with serving(folder, token_file=tokens, gallery=True) as url:
        page = await ask(url, "/", authorization=f"Bearer {token}")

    broken = {"Broken.widget", "Described.widget", "Other/Open.widget"}
    assert {name for name in broken if name in page.text} == names


def test_fault_of_a_hidden_widget_is_hidden_with_it() -> None:
    fault = Finding(code="W1001", path="Secret.widget", at="", problem="p", advice="a")
    secret = build_widget("Secret", sidecar='permission = "elevated"')
    whole = snapshot_of(build_widget("Open"), secret, faults={"Secret.widget": fault})
    views = SnapshotViews()

    everything, others = Audience(), Audience(elevated=False)

    assert views.of(whole, everything) is whole
    assert set(views.of(whole, others).widgets) == {"open"}
    assert dict(views.of(whole, others).faults) == {}


def test_view_of_an_audience_is_built_once() -> None:
    before, after = (
        snapshot_of(build_widget("Open")),
        snapshot_of(build_widget("Open"), build_widget("Secret")),
    )
    audience = Audience(selection=Selection(include=frozenset({"open"})))
    views = SnapshotViews()

    views_now = views.of(before, audience), views.of(after, audience)

    assert (views.of(before, audience), views.of(after, audience)) == views_now
    assert views.of(after, audience) is views_now[1]


def test_views_of_the_audiences_used_longest_ago_are_dropped() -> None:
    served, views = snapshot_of(build_widget("Open"), build_widget("Secret")), SnapshotViews()
    audiences = [
        Audience(selection=Selection(include=frozenset({"open", f"tag_{number}"})))
        for number in range(MAX_VIEWS + 1)
    ]

    first, *_, last = [views.of(served, audience) for audience in audiences]

    assert views.of(served, audiences[-1]) is last
    assert views.of(served, audiences[0]) is not first
    assert views.of(served, audiences[0]).widgets.keys() == {"open"}


def test_values_that_were_made_elsewhere_are_dropped_as_well() -> None:
    values: PerAudience[str] = PerAudience(str, 2)
    for audience in "abc":
        values.keep(audience, "made elsewhere")

    assert [audience in values for audience in "abc"] == [False, True, True]
    assert values.of("b") == "made elsewhere"
    assert values.of("a") == "a"
    assert "c" not in values
