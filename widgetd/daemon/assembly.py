"""The parts of a daemon, built from its settings. Nothing runs yet.

Every bad setting is refused here, before anything live is touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from widgetd.base.files.folder import OWN_FOLDER, bundled_folder
from widgetd.base.files.hints import Hints
from widgetd.daemon.access_policy import AccessPolicy, access_policy
from widgetd.daemon.loading import LoaderContext, configure_rules
from widgetd.daemon.systemd import Supervisor, supervisor
from widgetd.daemon.telemetry import is_wanted
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.server.mcp.builtin.operate import Operations
from widgetd.server.mcp.resources import Resources
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.mcp.sessions import SessionBounds
from widgetd.server.observe.limits import LIMITS as OBSERVE_LIMITS
from widgetd.server.observe.line_queue import LineQueue
from widgetd.server.observe.log_ring import LogRing
from widgetd.server.observe.observer import RecordDuration
from widgetd.server.observe.status import Health
from widgetd.server.observe.widget_warnings import WidgetWarnings
from widgetd.server.render.inline_images import InlineImages
from widgetd.server.render.result import Policy
from widgetd.server.render.view import view_html
from widgetd.server.store.contract import Bounds
from widgetd.server.store.factory import Store, open_store
from widgetd.server.web.http_server import most_connections
from widgetd.server.web.limits import LIMITS as WEB_LIMITS
from widgetd.server.web.metrics import Metrics
from widgetd.server.wing import Services, Wing, WingHost
from widgetd.settings import Settings, describe_settings, shows_examples

if TYPE_CHECKING:
    from widgetd.server.observe.audit import Audit
    from widgetd.server.store.delivery.forward import Forwarder


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The parts of every daemon.

    Attributes:
        folder: The widgets folder. It exists.
        audit: Records calls, None without an audit file.
        log_lines: Log lines waiting for their reader, None if a program around the daemon logs.
        operations: The source of answers of the toolset `operate`.
        stop: Ends the daemon when it is set.
    """

    settings: Settings
    folder: Path
    hints: Hints
    registry: Registry
    loading: LoaderContext
    health: Health
    metrics: Metrics
    access_policy: AccessPolicy
    audit: Audit | None
    supervisor: Supervisor
    log_lines: LineQueue | None
    operations: Operations
    stop: anyio.Event

    def tell_supervisor(self) -> None:
        """Report to the service manager the number of widgets served."""
        snapshot = self.registry.current
        self.supervisor.ready(
            f"widgets served: {len(snapshot.widgets)} "
            f"({len(snapshot.stale)} kept at last-good, {len(snapshot.refusals)} refused)"
        )


def prepare(
    settings: Settings,
    folder: Path,
    loading: LoaderContext,
    stop: anyio.Event,
    log: LogRing,
    *,
    log_lines: LineQueue | None = None,
) -> Runtime:
    """Build the parts of a daemon for `folder`, which exists.

    Raises:
        ConfigError: A token is missing or cannot be used.
    """
    registry, audit = Registry(), None
    if settings.audit is not None:
        from widgetd.server.observe.audit import Audit  # noqa: PLC0415 - most daemons have none

        audit = Audit(settings.audit, most_bytes=settings.audit_max_bytes, system=loading.system)
    stalled_s = max(OBSERVE_LIMITS.stalled_s, 3 * (settings.poll or 0))
    draw_limits, clock = loading.parser.enforced_limits, loading.system.clock
    health = Health(stalled_s=stalled_s, draw_limits=draw_limits, clock=clock)
    if loading.rollback is not None:
        health.rollback = loading.rollback.report
    return Runtime(
        settings=settings,
        folder=folder,
        hints=Hints(),
        registry=registry,
        loading=loading,
        health=health,
        metrics=Metrics(registry, health),
        access_policy=access_policy(settings),
        audit=audit,
        supervisor=supervisor(os.environ, os.getpid()),
        log_lines=log_lines,
        operations=Operations(
            registry=registry,
            health=health,
            log=log,
            audit=settings.audit,
            names=loading.reserved,
            sections={"toolsets": lambda: ["core", *settings.toolset]},
        ),
        stop=stop,
    )


