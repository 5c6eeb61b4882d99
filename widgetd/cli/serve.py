"""Commands for running a daemon, with a check beforehand."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.base.files.folder import OWN_FOLDER, bundled_folder
from widgetd.base.redaction import hide_credentials
from widgetd.cli.client_config import LOOPBACK, snippet
from widgetd.cli.limits import LIMITS
from widgetd.cli.options import Flags, settle_flags
from widgetd.cli.running import RunningDaemon, record_daemon
from widgetd.cli.shell import scan_widgets
from widgetd.daemon.startup import defer_model_builds, gc_paused, hide_package
from widgetd.server.command import Folder, count_of
from widgetd.settings import (
    GROUPS,
    Settings,
    Settled,
    folder_of,
    require_files_outside,
    shows_examples,
)

DEV_TOOLSETS = ("author", "operate", "pictures")
"""Toolsets for one person on this machine."""


def serve(
    dir: Folder = None,
    *,
    check: Annotated[bool, Parameter(negative="")] = False,
    settings: Annotated[bool, Parameter(negative="")] = False,
    config: Path | None = None,
    flags: Flags = Flags(),  # type: ignore[valid-type]  # noqa: B008 - a frozen default
) -> None:
    """Serve the widgets of DIR to MCP clients, and reload them as their files change.

    Args:
        check: Only report what a start would do: its error with its exit code, or the widgets.
        settings: Only print the value and the origin of every setting.
        config: The settings file. Default: widgetd.toml in the current folder, if it exists.
    """
    settled = settle_flags(dir, flags, config=config)
    if settings:
        _print_settings(settled)
        return
    require_files_outside(settled.settings, folder_of(settled.settings))
    if check:
        _report_check(settled)
        return
    _run(settled.settings)


def dev(dir: Folder = None, *, flags: Flags = Flags()) -> None:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR, and show them in a gallery that follows every save."""
    _run_dev(settle_dev(dir, flags))


