"""The parts of a daemon, built from its settings; nothing runs yet.

Every setting that can be refused is refused here, before anything live is touched.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import anyio
from anyio import CapacityLimiter

from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.toolset import keyword_tools
from widgetd.author.uploads.history import History
from widgetd.base.errors import ConfigError
from widgetd.base.files.folder import bundled_folder, open_folder
from widgetd.base.files.hints import Hints
from widgetd.base.files.source import read
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.daemon.access_policy import AccessPolicy, access_policy
from widgetd.daemon.limits import LIMITS as DAEMON_LIMITS
from widgetd.daemon.loading import LoaderContext, configure_rules
from widgetd.daemon.systemd import Supervisor, supervisor
from widgetd.daemon.telemetry import is_wanted
from widgetd.daemon.toolsets import NAMES, READABLE, ROWS
from widgetd.server.access.principal import OPERATE, PerAudience, Principal
from widgetd.server.catalog.registry import Registry
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.builtin.consent import ConsentTools
from widgetd.server.mcp.builtin.operate import Operations
from widgetd.server.mcp.builtin.table import BuiltinTool
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
from widgetd.server.store.rate_limits import LocalRateLimits
from widgetd.server.web.http_server import most_connections
from widgetd.server.web.limits import LIMITS as WEB_LIMITS
from widgetd.server.web.metrics import Metrics
from widgetd.settings import OWN_FOLDER, Settings, describe_settings, shows_examples
from widgetd.upstreams.toolset import UpstreamServices

if TYPE_CHECKING:
    from widgetd.author.gallery.gallery import Gallery
    from widgetd.author.guide.answers import AuthorServices
    from widgetd.author.guide.drafts import Drafts
    from widgetd.author.uploads.uploads import Uploads
    from widgetd.chat.backend.server import ChatServer
    from widgetd.chat.pages import Chat
    from widgetd.server.observe.audit import Audit
    from widgetd.server.store.delivery.forward import Forwarder
    from widgetd.upstreams.connection import Upstream
    from widgetd.upstreams.upstreams import Upstreams


@dataclass(frozen=True, slots=True, kw_only=True)
class Runtime:
    """The parts that every daemon has.

    Attributes:
        folder: The widgets folder; it exists.
        audit: Records calls; None without an audit file.
        log: The latest log events, for the toolset `operate`.
        log_lines: Log lines that wait for their reader; None if a program around this one logs.
        history: The earlier versions of each widget, for the gallery and authors.
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
    log: LogRing
    log_lines: LineQueue | None
    history: History
    stop: anyio.Event

    def tell_supervisor(self) -> None:
        """Report to the service manager that clients are served, and how many widgets."""
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
    """Build the parts of a daemon that serves `folder`, which exists.

    Raises:
        ConfigError: A token is missing or cannot be used.
    """
    registry, audit = Registry(), None
    if settings.audit is not None:
        from widgetd.server.observe.audit import Audit  # noqa: PLC0415 - most daemons have none

        audit = Audit(settings.audit, most_bytes=settings.audit_max_bytes, system=loading.system)
    stalled_s = max(OBSERVE_LIMITS.stalled_s, 3 * (settings.poll or 0))
    health = Health(stalled_s=stalled_s, clock=loading.system.clock)
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
        log=log,
        log_lines=log_lines,
        history=History(),
        stop=stop,
    )


