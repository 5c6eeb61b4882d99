"""The wishes in sidecars, in people's words, checked against the search index."""

from __future__ import annotations

from collections.abc import Iterator

from widgetd.base.errors import Finding
from widgetd.base.text_search import did_you_mean
from widgetd.core.widget.naming import slugify, stem
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.search.search import Search

AMONG = 3
"""A model can be expected to choose among so many hits."""


def check_wishes(widget: Widget, snapshot: Snapshot, search: Search) -> Iterator[Finding]:
    """Yield unknown names in `never` (W1626), and wishes that miss the widget (W1627, W1628)."""
    definition = widget.definition
    path, sidecar = definition.path + SUFFIX, definition.sidecar
    # A broken file keeps its name: its own fault says enough.
    names = snapshot.widgets.keys() | {slugify(stem(path)) for path in snapshot.faults}
    for at, name in enumerate(sidecar.never):
        if name not in names:
            yield Finding(
                code="W1626",
                path=path,
                at=f"/never/{at}",
                problem=f"there is no widget '{name:.60}'",
                advice=did_you_mean(name, names, "`widgetd list` names what there is"),
            )
    for at, wish in enumerate(sidecar.wishes):
        hits, _ = search.find(snapshot, wish, AMONG)
        tools = [hit.widget.tool for hit in hits]
        if widget.tool not in tools:
            code, problem = "W1627", f"'{wish:.80}' finds {', '.join(tools) or 'nothing'}"
        elif tools[0] in sidecar.never:
            code, problem = "W1628", f"'{wish:.80}' finds {tools[0]} first"
        else:
            continue
        advice = "add its words to keywords or to the description"
        if tools and (text := search.best_text(snapshot, wish, tools[0])):
            advice += f"; {tools[0]} has '{text}'"
        yield Finding(code=code, path=path, at=f"/wishes/{at}", problem=problem, advice=advice)
