"""All lifetimes of the daemon: which parts start, in which order, and how they end.

    watch -> hints -> reload -> registry -> notify
                                   |
                     server: http or stdio

One task group holds the loops and the server. A signal sets events, on which each part
ends; cancellation is the backstop.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio

from widgetd.base.logs import get_logger
from widgetd.base.system import System
from widgetd.base.tasks import while_running
from widgetd.daemon import watchdog
from widgetd.daemon.assembly import (
    Runtime,
    build_forwarder,
    build_server,
    build_store,
    open_wings,
    prepare,
)
from widgetd.daemon.limits import LIMITS
from widgetd.daemon.loading import LoaderContext, build_catalog, build_loader
from widgetd.daemon.reloading import reloading
from widgetd.daemon.startup import gc_tuned
from widgetd.daemon.stdin import endable_stdin
from widgetd.daemon.systemd import inherited_listener
from widgetd.daemon.telemetry import exporting
from widgetd.server.access.auth import build_refusal_counter, is_loopback
from widgetd.server.access.links import Links
from widgetd.server.access.principal import LOCAL
from widgetd.server.mcp import sdk
from widgetd.server.mcp.request_guard import reject_duplicate_keys
from widgetd.server.mcp.server import Server
from widgetd.server.observe.line_queue import LineQueue
from widgetd.server.observe.log_ring import LogRing
from widgetd.server.web.app import MCP_PATH, app
from widgetd.server.web.guard import Guard
from widgetd.server.web.http_server import HttpServer, bind, most_connections, url_of
from widgetd.server.web.limits import HttpLimits
from widgetd.server.web.link_listener import LinkListener
from widgetd.server.web.page import PageRoute
from widgetd.server.web.pages import METRICS_PAGE, PROBES, Daemon, daemon_routes, metrics_app
from widgetd.server.web.see import See, see_app, see_routes
from widgetd.server.web.traffic import Traffic
from widgetd.server.wing import Services, Wing
from widgetd.settings import Settings

if TYPE_CHECKING:
    from widgetd.server.store.delivery.forward import Forwarder

_log = get_logger()

Started = Callable[[str, int], None]
"""Called once clients are served, with the URL (empty over stdio) and the number of widgets."""


async def serve(
    settings: Settings,
    folder: Path,
    *,
    started: Started,
    wings: Sequence[Wing[Any]] = (),
    loading: LoaderContext | None = None,
    stop: anyio.Event | None = None,
    watched: bool = False,
    log: LogRing | None = None,
    log_lines: LineQueue | None = None,
) -> None:
    """Serve `folder` until a signal comes, or until stdin ends over stdio.

    Args:
        settings: The operator's.
        folder: The widgets folder; it exists.
        started: Called once clients are served.
        wings: Optional parts.
        loading: The loader, if the caller has built it already.
        stop: Ends the daemon as a signal does.
        watched: Whether the watchdog may end this process if its loop stands still.
        log: The latest log events, if the caller records them.
        log_lines: The queue of log lines, if the caller has configured the log.

    Raises:
        ConfigError: The port is taken, a token is missing or cannot be used, or an installed
            library is not the tested version.
    """
    sys.setswitchinterval(LIMITS.switch_s)
    loading = loading or build_loader(settings, folder, wings, System())
    log = LogRing() if log is None else log
    runtime = prepare(settings, folder, loading, stop or anyio.Event(), log, log_lines=log_lines)
    async with AsyncExitStack() as held:
        held.callback(loading.parser.close)
        record_duration = held.enter_context(exporting(os.environ))
        # Everything that may be refused comes before anything runs.
        store = await held.enter_async_context(build_store(settings))
        forwarding = build_forwarder(settings, store)
        server = build_server(runtime, store, wings, record_duration)
        if settings.transport == "stdio":
            services = held.enter_context(open_wings(runtime, server, wings))
            run = partial(_serve_stdio, runtime, server, started)
        else:
            listener = held.enter_context(
                inherited_listener(os.environ, os.getpid()) or bind(settings.host, settings.port)
            )
            host, aside = settings.host, settings.metrics_port
            metrics_listener = None if aside is None else held.enter_context(bind(host, aside))
            url = runtime.access_policy.set_base_url(settings, url_of(listener))
            addresses = (url + MCP_PATH, url_of(listener) + MCP_PATH)
            services = held.enter_context(open_wings(runtime, server, wings, *addresses))
            run = partial(
                _serve_http,
                runtime,
                server,
                services,
                started,
                url=url,
                forwarding=forwarding,
                listener=listener,
                metrics_listener=metrics_listener,
            )
        loading.journal.open()
        if watched:
            held.enter_context(watchdog.arm())
            _log.info(
                "watchdog.armed",
                remembers=loading.state is not None,
                draw_limits=runtime.health.draw_limits(),
            )
        if runtime.audit is not None:
            held.enter_context(runtime.audit.running())
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_obey_signals, runtime, services)
            if watched:
                tasks.start_soon(watchdog.beat)
            for task in chain.from_iterable(part.tasks() for part in services):
                tasks.start_soon(task)
            tasks.start_soon(
                runtime.supervisor.keep_alive, runtime.health.is_progressing, runtime.stop
            )
            if forwarding is not None:
                tasks.start_soon(forwarding.forward)
            async with AsyncExitStack() as alive:
                proofs, rollback = loading.proofs, loading.rollback
                with (
                    gc_tuned(),
                    loading.loader.using_proofs(proofs.take if proofs else None),
                ):
                    reloads = reloading(
                        server,
                        settings,
                        build_catalog(
                            settings,
                            folder,
                            loading.loader.load,
                            rollback=rollback,
                            system=loading.system,
                        ),
                        hints=runtime.hints,
                        health=runtime.health,
                        stop=runtime.stop,
                        observer=runtime.metrics,
                        rollback=rollback,
                        system=loading.system,
                    )
                    await alive.enter_async_context(reloads)
                if proofs is not None:
                    proofs.end()
                await run()
            if forwarding is not None:
                with anyio.move_on_after(LIMITS.webhook_drain_s):
                    await forwarding.finish()
            tasks.cancel_scope.cancel()
    _log.info("daemon.stopped")


async def _serve_http(
    runtime: Runtime,
    server: Server,
    services: Sequence[Services],
    started: Started,
    *,
    url: str,
    forwarding: Forwarder | None,
    listener: socket.socket,
    metrics_listener: socket.socket | None,
) -> None:
    settings = runtime.settings
    guard = Guard(server, runtime.access_policy.access)
    daemon = Daemon(server=server, health=runtime.health, metrics=runtime.metrics)
    routes = daemon_routes(daemon, guard, metrics=metrics_listener is None)
    routes += _link_routes(runtime, server, url)
    for part in services:
        routes += part.routes(guard)
    access = runtime.access_policy.access
    served = app(server, routes, allowed_hosts=settings.hosts, cors_origins=settings.cors_origin)
    if settings.public_url:
        # Imported late: most daemons have no public address.
        from widgetd.server.web.server_card import with_discovery  # noqa: PLC0415

        sdk.put_before(served, partial(with_discovery, public_url=settings.public_url))
    traffic = Traffic(log=settings.access_log)
    sdk.put_before(served, lambda inner: traffic.around(inner, served.routes))
    sdk.disable_sse_drain()
    _watch_counters(runtime, server, forwarding, traffic)

    announced = anyio.Event()

    def announce() -> None:
        _announce(runtime, started, url_of(listener) + MCP_PATH)
        announced.set()

    def end_streams() -> None:
        server.store.actions.drain()
        server.end_streams()

    if access is not None:
        access.watch(server.end_streams)
    limits = HttpLimits(
        header_s=settings.header_s,
        body_s=settings.body_s,
        connections=settings.connections or most_connections(),
    )
    port = HttpServer(
        served, limits=limits, probes=PROBES, after_start=announce, before_end=end_streams
    )
    ports = {port: listener}
    if metrics_listener is not None:
        metrics = HttpServer(metrics_app(daemon), limits=limits, probes=[METRICS_PAGE.path])
        ports[metrics] = metrics_listener
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_end_ports, runtime, ports)
        tasks.start_soon(_start_late, services, announced)
        async with anyio.create_task_group() as serving:
            for http_server, its_listener in ports.items():
                serving.start_soon(http_server.serve, [its_listener])
        tasks.cancel_scope.cancel()


def _link_routes(runtime: Runtime, server: Server, url: str) -> list[PageRoute]:
    settings, policy = runtime.settings, runtime.access_policy
    if settings.links == "never":
        return []
    is_local = is_loopback(settings.host)
    origin = settings.public_url or (url if is_local else "")
    links = Links(
        origin=lambda: origin,
        anonymous=policy.anonymous,
        signed=bool(settings.public_url) or policy.access is not None or not is_local,
        access=policy.access,
    )
    server.rendering.links = links
    return see_routes(See(server=server, links=links))


async def _start_late(services: Iterable[Services], announced: anyio.Event) -> None:
    await announced.wait()
    with gc_tuned():
        for part in services:
            await part.start_late()


def _watch_counters(
    runtime: Runtime, server: Server, forwarding: Forwarder | None, traffic: Traffic
) -> None:
    metrics, store = runtime.metrics, server.store
    audit, access = runtime.audit, runtime.access_policy.access
    number, count, counts = metrics.watch_number, metrics.watch_count, metrics.watch

    if server.sessions is not None:
        number("sessions", "Sessions of legacy clients.", server.sessions.count)
    number("listeners", "Clients that listen for changes.", partial(len, server.clients))
    number("unread_actions", "Unread actions kept in this process.", store.unread)
    away = "Whether the shared store does not answer."
    number("store_degraded", away, lambda: store.mode() == "degraded")
    waiting = "Actions that wait for the webhook."
    number("webhook_waiting", waiting, lambda: forwarding.waiting if forwarding else 0)
    failures = "Actions that never reached the webhook."
    count("webhook_failures", failures, lambda: forwarding.failures if forwarding else 0)
    for name, queue in (("audit", audit and audit.lines), ("log", runtime.log_lines)):
        lost = f"{name.capitalize()} lines lost for lack of room."
        count(f"{name}_lost", lost, partial(getattr, queue, "lost", 0))
    count("store_skipped", "Entries of the shared store that could not be read.", store.skipped)
    refused = access.refused if access else build_refusal_counter()
    for name, meaning, labels, counted in (
        ("http_requests", "Requests by route.", ("route", "method", "status"), traffic.requests),
        ("http_request_bytes", "Bytes of bodies by route.", ("route",), traffic.received_bytes),
        ("http_response_bytes", "Bytes of bodies by route.", ("route",), traffic.sent_bytes),
        ("refused_logins", "Requests without a valid token.", ("reason",), refused),
    ):
        counts(name, meaning, labels, partial(_by_labels, counted))


def _by_labels(counted: Mapping[Any, int]) -> dict[tuple[str, ...], int]:
    return {
        tuple(map(str, key)) if isinstance(key, tuple) else (key,): count
        for key, count in list(counted.items())
    }


async def _end_ports(runtime: Runtime, ports: Iterable[HttpServer]) -> None:
    await runtime.stop.wait()
    runtime.health.draining = True
    runtime.supervisor.stopping()
    for port in ports:
        port.end()


async def _serve_stdio(runtime: Runtime, server: Server, started: Started) -> None:
    try:
        async with AsyncExitStack() as held:
            end = held.enter_context(endable_stdin(reject_duplicate_keys))
            await held.enter_async_context(while_running(partial(_end_stdio, runtime, server, end)))
            _announce(runtime, started, "")
            if runtime.settings.links != "never":
                listener = LinkListener()
                server.rendering.links = links = Links(origin=listener.origin, anonymous=LOCAL)
                pages = partial(listener.serve, see_app(See(server=server, links=links)))
                await held.enter_async_context(while_running(pages))
            await server.mcp.run_stdio_async(show_banner=False, log_level="WARNING")
    except* BrokenPipeError:
        pass  # the host went away


async def _end_stdio(runtime: Runtime, server: Server, end: Callable[[], None]) -> None:
    """Answer the waiting calls on `stop`, and then end the input."""
    await runtime.stop.wait()
    server.store.actions.drain()
    server.clients.close()
    await anyio.sleep(LIMITS.stdio_drain_s)
    end()


def _announce(runtime: Runtime, started: Started, url: str) -> None:
    widgets = len(runtime.registry.current.widgets)
    runtime.tell_supervisor()
    listing = runtime.health.listing()
    shortened = {"listing": listing} if listing else {}
    transport = runtime.settings.transport
    _log.info("daemon.started", url=url, widgets=widgets, transport=transport, **shortened)
    started(url, widgets)


async def _obey_signals(runtime: Runtime, services: Iterable[Services]) -> None:
    """End the daemon on SIGTERM and SIGINT; read files, tokens and upstreams again on SIGHUP."""
    with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async for received in signals:
            if received == signal.SIGHUP:
                runtime.supervisor.reloading()
                if runtime.access_policy.access is not None:
                    runtime.access_policy.access.reread()
                runtime.health.on_next_scan(runtime.tell_supervisor)
                runtime.hints.add(confirmed=True)
                for part in services:
                    part.reread()
            else:
                runtime.stop.set()