def build_store(settings: Settings) -> AbstractAsyncContextManager[Store]:
    """Build the store of renders, actions, answers and limits; leaving it closes it."""
    bounds = Bounds(
        rate_per_s=settings.rate,
        burst=settings.burst,
        at_once=settings.at_once,
        # Others keep half of the connections.
        waits=min(WEB_LIMITS.waits, (settings.connections or most_connections()) // 2),
    )
    return open_store(settings.store.get_secret_value() if settings.store else None, bounds=bounds)


def build_forwarder(settings: Settings, store: Store) -> Forwarder | None:
    """Build the forwarder of actions to the webhook; None without one."""
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
    runtime: Runtime, store: Store, record_duration: RecordDuration | None = None
) -> Server:
    """Build the MCP server.

    Args:
        runtime: The parts of the daemon.
        store: Keeps renders, actions, answers and limits.
        record_duration: Receives the duration of each request; None to measure none.

    Raises:
        ConfigError: An installed library is not the tested version, or a keyword tool is unknown or
            lacks the toolset `sessions`.
    """
    settings = runtime.settings
    if settings.keyword_tools and "sessions" not in settings.toolset:
        problem = "keyword_tools needs the toolset sessions, which is off"
        raise ConfigError("W0002", problem, "add --toolset sessions")
    operations = Operations(
        registry=runtime.registry,
        health=runtime.health,
        log=runtime.log,
        audit=settings.audit,
        sections={"toolsets": lambda: ["core", *settings.toolset]},
    )
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
        app_tools=settings.app_tools,
        list_tokens=settings.list_tokens,
        formats=not settings.hide_formats,
        page_size=settings.page_size,
        resources=Resources(view_html(), settings.image_origin, runtime.loading.journal),
        images=InlineImages(settings.inline_image_origin),
        observers=(
            runtime.metrics,
            WidgetWarnings(settings.image_origin),
            *filter(None, [runtime.audit]),
        ),
        anonymous=runtime.access_policy.anonymous,
        sessions=SessionBounds(most=settings.sessions, each=settings.sessions_each),
        journal=runtime.loading.journal,
        builtin=(*ROWS, *keyword_tools(settings.keyword_tools)),
        reserved=NAMES,
        readable=READABLE,
        toolsets=settings.toolset,
        unlisted=() if settings.allow_upload else ("save_widget",),
        services={
            Operations: operations,
            # The chat asks for tools of upstreams, whether or not their toolset is on.
            ConsentTools: ConsentTools(
                [row for row in ROWS if row.asks], (*settings.toolset, "upstreams")
            ),
        },
        traced=is_wanted(os.environ, "TRACES"),
        record_duration=record_duration,
        system=runtime.loading.system,
    )
    return build(runtime.registry, store, options, auth=runtime.access_policy.access)


def build_upstream_services(runtime: Runtime, server: Server) -> UpstreamServices:
    """Connect `server` to the upstreams that fill its widgets; to none without an upstreams file.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
    """
    metrics, path = runtime.metrics, runtime.settings.upstreams
    services = UpstreamServices.from_file(path, server.store.answers, metrics)
    if services.upstreams is not None and services.feeds is not None:
        metrics.watch_upstreams(services.upstreams.availability)
        runtime.health.upstreams = services.upstreams.required_counts
        runtime.health.upstream_states = services.upstreams.describe_states
        server.rendering.feeds = services.feeds
        server.actions = services.upstreams
        from widgetd.upstreams.live import LiveFeeds  # noqa: PLC0415 - most have no upstreams

        live = LiveFeeds(
            feeds=services.feeds,
            rendering=server.rendering,
            renders=server.store.renders,
            registry=runtime.registry,
        )
        services.feeds.live = live.following
        services = replace(services, live=live)
    server.provide(services)
    return services


def build_uploads(runtime: Runtime, server: Server) -> Uploads | None:
    """Build the service that takes uploads; None if they are off."""
    if not runtime.settings.allow_upload:
        return None
    from widgetd.author.uploads.uploads import Uploads  # noqa: PLC0415 - most daemons take none

    bounds = Bounds(rate_per_s=DAEMON_LIMITS.upload_rate_per_s, burst=DAEMON_LIMITS.upload_burst)
    limits = LocalRateLimits(bounds=bounds, timer=SYSTEM.clock.steady_s)

    async def check_rate(uploader: str) -> None:
        (await limits.take(uploader)).check()

    is_begun = runtime.folder != bundled_folder() or not shows_examples(runtime.settings)
    return Uploads(
        folder=runtime.folder if is_begun else OWN_FOLDER.absolute(),
        is_begun=is_begun,
        load=runtime.loading.loader.load_untrusted,
        registry=runtime.registry,
        view=server.views.of,
        hints=runtime.hints,
        rate_limit=check_rate,
        observers=[each.on_upload for each in (runtime.metrics, runtime.audit) if each],
    )


