"""Each file in `tests/widgets/bad` is wrong in one way, and says so in the words beside it."""

from __future__ import annotations

from hashlib import blake2b
from pathlib import Path

import pytest

from widgetd.base.errors import Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.core.checks.rules import check_widget
from widgetd.server.catalog.loader import load
from widgetd.server.mcp.builtin import CORE_TOOLS
from widgetd.server.render.entry import tool_entry

FOLDER = Path(__file__).parents[3] / "widgets" / "bad"
BAD = sorted(FOLDER.glob("*.widget"))


def source_at(path: Path) -> Source | None:
    if not path.exists():
        return None
    content = path.read_bytes()
    return Source(path=path.name, content=content, digest=blake2b(content).hexdigest())


def findings_of(path: Path) -> list[Finding]:
    file = source_at(path)
    assert file is not None
    try:
        widget = load(file, source_at(path.with_name(path.name + ".toml")))
        tool_entry(widget, reserved={tool.name for tool in CORE_TOOLS})
    except WidgetError as error:
        return [error.finding]
    return list(check_widget(widget))


def file_messages(path: Path) -> str:
    return "".join(f"{finding.code} {finding}\n" for finding in findings_of(path))


@pytest.mark.parametrize("path", BAD, ids=[path.stem for path in BAD])
def test_bad_widget_is_explained_in_exactly_these_words(path: Path) -> None:
    assert file_messages(path) == path.with_suffix(".txt").read_text(encoding="utf-8")