def chat(dir: Folder = None, *, flags: Flags = Flags()) -> None:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve as `dev` does, with a chat whose agent uses the widgets."""
    _run_dev(settle_dev(dir, flags, chat=True))


def settle_dev(dir: Path | None, flags: Flags, **fixed: bool) -> Settings:  # type: ignore[valid-type]
    """Settle the settings of `dev`: the gallery, and defaults of its own.

    Files may be dropped if only this machine reaches the gallery, except into the bundled folder:
    beside the examples, they go into a folder of one's own.
    """
    fixed["gallery"] = True
    settled = settle_flags(dir, flags, fixed=fixed)
    folder = folder_of(settled.settings)
    is_writable = folder != bundled_folder() or shows_examples(settled.settings)
    # Imported late: only here is a browser expected.
    from widgetd.author.browser.chromium import demand_browser

    toolsets: tuple[str, ...] = DEV_TOOLSETS
    try:
        demand_browser("pictures")
    except ConfigError as error:
        toolsets = tuple(name for name in DEV_TOOLSETS if name != "pictures")
        if settled.origins["toolset"] == "default":
            print(f"widgetd: {error}; until then there are none", file=sys.stderr)
    try:
        require_files_outside(settled.settings, folder)
    except ConfigError as error:
        print(f"widgetd: {error}; `widgetd serve` refuses it", file=sys.stderr)
    allow_upload = is_writable and settled.settings.host in LOOPBACK
    usual = {"toolset": toolsets, "sample_images": True, "allow_upload": allow_upload}
    own = {name: value for name, value in usual.items() if settled.origins[name] == "default"}
    return settle_flags(dir, flags, fixed={**fixed, **own}).settings


def _run_dev(settings: Settings) -> None:
    awaited = OWN_FOLDER if shows_examples(settings) else None
    _run(settings, readable=True, awaited=awaited)
    if awaited is not None and awaited.is_dir() and settings.transport != "stdio":
        print(f"widgetd: {awaited} is there now", file=sys.stderr, flush=True)
        # A new process image: sockets, threads and caches of the old image are gone.
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - the same command, without a shell


def _run(settings: Settings, *, readable: bool | None = None, awaited: Path | None = None) -> None:
    folder = folder_of(settings)
    # Without rich, structlog formats tracebacks itself.
    with gc_paused(), hide_package("rich"):
        import anyio

        from widgetd.daemon import telemetry
        from widgetd.daemon.loading import build_loader
        from widgetd.daemon.parallel_proof import proving_in_parallel
        from widgetd.daemon.wings import WINGS
        from widgetd.server.observe.log_ring import LogRing

    log = LogRing() if "operate" in settings.toolset else None
    lines = telemetry.configure(settings.log_level, readable=readable, also=log)
    loading = build_loader(settings, folder, WINGS)
    prove, proof_count = loading.loader.prove, loading.loader.proof_count

    with (
        ExitStack() as running,
        proving_in_parallel(folder, prove, proof_count=proof_count) as proofs,
    ):
        # Processes fork only from a process without threads.
        running.enter_context(lines.running())
        # This import takes half of a start. Meanwhile child processes prove the folder.
        defer_model_builds()
        from widgetd.daemon.serve import serve as serve_folder

        def greet(url: str, widgets: int) -> None:
            if url:  # over stdio there is neither an address nor a terminal
                daemon = RunningDaemon(
                    url=url.removesuffix("/mcp"),
                    folder=os.path.realpath(awaited or folder),
                    gallery=settings.gallery,
                )
                running.enter_context(record_daemon(daemon))
                _print_welcome(folder, settings, url, widgets)

        serving = partial(
            serve_folder,
            settings,
            folder,
            started=greet,
            wings=WINGS,
            loading=replace(loading, proofs=proofs),
            watched=True,
            log=log,
            log_lines=lines,
        )

        async def serve_until_there(awaited: Path) -> None:
            from widgetd.base.tasks import while_running

            stop = anyio.Event()

            async def await_folder() -> None:
                while not await anyio.Path(awaited).is_dir():  # noqa: ASYNC110 - no event tells of it
                    await anyio.sleep(LIMITS.own_folder_s)
                stop.set()

            async with while_running(await_folder):
                await serving(stop=stop)

        run = serving if awaited is None else partial(serve_until_there, awaited)
        anyio.run(run, backend="asyncio")


def _print_welcome(folder: Path, settings: Settings, url: str, widgets: int) -> None:
    url = f"{settings.public_url}/mcp" if settings.public_url else url
    if shows_examples(settings):
        print(
            f"widgetd shows {count_of(widgets, 'bundled example')}, which are read-only, on {url}"
        )
        print(
            "Your own:          widgetd new NAME, which begins ./widgets; it is served from then on"
        )
    else:
        print(f"widgetd serves {count_of(widgets, 'widget')} from {folder} on {url}")
    if settings.gallery:
        print(f"Look at them:      {url.removesuffix('/mcp')}/")
    if settings.chat:
        print(f"Talk to an agent:  {url.removesuffix('/mcp')}/chat")
    # With JWTs, a host logs in by itself.
    token = settings.generated_token or ("TOKEN" if settings.token_file else "")
    command = snippet("claude-code", url, "" if settings.jwt_jwks else token)
    print(f"Connect a client:  {command}", flush=True)


def _report_check(settled: Settled) -> None:
    settings = settled.settings
    folder = folder_of(settings)
    _check_startup(settings)
    snapshot = scan_widgets(settings)
    where = "over stdio" if settings.transport == "stdio" else f"on {settings.host}:{settings.port}"
    print(f"would serve {count_of(len(snapshot.widgets), 'widget')} from {folder} {where}")
    for fault in snapshot.faults.values():
        print(f"would refuse {fault}")
    for name, origin in settled.origins.items():
        if origin != "default":
            print(f"{name} is set by {origin}")


def _check_startup(settings: Settings) -> None:
    from widgetd.daemon.access_policy import access_policy
    from widgetd.daemon.assembly import build_forwarder, options_of
    from widgetd.daemon.wings import WINGS
    from widgetd.server.store.factory import local_store
    from widgetd.server.web.http_server import bind

    for wing in WINGS:
        wing.check(options_of(wing, settings))
    access_policy(settings)
    build_forwarder(settings, local_store())
    if settings.transport == "http":
        with ExitStack() as listeners:
            for port in (settings.port, settings.metrics_port):
                if port:
                    listeners.enter_context(bind(settings.host, port))
    for written in (settings.audit, settings.state_dir):
        if written is None:
            continue
        # The path, or the nearest existing folder above it.
        existing = next(path for path in (written, *written.absolute().parents) if path.exists())
        if not os.access(existing, os.W_OK):
            problem = f"{written} cannot be written"
            raise ConfigError("W0006", problem, "name another, or let widgetd's user", exit_code=3)


def _print_settings(settled: Settled) -> None:
    values = settled.settings.model_dump(mode="json")
    width = max(map(len, values))
    for group, names in GROUPS.items():
        print(f"[{group}]")
        for name in names:
            value = json.dumps(values[name], ensure_ascii=False, separators=(",", ":"))
            print(f"{name:{width}}  {hide_credentials(value)}  ({settled.origins[name]})")