def _build_author_services(
    runtime: Runtime, server: Server, uploads: Uploads | None
) -> AuthorServices:
    # Imported late: most daemons do not have the toolset.
    from widgetd.author.guide.answers import AuthorServices  # noqa: PLC0415
    from widgetd.author.guide.component_details import Examples  # noqa: PLC0415
    from widgetd.author.guide.reference import Reference  # noqa: PLC0415

    def text_of(path: str) -> str:
        with suppress(OSError), open_folder(runtime.folder) as folder:
            source = read(folder, path, limit_bytes=Limits().file_bytes, quiet_ms=0)
            return source.content.decode(errors="replace")
        return ""

    return AuthorServices(
        drafts=_build_drafts(runtime, server),
        reference=Reference(describe_settings()),
        examples=PerAudience(lambda _: Examples(runtime.loading.journal)),
        text_of=text_of,
        uploads=uploads,
        registry=runtime.registry,
        history=runtime.history,
        journal=runtime.loading.journal,
        image_origins=runtime.settings.image_origin,
        pages=runtime.settings.gallery,
        at_once=CapacityLimiter(DAEMON_LIMITS.drafts_at_once),
    )


def _build_drafts(runtime: Runtime, server: Server) -> Drafts:
    from widgetd.author.guide.drafts import Drafts  # noqa: PLC0415 - as above

    return Drafts(
        server.admit,
        journal=runtime.loading.journal,
        precheck=runtime.loading.parser,
        strict=runtime.settings.strict,
        check_widget=configure_rules(runtime.settings, strict=runtime.settings.strict),
    )


def provide_toolsets(
    runtime: Runtime, server: Server, uploads: Uploads | None
) -> list[Callable[[], Coroutine[Any, Any, None]]]:
    """Provide the services of the toolsets and of the gallery, and return what runs them.

    The browser, which pictures and sessions share, starts at its first use.

    Raises:
        ConfigError: Playwright or a Chromium is missing for a toolset (W0011).
    """
    settings = runtime.settings
    if "author" in settings.toolset:
        server.provide(_build_author_services(runtime, server, uploads))
    for toolset in ("pictures", "sessions"):
        if toolset in settings.toolset:
            # Imported late: most daemons have no browser.
            from widgetd.author.browser.chromium import demand_browser  # noqa: PLC0415

            demand_browser(toolset)
    if not (settings.gallery or {"author", "pictures", "sessions"} & {*settings.toolset}):
        return []
    from widgetd.author.browser.camera import Camera  # noqa: PLC0415
    from widgetd.author.browser.chromium import NICENESS, Chromium  # noqa: PLC0415

    limits = replace(
        LIMITS,
        pictures_at_once=settings.browser_at_once,
        sessions=settings.session_most,
        session_idle_s=settings.session_idle_s,
    )
    chromium = Chromium(niceness=NICENESS)

    async def charge(owner: str, cost: int) -> None:
        (await server.store.limits.take(owner, cost=cost)).check()

    server.provide(Camera(chromium, limits=limits, charge=charge))
    if "sessions" not in settings.toolset:
        return [chromium.run]
    from widgetd.author.browser.sessions import BrowserSessions  # noqa: PLC0415 - see above

    sessions = BrowserSessions(server, chromium=chromium, limits=limits)
    server.provide(sessions)
    operations = cast("Operations", server.services[Operations])
    operations.sections["sessions"] = lambda: sessions.count
    return [chromium.run, sessions.run]


def build_gallery(runtime: Runtime, server: Server, uploads: Uploads | None, url: str) -> Gallery:
    # Imported late: most daemons have no gallery.
    from widgetd.author.browser.camera import Camera  # noqa: PLC0415
    from widgetd.author.gallery.gallery import Gallery  # noqa: PLC0415
    from widgetd.author.gallery.problems import Problems  # noqa: PLC0415

    settings = runtime.settings
    return Gallery(
        server=server,
        folder=runtime.folder,
        uploads=uploads,
        history=runtime.history,
        camera=cast("Camera | None", server.services.get(Camera)),
        drafts=None if uploads is None else _build_drafts(runtime, server),
        url=url,
        image_origins=settings.image_origin,
        sample_images=settings.sample_images,
        stop=runtime.stop,
        problems=Problems(runtime.folder, runtime.loading.journal, configure_rules(settings)),
    )


