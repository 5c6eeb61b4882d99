"""Snapshots of an audience hold neither hidden widgets nor their faults."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.daemons import serving
from tests.support.widgets import snapshot_of, widget, widget_file
from tests.system.web.asking import ask
from widgetd.access.principal import Audience, SnapshotViews
from widgetd.catalog.snapshot import Selection
from widgetd.errors import Finding

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
    secret = widget("Secret", sidecar='permission = "elevated"')
    whole = snapshot_of(widget("Open"), secret, faults={"Secret.widget": fault})
    views = SnapshotViews()

    everything, others = Audience(), Audience(elevated=False)

    assert views.of(whole, everything) is whole
    assert set(views.of(whole, others).widgets) == {"open"}
    assert dict(views.of(whole, others).faults) == {}


def test_view_of_an_audience_is_built_once() -> None:
    before, after = snapshot_of(widget("Open")), snapshot_of(widget("Open"), widget("Secret"))
    audience = Audience(selection=Selection(include=frozenset({"open"})))
    views = SnapshotViews()

    views_now = views.of(before, audience), views.of(after, audience)

    assert (views.of(before, audience), views.of(after, audience)) == views_now
    assert views.of(after, audience) is views_now[1]
