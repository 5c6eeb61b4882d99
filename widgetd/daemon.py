"""Own every lifetime: what starts, in which order, how it ends.

    watch -> hints -> reload -> registry -> notify
                                   |
                     server: http or stdio

One task group holds the loops and the server. A signal sets events; each part
ends by itself, and cancellation is the backstop.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

import anyio
import structlog
from anyio.abc import TaskGroup

from widgetd.catalog.copies import Copies
from widgetd.catalog.observer import Observer
from widgetd.catalog.registry import Registry
from widgetd.catalog.reload import Folder, Workshop, reload
from widgetd.catalog.selection import Selection
from widgetd.catalog.snapshot import Snapshot
from widgetd.catalog.verdicts import Verdicts
from widgetd.config import Settings
from widgetd.entry import Entry, entry
from widgetd.errors import ConfigError
from widgetd.files.hints import Hints
from widgetd.files.watch import POLL_S, Mode, watch
from widgetd.pages.app import MCP_PATH, app
from widgetd.pages.gallery.gallery import Gallery
from widgetd.pages.gallery.history import remember
from widgetd.pages.gallery.problems import Problems
from widgetd.pages.gallery.routes import gallery_routes
from widgetd.pages.guard import guarded
from widgetd.pages.health import STALLED_S, Vitals, health_routes
from widgetd.pages.metrics import Metrics, metrics_app, metrics_route
from widgetd.pages.port import Port, bind, url_of
from widgetd.pages.render import render_route
from widgetd.pages.status import status_route
from widgetd.pages.view import view_html
from widgetd.store.contract import Store
from widgetd.store.forward import Forwarding
from widgetd.store.opening import local_store, open_store
from widgetd.store.values import Bounds
from widgetd.store.webhook import webhook
from widgetd.systemd import Supervisor, supervisor
from widgetd.tools import sdk
from widgetd.tools.audit import Audit
from widgetd.tools.notify import notify
from widgetd.tools.principal import ADMIN, GALLERY, METRICS
from widgetd.tools.resources import Resources
from widgetd.tools.result import Policy
from widgetd.tools.server import Server, Terms, build
from widgetd.tracing import tracing
from widgetd.widget.limits import Limits

_log = structlog.get_logger()

Started = Callable[[str, int], None]
"""Told once, when clients can come: the URL (empty over stdio) and the number of widgets."""


@dataclass(slots=True, kw_only=True)
class Daemon:
    """The parts, made but not yet running.

    Attributes:
        settings: What the operator chose.
        folder: The widgets folder; it exists.
        hints: Where the folder may have changed.
        registry: What is being served.
        vitals: What the daemon knows of itself.
        metrics: Counts what happens.
        entry: Who may come in.
        audit: Writes down who called what; None where nobody asked for it.
        supervisor: The service manager that may have started it.
        stop: Set to end everything.
    """

    settings: Settings
    folder: Path
    hints: Hints
    registry: Registry
    vitals: Vitals
    metrics: Metrics
    entry: Entry
    audit: Audit | None
    supervisor: Supervisor
    stop: anyio.Event

    def tell_supervisor(self) -> None:
        """Say that clients can come, and what they will find."""
        snapshot = self.registry.current
        self.supervisor.ready(
            f"widgets served: {len(snapshot.widgets)} "
            f"({len(snapshot.stale)} kept at last-good, {len(snapshot.refused)} refused)"
        )


async def serve(
    settings: Settings, folder: Path, *, started: Started, stop: anyio.Event | None = None
) -> None:
    """Serve `folder` until a signal comes, or until stdin ends over stdio.

    Args:
        settings: What the operator chose.
        folder: The widgets folder; it exists.
        started: Told once, when clients can come.
        stop: Set it to end the daemon as a signal would.

    Raises:
        ConfigError: The port cannot be had, a token is missing or cannot be used, or an installed
            library is not the one tested.
    """
    registry = Registry()
    vitals = Vitals(stalled_s=max(STALLED_S, 3 * (settings.poll or 0)))
    daemon = Daemon(
        settings=settings,
        folder=folder,
        hints=Hints(),
        registry=registry,
        vitals=vitals,
        metrics=Metrics(registry, vitals),
        entry=entry(settings),
        audit=_audit(settings),
        supervisor=supervisor(os.environ, os.getpid()),
        stop=stop or anyio.Event(),
    )
    async with AsyncExitStack() as held:
        held.enter_context(tracing(os.environ))
        # Whatever may be refused is refused here, before anything runs.
        store = await held.enter_async_context(_open_store(settings))
        forwarding = _forwarding(settings, store)
        server = _build(daemon, forwarding.store if forwarding else store)
        if settings.transport == "stdio":
            run = partial(_over_stdio, daemon, server, started)
        else:
            listener = held.enter_context(bind(settings.host, settings.port))
            aside = settings.metrics_port
            scraped = None if aside is None else held.enter_context(bind(settings.host, aside))
            run = partial(_over_http, daemon, server, started, listener, scraped)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_obey_signals, daemon)
            if daemon.audit is not None:
                tasks.start_soon(daemon.audit.write)
            tasks.start_soon(daemon.supervisor.feed, daemon.vitals.progressing, daemon.stop)
            if forwarding is not None:
                tasks.start_soon(forwarding.forward)
            async with _live(daemon, server):
                # Ten thousand widgets are millions of objects that stay; a collector that walks
                # all of them stops the loop for half a second.
                gc.freeze()
                await run()
            tasks.cancel_scope.cancel()
    _log.info("daemon.stopped")


def _audit(settings: Settings) -> Audit | None:
    if settings.audit is None:
        return None
    return Audit(settings.audit, most_bytes=settings.audit_max_bytes)


def _open_store(settings: Settings) -> AbstractAsyncContextManager[Store]:
    bounds = Bounds(rate_per_s=settings.rate, burst=settings.burst, at_once=settings.at_once)
    return open_store(settings.store, bounds=bounds)


def _forwarding(settings: Settings, store: Store) -> Forwarding | None:
    if settings.webhook is None:
        return None
    said = settings.webhook_secret
    secret = "" if said is None else said.get_secret_value()
    hook = webhook(settings.webhook, secret, allow_private=settings.webhook_private)
    return Forwarding(store, hook)


async def _over_http(
    daemon: Daemon,
    server: Server,
    started: Started,
    listener: socket.socket,
    scraped: socket.socket | None,
) -> None:
    settings = daemon.settings
    guard = partial(guarded, server, daemon.entry.access)
    gallery = _gallery(daemon, server, url_of(listener) + MCP_PATH)
    shown = gallery_routes(gallery) if settings.gallery else []
    measured = [metrics_route(daemon.metrics)] if scraped is None else []
    served = app(
        server,
        [
            *health_routes(daemon.registry, daemon.vitals),
            render_route(server),
            *guard({ADMIN}, [status_route(daemon.registry, daemon.vitals)]),
            *guard({ADMIN, METRICS}, measured),
            *guard({ADMIN, GALLERY}, shown),
        ],
        allowed_hosts=settings.allowed_host,
        cors_origins=settings.cors_origin,
    )
    sdk.own_the_shutdown()
    sessions = partial(sdk.open_sessions, served, MCP_PATH)
    daemon.metrics.watch_number("sessions", "Sessions of legacy clients.", sessions)
    listeners = partial(len, server.clients)
    daemon.metrics.watch_number("listeners", "Clients that are told of changes.", listeners)

    def announce() -> None:
        _announce(daemon, started, url_of(listener) + MCP_PATH)

    def end_streams() -> None:
        server.store.actions.drain()
        server.clients.close()
        sdk.end_standing_streams(served, MCP_PATH)

    port = Port(served, after_start=announce, before_end=end_streams)
    ports = {port: listener}
    if scraped is not None:
        ports[Port(metrics_app(daemon.metrics))] = scraped
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_ports, daemon, ports)
        if settings.gallery:
            tasks.start_soon(remember, daemon.registry, gallery.history)
        async with anyio.create_task_group() as serving:
            for each, on in ports.items():
                serving.start_soon(each.serve, [on])
        tasks.cancel_scope.cancel()


def _gallery(daemon: Daemon, server: Server, url: str) -> Gallery:
    settings = daemon.settings
    return Gallery(
        server=server,
        folder=daemon.folder,
        upload=settings.allow_upload,
        strict=settings.strict,
        url=url,
        image_origins=settings.image_origin,
        stop=daemon.stop,
        problems=Problems(daemon.folder),
    )


async def _end_ports(daemon: Daemon, ports: Iterable[Port]) -> None:
    await daemon.stop.wait()
    daemon.vitals.draining = True
    daemon.supervisor.stopping()
    for port in ports:
        port.end()


async def _over_stdio(daemon: Daemon, server: Server, started: Started) -> None:
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_cancel_on_stop, daemon, tasks)
        _announce(daemon, started, "")
        await server.mcp.run_stdio_async(show_banner=False)
        tasks.cancel_scope.cancel()


async def _cancel_on_stop(daemon: Daemon, tasks: TaskGroup) -> None:
    await daemon.stop.wait()
    tasks.cancel_scope.cancel()


def _live(daemon: Daemon, server: Server) -> AbstractAsyncContextManager[None]:
    return live(
        server,
        daemon.settings,
        daemon.folder,
        hints=daemon.hints,
        vitals=daemon.vitals,
        stop=daemon.stop,
        observer=daemon.metrics,
    )


def _build(daemon: Daemon, store: Store) -> Server:
    settings = daemon.settings
    terms = Terms(
        policy=Policy(
            profile=settings.profile,
            profiles=settings.profiles,
            text=settings.text,
            strict=settings.strict,
            inline_max_bytes=settings.inline_max_bytes,
        ),
        expose=settings.expose,
        page_size=settings.page_size,
        resources=Resources(view_html(), settings.image_origin),
        verdicts=_verdicts(settings),
        observers=(daemon.metrics, *([daemon.audit] if daemon.audit else [])),
        otherwise=daemon.entry.otherwise,
    )
    return build(daemon.registry, store, terms, auth=daemon.entry.access)


def _verdicts(settings: Settings) -> Verdicts | None:
    """What was proven before, where there is a folder to remember it in."""
    folder = settings.state_dir
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"{folder} cannot be made ({error.strerror})"
        raise ConfigError("W0006", problem, "name another with --state-dir", exit_code=3) from None
    return Verdicts(folder, _version(settings))


def _copies(settings: Settings) -> Copies | None:
    """What was served before, where there is a folder to keep it in."""
    return None if settings.state_dir is None else Copies(settings.state_dir, _version(settings))


def _version(settings: Settings) -> str:
    """Of all that decides whether a file can be served."""
    return f"{version('widgetd')} strict={settings.strict}"


@asynccontextmanager
async def live(
    server: Server,
    settings: Settings,
    folder: Path,
    *,
    hints: Hints,
    vitals: Vitals,
    stop: anyio.Event,
    observer: Observer | None = None,
) -> AsyncIterator[None]:
    """Keep what `server` serves equal to `folder`; entered once the first survey is done.

    Args:
        server: Whose registry is kept, and whose clients are told.
        settings: What the operator chose.
        folder: The widgets folder; it exists.
        hints: Add to it to have the folder looked at.
        vitals: Is told how it goes.
        stop: Ends the watching.
        observer: Is told how the reloading goes.
    """
    registry = server.registry
    workshop = replace(workshop_for(settings, folder, server), copies=_copies(settings))
    surveyed = anyio.Event()

    def looked() -> None:
        vitals.looked()
        surveyed.set()

    async with anyio.create_task_group() as tasks:
        looking = partial(reload, workshop, hints, registry, looked=looked, observer=observer)
        tasks.start_soon(looking)
        await surveyed.wait()
        telling = partial(
            notify,
            registry,
            server.clients,
            listed=server.listed,
            observers=server.observers,
        )
        tasks.start_soon(telling)
        watching = partial(
            watch,
            poll_s=settings.poll or POLL_S,
            native=settings.poll is None,
            observer=_Watching(vitals),
            stop=stop,
        )
        tasks.start_soon(watching, folder, hints)
        yield
        tasks.cancel_scope.cancel()


def workshop_for(settings: Settings, folder: Path, server: Server) -> Workshop:
    """How the files of `folder` become widgets that `server` can list."""
    limits = Limits()
    return Workshop(
        root=folder,
        make=partial(server.toolbox.load, limits=limits, strict=settings.strict),
        limit_bytes=limits.file_bytes,
        selection=Selection(
            include=frozenset(settings.include), exclude=frozenset(settings.exclude)
        ),
        settings=f"strict={settings.strict} include={settings.include} exclude={settings.exclude}",
    )


def look(settings: Settings, folder: Path) -> Snapshot:
    """What would be served of `folder` as it is now; found by the same loader, serving nobody."""
    server = build(Registry(), local_store())
    workshop = workshop_for(settings, folder, server)
    return Folder(replace(workshop, quiet_ms=0)).look()


class _Watching:
    """Tells operators and probes how the watching goes."""

    def __init__(self, vitals: Vitals) -> None:
        self._vitals = vitals

    def watching(self, mode: Mode) -> None:
        self._vitals.watch = mode

    def failed(self, error: Exception) -> None:
        _log.warning("watch.failed", error=str(error), kind=type(error).__name__)


def _announce(daemon: Daemon, started: Started, url: str) -> None:
    widgets = len(daemon.registry.current.widgets)
    daemon.tell_supervisor()
    _log.info("daemon.started", url=url, widgets=widgets, transport=daemon.settings.transport)
    started(url, widgets)


async def _obey_signals(daemon: Daemon) -> None:
    """SIGTERM and SIGINT end the daemon; SIGHUP makes it look at everything, tokens too."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for received in signals:
            if received == signal.SIGHUP:
                daemon.supervisor.reloading()
                if daemon.entry.access is not None:
                    daemon.entry.access.reread()
                daemon.vitals.on_next_look(daemon.tell_supervisor)
                daemon.hints.add()
            else:
                daemon.stop.set()
