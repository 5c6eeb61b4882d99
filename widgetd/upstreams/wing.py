"""The wing `upstreams`: other servers as sources of widgets, declared in a file."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from widgetd.server.wing import Wing, WingHost
from widgetd.upstreams import toolset
from widgetd.upstreams.toolset import UpstreamServices


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamOptions:
    """The settings of this wing."""

    upstreams: Path | None


class UpstreamsWing(Wing[UpstreamOptions]):
    """Feeds and bound actions of widgets, and tools to show and call upstreams."""

    options = UpstreamOptions
    tools = toolset.TOOLS

    def open(self, options: UpstreamOptions, host: WingHost) -> UpstreamServices | None:
        if options.upstreams is None:
            return None
        server, metrics = host.server, host.metrics
        services = UpstreamServices.from_file(options.upstreams, server.store.answers, metrics)
        upstreams, feeds = services.upstreams, services.feeds
        metrics.watch_upstreams(upstreams.availability)
        host.health.upstreams = upstreams.required_counts
        host.health.upstream_states = upstreams.describe_states
        server.rendering.feeds = feeds
        server.actions = upstreams
        # Imported late: most daemons have no upstreams.
        from widgetd.upstreams.live import LiveFeeds  # noqa: PLC0415

        live = LiveFeeds(
            feeds=feeds,
            rendering=server.rendering,
            renders=server.store.renders,
            registry=server.registry,
        )
        feeds.live = live.following
        return replace(services, live=live)
