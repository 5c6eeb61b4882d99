"""Builds the services of the wing `author`, of which most daemons have none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypedDict

from widgetd.author.browser.camera import Camera
from widgetd.author.browser.chromium import NICENESS, Chromium, demand_browser
from widgetd.author.browser.limits import LIMITS as BROWSER_LIMITS
from widgetd.author.guide.drafts import Drafts
from widgetd.author.options import AuthorOptions
from widgetd.author.uploads.history import History
from widgetd.author.uploads.uploads import Uploads
from widgetd.base.files.folder import open_folder
from widgetd.base.files.source import read
from widgetd.base.limits import Limits
from widgetd.server.access.principal import PerAudience
from widgetd.server.wing import Services

if TYPE_CHECKING:
    from widgetd.author.gallery.gallery import Gallery
    from widgetd.author.guide.answers import AuthorServices
    from widgetd.server.web.guard import Guard
    from widgetd.server.web.page import PageRoute
    from widgetd.server.wing import Task, WingHost


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorParts(Services):
    """The services of the enabled toolsets, by toolset, with their tasks and the gallery."""

    tools: Mapping[str, Any]
    running: Sequence[Task]
    gallery: Gallery | None

    def toolsets(self) -> Mapping[str, Any]:
        return self.tools

    def tasks(self) -> Sequence[Task]:
        return self.running

    def routes(self, guard: Guard) -> Sequence[PageRoute]:
        if self.gallery is None:
            return ()
        # Imported late: most daemons have no gallery.
        from widgetd.author.gallery.pages import gallery_routes  # noqa: PLC0415

        return gallery_routes(self.gallery, guard)


class _Shared(TypedDict):
    drafts: Drafts
    uploads: Uploads | None
    camera: Camera
    history: History


def build_parts(options: AuthorOptions, host: WingHost) -> AuthorParts:
    """Build what the settings ask for. The browser starts at its first use.

    Raises:
        ConfigError: Playwright or a Chromium is missing for a toolset (W0011).
    """
    for toolset in ("pictures", "sessions"):
        if toolset in options.toolset:
            demand_browser(toolset)
    chromium, history = Chromium(niceness=NICENESS), History()
    limits = replace(
        BROWSER_LIMITS,
        pictures_at_once=options.browser_at_once,
        sessions=options.session_most,
        session_idle_s=options.session_idle_s,
    )
    store = host.server.store

    async def charge(owner: str, cost: int) -> None:
        (await store.limits.take(owner, cost=cost)).check()

    registry = host.server.registry
    camera = Camera(chromium, limits=limits, charge=charge, theme=lambda: registry.current.theme)
    tools: dict[str, Any] = {"pictures": camera}
    tasks: list[Task] = [chromium.run]
    if "sessions" in options.toolset:
        # Imported late: few authors have sessions.
        from widgetd.author.browser.sessions import BrowserSessions  # noqa: PLC0415

        tools["sessions"] = sessions = BrowserSessions(
            host.server, chromium=chromium, limits=limits, charge=charge
        )
        tasks.append(sessions.run)
        host.sections["sessions"] = lambda: sessions.count
    uploads = _build_uploads(host) if options.allow_upload else None
    drafts = Drafts(
        host.server.admit,
        precheck=host.precheck,
        strict=options.strict,
        check_widget=host.rules(strict=options.strict),
    )
    shared = _Shared(drafts=drafts, uploads=uploads, camera=camera, history=history)
    if "author" in options.toolset:
        tools["author"] = _build_services(options, host, shared)
    if options.gallery or "author" in options.toolset:
        # Only these read earlier versions, and each version takes memory.
        tasks.append(partial(history.follow, host.server.registry))
    gallery = None
    if host.url and (options.gallery or options.chat):
        gallery = _build_gallery(options, host, shared)
    return AuthorParts(tools=tools, running=tasks, gallery=gallery)


def _build_uploads(host: WingHost) -> Uploads:
    return Uploads(
        folder=host.upload_folder,
        is_begun=host.upload_folder == host.folder,
        load=host.loader.load,
        registry=host.server.registry,
        view=host.server.views.of,
        hints=host.hints,
        observers=host.upload_observers,
    )


def _build_services(options: AuthorOptions, host: WingHost, shared: _Shared) -> AuthorServices:
    # Imported late: a gallery does without.
    from widgetd.author.guide.answers import AuthorServices  # noqa: PLC0415
    from widgetd.author.guide.component_details import Examples  # noqa: PLC0415
    from widgetd.author.guide.reference import Reference  # noqa: PLC0415

    def read_text(path: str) -> str:
        with suppress(OSError), open_folder(host.folder) as folder:
            source = read(folder, path, limit_bytes=Limits().file_bytes, quiet_ms=0)
            return source.content.decode(errors="replace")
        return ""

    return AuthorServices(
        **shared,
        reference=Reference(host.setting_texts),
        examples=PerAudience(lambda _: Examples()),
        text_of=read_text,
        registry=host.server.registry,
        image_origins=options.image_origin,
        pages=options.gallery,
    )


def _build_gallery(options: AuthorOptions, host: WingHost, shared: _Shared) -> Gallery:
    # Imported late: most authors' daemons have no gallery.
    from widgetd.author.gallery.gallery import Gallery  # noqa: PLC0415
    from widgetd.author.gallery.problems import Problems  # noqa: PLC0415

    return Gallery(
        **shared,
        server=host.server,
        folder=host.folder,
        url=host.url,
        image_origins=options.image_origin,
        sample_images=options.sample_images,
        stop=host.stop,
        problems=Problems(host.folder, host.rules()),
    )
