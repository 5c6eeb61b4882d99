"""Commands about a daemon: run one, ask one, say how one would be set, and how it was used."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

from widgetd.browser.chromium import demand_browser
from widgetd.cli.generate import snippet
from widgetd.cli.options import Flags, complain, print_json, scanned, settled_by
from widgetd.daemon.startup import defer_model_builds, gc_paused, hide_package
from widgetd.errors import ConfigError
from widgetd.files.folder import bundled_folder
from widgetd.settings import Settings, folder_of, require_files_outside, settle

DEV_TOOLSETS = ("author", "operate", "pictures")
"""For one person on this machine."""

LOOPBACK = ("127.0.0.1", "::1", "localhost")
"""Where `dev` takes files that are dropped onto the gallery."""


def serve(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR to MCP clients, and reload them as their files change.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    settings = settled_by(dir, flags).settings
    require_files_outside(settings, folder_of(settings))
    return _run(settings)


def dev(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Serve the widgets of DIR, and show them in a gallery that follows every save.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    return _run(of_dev(dir, flags), readable=True)


def chat(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Do what `dev` does, and talk to an agent that uses the widgets.

    Args:
        dir: The folder of widgets. Default: ./widgets, else the bundled ones.
        flags: One for each setting.
    """
    return _run(of_dev(dir, flags, chat=True), readable=True)


def of_dev(dir: Path | None, flags: Flags, **fixed: bool) -> Settings:  # type: ignore[valid-type]
    """What `dev` serves by: the gallery, and whatever nobody said otherwise of.

    Files may be dropped where only this machine reaches it, but for the folder that comes with
    widgetd.
    """
    fixed["gallery"] = True
    said = settled_by(dir, flags, **fixed)
    own_folder = said.settings.host in LOOPBACK and folder_of(said.settings) != bundled_folder()
    toolsets: tuple[str, ...] = DEV_TOOLSETS
    try:
        demand_browser("pictures")
    except ConfigError as error:
        toolsets = tuple(one for one in DEV_TOOLSETS if one != "pictures")
        if said.origins["toolset"] == "default":
            print(f"widgetd: {error}; until then there are none", file=sys.stderr)
    try:
        require_files_outside(said.settings, folder_of(said.settings))
    except ConfigError as error:
        print(f"widgetd: {error}; `widgetd serve` refuses it", file=sys.stderr)
    usual = {"toolset": toolsets, "sample_images": True, "allow_upload": own_folder}
    own = {name: value for name, value in usual.items() if said.origins[name] == "default"}
    return settled_by(dir, flags, **fixed, **own).settings


def _run(settings: Settings, *, readable: bool | None = None) -> int:
    folder = folder_of(settings)
    # structlog would have rich make tracebacks, which ours are not made with.
    with gc_paused(), hide_package("rich"):
        import anyio

        from widgetd.daemon import telemetry, watchdog
        from widgetd.daemon.loading import build_loader
        from widgetd.daemon.parallel_proof import proving_in_parallel
        from widgetd.observe.log_ring import LogRing

    log = LogRing() if "operate" in settings.toolset else None
    telemetry.configure(settings.log_level, readable=readable, also=log)
    loading = build_loader(settings, folder)
    prove, known = loading.loader.prove, loading.loader.proof_count
    with proving_in_parallel(folder, prove, known=known, renew=watchdog.renew) as proofs:
        # Half of a start is this import; meanwhile the folder is proven.
        defer_model_builds()
        from widgetd.daemon.serve import serve as serve_folder

        serving = partial(
            serve_folder,
            settings,
            folder,
            started=partial(_welcome, folder, settings),
            loading=replace(loading, proofs=proofs),
            watched=True,
            log=log,
        )
        anyio.run(serving, backend="asyncio")
    return 0