def build_store(settings: Settings) -> AbstractAsyncContextManager[Store]:
    """Build the store of renders, actions, answers and limits, closed at the end of the block."""
    bounds = Bounds(
        rate_per_s=settings.rate,
        burst=settings.burst,
        at_once=settings.at_once,
        # Others keep half of the connections.
        waits=min(WEB_LIMITS.waits, (settings.connections or most_connections()) // 2),
    )
    return open_store(settings.store.get_secret_value() if settings.store else None, bounds=bounds)


def build_forwarder(settings: Settings, store: Store) -> Forwarder | None:
    """Build the forwarder of actions to the webhook, if there is a webhook."""
    if settings.webhook is None:
        return None
    # Imported late: most daemons have no webhook.
    from widgetd.server.store.delivery.forward import Forwarder  # noqa: PLC0415
    from widgetd.server.store.delivery.webhook import parse_webhook  # noqa: PLC0415

    secret = settings.webhook_secret.get_secret_value() if settings.webhook_secret else ""
    hook = parse_webhook(
        settings.webhook.get_secret_value(), secret, allow_private=settings.webhook_private
    )
    return Forwarder(store, hook)


def build_server(
    runtime: Runtime,
    store: Store,
    wings: Sequence[Wing[Any]],
    record_duration: RecordDuration | None = None,
) -> Server:
    """Build the MCP server.

    Args:
        runtime: The parts of the daemon.
        store: Keeps renders, actions, answers and limits.
        wings: All wings of the daemon.
        record_duration: Receives the duration of each request. None: nothing is measured.

    Raises:
        ConfigError: An installed library is not the tested version, or the tools of a wing cannot
            be chosen so.
    """
    settings = runtime.settings
    rows = [row for wing in wings for row in wing.tools_for(options_of(wing, settings))]
    options = ServerOptions(
        policy=Policy(
            profile=settings.profile,
            profiles=settings.profiles,
            text=settings.text,
            text_tokens=settings.text_tokens,
            strict=settings.strict,
            inline_max_bytes=settings.inline_max_bytes,
        ),
        expose=settings.expose,
        allow_unasked=settings.allow_unasked,
        app_tools=settings.app_tools,
        list_tokens=settings.list_tokens,
        formats=not settings.hide_formats,
        page_size=settings.page_size,
        resources=Resources(view_html(), settings.image_origin),
        images=InlineImages(settings.inline_image_origin),
        observers=(
            runtime.metrics,
            WidgetWarnings(settings.image_origin),
            *filter(None, [runtime.audit]),
        ),
        anonymous=runtime.access_policy.anonymous,
        sessions=SessionBounds(most=settings.sessions, per_principal=settings.sessions_each),
        journal=runtime.loading.journal,
        builtin=(*CORE_TOOLS, *OPERATE_TOOLS, *rows),
        reserved=runtime.operations.names,
        readable=[row for wing in wings for row in wing.resources],
        toolsets=settings.toolset,
        services={"operate": runtime.operations},
        traced=is_wanted(os.environ, "TRACES"),
        record_duration=record_duration,
        system=runtime.loading.system,
    )
    return build(runtime.registry, store, options, auth=runtime.access_policy.access)


@contextmanager
def open_wings(
    runtime: Runtime,
    server: Server,
    wings: Iterable[Wing[Any]],
    url: str = "",
    local_url: str = "",
) -> Iterator[Sequence[Services]]:
    """Yield the services of the wings switched on by settings, and close them at the end.

    Args:
        runtime: The parts of the daemon.
        server: Gets the services of their toolsets.
        wings: All wings of the daemon.
        url: The address of MCP for clients, empty over stdio.
        local_url: The address of MCP on this machine.

    Raises:
        ConfigError: A setting of a wing cannot be used, or an optional dependency is missing.
    """
    settings, loading = runtime.settings, runtime.loading
    begins = runtime.folder == bundled_folder() and shows_examples(settings)
    host = WingHost(
        server=server,
        folder=runtime.folder,
        upload_folder=OWN_FOLDER.absolute() if begins else runtime.folder,
        url=url,
        local_url=local_url,
        access=runtime.access_policy.access,
        loader=loading.loader,
        precheck=loading.parser,
        state=loading.state,
        hints=runtime.hints,
        health=runtime.health,
        metrics=runtime.metrics,
        rules=partial(configure_rules, settings),
        setting_texts=describe_settings(),
        sections=runtime.operations.sections,
        upload_observers=[part.on_upload for part in (runtime.metrics, runtime.audit) if part],
        stop=runtime.stop,
    )
    with ExitStack() as opened:
        for wing in wings:
            services = wing.open(options_of(wing, settings), host)
            if services is not None:
                opened.callback(services.close)
                host.services.append(services)
                server.services.update(services.toolsets())
        yield host.services


def options_of(wing: Wing[Any], settings: Settings) -> Any:
    return wing.options(**{row.name: getattr(settings, row.name) for row in fields(wing.options)})