_CHAT_TOOLS = ("search_widgets", "get_widget_details", "render_widget")
"""The built-in tools of every chat's model: those that find and show widgets."""

_NEVER_CHAT_TOOLS = frozenset({"await_widget_action", "widget_action"})
"""The chat tells its agent of actions by itself, without passwords and sensitive fields; a reader
that awaits an action gets all of it."""


def chat_tools(builtin: Mapping[str, BuiltinTool], named: Iterable[str]) -> frozenset[str]:
    """Return the built-in tools of the chat's model; `named` are tools and toolsets.

    Raises:
        ConfigError: There is no tool and no toolset of a name (W0002).
    """
    offered = {*_CHAT_TOOLS}
    for name in named:
        found = [one.name for one in builtin.values() if name in (one.name, one.toolset)]
        if not found:
            problem = f"chat_tools names '{name}', and there is no such tool or toolset here"
            raise ConfigError("W0002", problem, "name a tool of widgetd, or switch its toolset on")
        offered.update(found)
    return frozenset(offered) - _NEVER_CHAT_TOOLS


@contextmanager
def open_chat(
    runtime: Runtime, server: Server, upstreams: Upstreams | None, url: str
) -> Iterator[Chat | None]:
    """Yield the chat, whose agent uses the tools that `server` serves at `url`; None if it is off.

    The agent of a user who may call `upstreams` may call them too.

    Raises:
        ConfigError: The model (W0012) or the file of instructions (W0006) cannot be used.
    """
    if not runtime.settings.chat:
        yield None
        return
    # Imported late: most daemons have no chat.
    from widgetd.chat import limits as chat_limits  # noqa: PLC0415
    from widgetd.chat.pages import (  # noqa: PLC0415
        Chat,
        act,
        ask_upstream_call,
        redraw,
        sensitive_paths,
    )
    from widgetd.chat.preflight import read_instructions, require_key  # noqa: PLC0415

    settings, access = runtime.settings, runtime.access_policy.access
    key, limits = settings.chat_key, chat_limits.LIMITS
    address = settings.chat_url.get_secret_value()
    require_key(settings.chat_model, address, has_key=key is not None)
    instructions = read_instructions(settings.chat_instructions)

    offered = chat_tools(server.builtin, settings.chat_tools)

    def upstreams_of(owner: Principal) -> list[Upstream]:
        others = upstreams.all.values() if upstreams and OPERATE in owner.scopes else ()
        return [one for one in others if one.declaration.table.enabled]

    @contextmanager
    def servers(owner: Principal) -> Iterator[list[Any]]:
        from widgetd.chat.backend.tools import OwnTools, UpstreamTools  # noqa: PLC0415 - see below

        ask = partial(ask_upstream_call, server, owner)
        more = frozenset(server.builtin[name].scope for name in offered if name in server.builtin)
        token_of = nullcontext("") if access is None else access.delegated_token(owner, more)
        with token_of as token:
            own = OwnTools(
                url, token, offers=lambda name: name not in server.builtin or name in offered
            )
            yield [own, *(UpstreamTools(one, ask) for one in upstreams_of(owner))]

    def backend() -> ChatServer:
        # Later still, once the daemon serves: these take longer to import than everything else.
        from widgetd.chat.backend.database import ChatDatabase  # noqa: PLC0415
        from widgetd.chat.backend.model import chat_model  # noqa: PLC0415
        from widgetd.chat.backend.server import INSTRUCTIONS, ChatServer  # noqa: PLC0415
        from widgetd.chat.backend.threads import Threads  # noqa: PLC0415
        from widgetd.chat.samples import find_sample  # noqa: PLC0415

        return ChatServer(
            Threads(ChatDatabase(runtime.loading.state, limits), limits),
            chat_model(settings.chat_model, address, key, limits, partial(find_sample, server)),
            servers,
            act=partial(act, server),
            redraw=partial(redraw, server),
            sensitive=partial(sensitive_paths, server),
            instructions=instructions or INSTRUCTIONS,
            limits=limits,
        )

    with closing(Chat(server, backend, settings.cors_origin, limits, upstreams_of)) as chat:
        yield chat