def _welcome(folder: Path, settings: Settings, url: str, widgets: int) -> None:
    """Tell a person where to go; over stdio there is nobody to tell."""
    if not url:
        return
    url = f"{settings.public_url}/mcp" if settings.public_url else url
    noun = "widget" if widgets == 1 else "widgets"
    print(f"widgetd serves {widgets} {noun} from {folder} on {url}")
    if settings.gallery:
        print(f"Look at them:      {url.removesuffix('/mcp')}/")
    if settings.chat:
        print(f"Talk to an agent:  {url.removesuffix('/mcp')}/chat")
    # Where JWTs are good, a host logs in by itself.
    token = settings.made_token or ("TOKEN" if settings.token_file else "")
    shown = snippet("claude-code", url, "" if settings.jwt_jwks else token)
    print(f"Connect a client:  {shown}", flush=True)


def validate(*, config: Path | None = None) -> int:
    """Say what a start with these settings would say: what cannot be used, or what would be served.

    Exit code 0 if it would start, else that of the start.

    Args:
        config: The settings file. Default: widgetd.toml in the current folder, if it is there.
    """
    settled = settle({}, os.environ, config)
    settings = settled.settings
    folder = folder_of(settings)
    require_files_outside(settings, folder)
    _refuse_unusable(settings)
    snapshot = scanned(settings)
    where = "over stdio" if settings.transport == "stdio" else f"on {settings.host}:{settings.port}"
    print(f"would serve {len(snapshot.widgets)} widgets from {folder} {where}")
    for fault in snapshot.faults.values():
        print(f"would refuse {fault}")
    for name, origin in settled.origins.items():
        if origin != "default":
            print(f"{name} is said by {origin}")
    return 0


def _refuse_unusable(settings: Settings) -> None:
    """Look at the chat, tokens, webhook, ports and places as a start does, and keep none."""
    from contextlib import ExitStack

    from widgetd.chat.preflight import read_instructions, require_key
    from widgetd.daemon.access_policy import access_policy
    from widgetd.daemon.assembly import build_forwarder
    from widgetd.store.factory import local_store
    from widgetd.web.http_server import bind

    if settings.chat:
        has_key = settings.chat_key is not None
        require_key(settings.chat_model, settings.chat_url.get_secret_value(), has_key=has_key)
        read_instructions(settings.chat_instructions)
    access_policy(settings)
    build_forwarder(settings, local_store())
    if settings.transport == "http":
        with ExitStack() as held:
            for port in (settings.port, settings.metrics_port):
                if port:
                    held.enter_context(bind(settings.host, port))
    for written in (settings.audit, settings.state_dir):
        if written is None:
            continue
        # It, or the nearest folder above it that is there.
        there = next(path for path in (written, *written.absolute().parents) if path.exists())
        if not os.access(there, os.W_OK):
            problem = f"{written} cannot be written"
            raise ConfigError("W0006", problem, "name another, or let widgetd's user", exit_code=3)


def health(url: str = "http://127.0.0.1:8787/readyz") -> int:
    """Ask a running daemon whether it is ready; exit code 0 if it is, else 1.

    Args:
        url: Its `/readyz`.
    """
    from http.client import HTTPException
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=5) as answer:  # noqa: S310 - the operator names the address
            print(answer.read().decode())
    except (OSError, HTTPException, ValueError) as error:
        return complain(f"{url} does not say that it is ready ({error})", 1)
    return 0


def settings(dir: Path | None = None, *, flags: Flags = Flags()) -> int:  # type: ignore[valid-type]  # noqa: B008 - a frozen default
    """Print the value of every setting, and where it comes from."""
    settled = settled_by(dir, flags)
    values = settled.settings.model_dump(mode="json")
    width = max(map(len, values))
    for name, value in values.items():
        shown = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        print(f"{name:{width}}  {shown}  ({settled.origins[name]})")
    return 0


def usage(
    report: Literal["top", "errors", "slow"], *, audit: Path | None = None, json: bool = False
) -> int:
    """Say how widgets are used: which most, which fail, which are slow.

    Args:
        report: What to say.
        audit: The audit file; by default the one that `serve` would write.
        json: Print a JSON array.
    """
    from widgetd.observe import audit_report as used

    path = audit or settle({}, os.environ).settings.audit
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
    return 0
