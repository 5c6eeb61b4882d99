"""What may be wrong with a feed that can be used all the same."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from widgetd.errors import Finding, nearest
from widgetd.widget.definition import Definition
from widgetd.widget.feed import Feed
from widgetd.widget.sidecar import SUFFIX


def unknown_upstream(
    feed: Feed, definition: Definition, upstreams: Collection[str]
) -> Iterator[Finding]:
    """The feed names an upstream that nobody declared."""
    name = feed.part.upstream
    if name not in upstreams:
        near = nearest(name, tuple(upstreams))
        yield Finding(
            code="W1601",
            path=definition.path + SUFFIX,
            at="/feed/upstream",
            problem=f"there is no upstream '{name}' in the upstreams file",
            advice=f"did you mean '{near}'?" if near else f"declare [{name}] there",
        )


def unknown_fields(feed: Feed, definition: Definition) -> Iterator[Finding]:
    """The feed fills what the schema does not know."""
    properties = feed.schema.advertised["properties"]
    for name in feed.part.map or ():
        if name not in properties:
            near = nearest(name, tuple(properties))
            yield Finding(
                code="W1603",
                path=definition.path + SUFFIX,
                at=f"/feed/map/{name}",
                problem=f"the feed fills '{name}', which the schema lacks",
                advice=f"did you mean '{near}'?" if near else "fill a field that it has",
            )
