"""Drafts are checked as files of the same content, and none is stored."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.support.widgets import snapshot_of
from widgetd.author.guide.drafts import DRAFT, Drafts
from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.core.checks.rules import check_widget
from widgetd.daemon.wings import admit
from widgetd.server.catalog.loader import Loader

BAD = sorted((Path(__file__).parents[3] / "widgets" / "bad").glob("*.widget"))
GOOD: dict[str, Any] = {
    "version": "1.0",
    "name": "Parcel",
    "template": '{"type": "Card", "children": [{"type": "Text", "value": {{ status | tojson }}}]}',
    "jsonSchema": {
        "type": "object",
        "properties": {"status": {"type": "string"}},
        "required": ["status"],
    },
}


def readable() -> list[Path]:
    """Those that a draft can be: JSON objects."""
    paths = []
    for path in BAD:
        try:
            content = orjson.loads(path.read_bytes())
            if isinstance(content, dict) and "version" in content:  # a draft gets one
                paths.append(path)
        except orjson.JSONDecodeError:
            continue
    return paths


@pytest.mark.parametrize("path", readable(), ids=lambda path: path.stem)
def test_draft_has_the_findings_of_a_file_with_its_content(path: Path) -> None:
    content = orjson.loads(path.read_bytes())
    beside = path.with_name(f"{path.name}.toml")
    sidecar = beside.read_bytes() if beside.exists() else b""
    try:
        text = sidecar.decode()
    except UnicodeDecodeError:
        pytest.skip("no text can be such a sidecar")
    source = Source.of(DRAFT, orjson.dumps(content))
    try:
        widget = Loader(admit).load(
            source, Source.of(f"{DRAFT}.toml", sidecar) if sidecar else None
        )
        expected = [(finding.code, finding.problem) for finding in check_widget(widget)]
    except WidgetError as error:
        expected = [(error.finding.code, error.finding.problem)]

    findings = Drafts(admit).check(content, text).findings

    assert sorted((one.code, one.problem) for one in findings) == sorted(expected)


def test_good_draft_is_rendered_with_token_counts() -> None:
    preview = Drafts(admit).preview(GOOD, "", {"status": "Here"}, snapshot_of())

    assert preview["tool"] == "parcel"
    assert preview["tree"]["children"] == [{"type": "Text", "value": "Here"}]
    assert preview["tokens"]["tool"] > 0
    assert "error" not in preview


def test_invalid_arguments_are_an_error_beside_the_findings() -> None:
    refused = Drafts(admit).preview(GOOD, "", {"status": []}, snapshot_of())

    assert refused["error"].startswith("[W2002]")
    assert refused["tool"] == "parcel"


def test_fault_in_the_template_has_line_and_column() -> None:
    broken = {**GOOD, "template": '{"type": "Card",\n  "children": [{{ status | nosuch }}]}'}

    [row] = Drafts(admit).check(broken, "").rows()

    assert (row["level"], row["at"], row["line"]) == ("fault", "/template", 2)
    assert row["file"] == "widget"


def test_fault_in_the_sidecar_names_the_sidecar() -> None:
    [row] = Drafts(admit).check(GOOD, 'description = "A."\nzzz = 1').rows()

    assert (row["file"], row["code"], row["line"]) == ("sidecar", "W1112", 2)


@pytest.mark.parametrize("widget", [{"a": 2**70}, {"a": "x" * 300_000}])
def test_content_invalid_for_any_file_is_a_finding(widget: dict[str, Any]) -> None:
    [row] = Drafts(admit).check(widget, "").rows()

    assert row["level"] == "fault"


STATE = """
description = "Show a parcel. Use it for deliveries."
[state]
far = false
[local."map.zoom"]
far = "payload.far"
"""


def test_preview_takes_local_actions_before_it_draws() -> None:
    template = GOOD["template"].replace("status |", "(status ~ (' far' if far else '')) |")
    ask = partial(Drafts(admit).preview, {**GOOD, "template": template}, STATE, {"status": "At"})
    actions = [{"action": "map.zoom", "payload": {"far": True}}]

    first, zoomed = ask(snapshot_of()), ask(snapshot_of(), taken=actions)
    unknown = ask(snapshot_of(), taken=[{"action": "map.zom"}])

    assert (first["tree"]["children"][0]["value"], first["state"]) == ("At", {"far": False})
    assert (zoomed["tree"]["children"][0]["value"], zoomed["state"]) == ("At far", {"far": True})
    assert unknown["error"] == "[W2401] no local action is 'map.zom'; did you mean 'map.zoom'?"


def test_every_attack_and_bad_widget_stays_within_the_limits_of_a_draft() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.unit.author.guide.draft_attacks"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    tried = done.stdout.splitlines()

    assert done.returncode == 0, (tried[-1:], done.stderr[-2000:])
    assert tried[-1] == f"done: {len(tried) - 1}"
    assert len(tried) - 1 > 60
