"""Commands about a daemon: run it, query it, check its settings, report its use."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from widgetd.base.errors import ConfigError
from widgetd.base.files.folder import bundled_folder
from widgetd.base.redaction import hide_credentials
from widgetd.cli.generate import LOOPBACK, snippet
from widgetd.cli.limits import LIMITS
from widgetd.cli.options import (
    Flags,
    Folder,
    complain,
    count_of,
    print_json,
    read_settings,
    scan_widgets,
    settle_flags,
)
from widgetd.daemon.startup import defer_model_builds, gc_paused, hide_package
from widgetd.settings import (
    OWN_FOLDER,
    Settings,
    folder_of,
    require_files_outside,
    shows_examples,
)

DEV_TOOLSETS = ("author", "operate", "pictures")
"""Toolsets for one person on this machine."""


def serve(dir: Folder = None, *, flags: Flags = Flags()) -> None:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR to MCP clients, and reload them as their files change."""
    settings = settle_flags(dir, flags).settings
    require_files_outside(settings, folder_of(settings))
    _run(settings)


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
        toolsets = tuple(one for one in DEV_TOOLSETS if one != "pictures")
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
    """Serve, and begin anew with ./widgets once it is there where the examples were shown."""
    awaited = OWN_FOLDER if shows_examples(settings) else None
    _run(settings, readable=True, awaited=awaited)
    if awaited is not None and awaited.is_dir() and settings.transport != "stdio":
        print(f"widgetd: {awaited} is there now", file=sys.stderr, flush=True)
        # A new process image: sockets, threads and caches of the old one are gone.
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - the same command, without a shell


def _run(settings: Settings, *, readable: bool | None = None, awaited: Path | None = None) -> None:
    folder = folder_of(settings)
    # Without rich, structlog formats tracebacks itself.
    with gc_paused(), hide_package("rich"):
        import anyio

        from widgetd.daemon import telemetry
        from widgetd.daemon.loading import build_loader
        from widgetd.daemon.parallel_proof import proving_in_parallel
        from widgetd.server.observe.log_ring import LogRing

    log = LogRing() if "operate" in settings.toolset else None
    telemetry.configure(settings.log_level, readable=readable, also=log)
    loading = build_loader(settings, folder)
    prove, known = loading.loader.prove, loading.loader.proof_count
    with proving_in_parallel(folder, prove, known=known) as proofs:
        # This import takes half of a start; meanwhile child processes prove the folder.
        defer_model_builds()
        from widgetd.daemon.serve import serve as serve_folder

        serving = partial(
            serve_folder,
            settings,
            folder,
            started=partial(_print_welcome, folder, settings),
            loading=replace(loading, proofs=proofs),
            watched=True,
            log=log,
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
    """Print the addresses for a person; over stdio there is no terminal to print to."""
    if not url:
        return
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
    shown = snippet("claude-code", url, "" if settings.jwt_jwks else token)
    print(f"Connect a client:  {shown}", flush=True)


def validate(
    dir: Folder = None,
    *,
    config: Path | None = None,
    flags: Flags = Flags(),  # type: ignore[valid-type]  # noqa: B008 - a frozen default
) -> None:
    """Report what `serve` with these flags would: errors, or the widgets that it would serve.

    Exit code 0 if it would start, else that of the start.

    Args:
        config: The settings file. Default: widgetd.toml in the current folder, if it exists.
    """
    settled = settle_flags(dir, flags, config=config)
    settings = settled.settings
    folder = folder_of(settings)
    require_files_outside(settings, folder)
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
    """Check the chat, tokens, webhook, ports and places as a start does, and release them."""
    from contextlib import ExitStack

    from widgetd.chat.preflight import read_instructions, require_key
    from widgetd.daemon.access_policy import access_policy
    from widgetd.daemon.assembly import build_forwarder
    from widgetd.server.store.factory import local_store
    from widgetd.server.web.http_server import bind

    if settings.chat:
        has_key = settings.chat_key is not None
        require_key(settings.chat_model, settings.chat_url.get_secret_value(), has_key=has_key)
        read_instructions(settings.chat_instructions)
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
        # The path, or the nearest folder above it that exists.
        existing = next(path for path in (written, *written.absolute().parents) if path.exists())
        if not os.access(existing, os.W_OK):
            problem = f"{written} cannot be written"
            raise ConfigError("W0006", problem, "name another, or let widgetd's user", exit_code=3)


def health(url: str = "http://127.0.0.1:8787/readyz") -> int:
    """Ask a running daemon whether it is ready; exit code 0 if so, else 1.

    Args:
        url: The address of its `/readyz`.
    """
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=LIMITS.health_s) as answer:  # noqa: S310 - the operator names the address
            print(answer.read().decode())
    except (OSError, HTTPException, ValueError) as error:
        return complain(f"{url} is not ready ({error})", 1)
    return 0


def settings(dir: Folder = None, *, flags: Flags = Flags()) -> None:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Print the value and origin of every setting."""
    settled = settle_flags(dir, flags)
    values = settled.settings.model_dump(mode="json")
    width = max(map(len, values))
    for name, value in values.items():
        shown = hide_credentials(json.dumps(value, ensure_ascii=False, separators=(",", ":")))
        print(f"{name:{width}}  {shown}  ({settled.origins[name]})")


def usage(
    report: Literal["top", "errors", "slow"], *, audit: Path | None = None, json: bool = False
) -> None:
    """Report how widgets are used: the most used, the failing, the slow.

    Args:
        report: The report.
        audit: The audit file; by default that of `serve`.
        json: Print a JSON array.
    """
    from widgetd.server.observe import audit_report as used

    path = audit or read_settings().audit
    if path is None:
        raise ConfigError("W0002", "no audit file is named", "name one with --audit")
    try:
        rows = used.REPORTS[report](used.read_calls(path))
    except OSError as error:
        problem = f"the audit file {path} cannot be read ({error.strerror})"
        raise ConfigError("W0006", problem, "name another with --audit", exit_code=3) from None
    if json:
        print_json(rows)
    elif rows:
        print(used.table(rows))
