"""`widgetd validate`: say what a start would say, and start nothing."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from widgetd.errors import ConfigError
from widgetd.settings import folder_of, settle

if TYPE_CHECKING:
    from widgetd.settings import Settings


def validate(*, config: Path | None = None) -> int:
    """Say what a start with these settings would say: what cannot be used, or what would be served.

    Exit code 0 if it would start, else that of the start.

    Args:
        config: The settings file. Default: widgetd.toml in the current folder, if it is there.
    """
    settled = settle({}, os.environ, config)
    settings = settled.settings
    folder = folder_of(settings)
    _refuse_unusable(settings)
    from widgetd.catalog.loader import Loader
    from widgetd.daemon.loading import admit, catalog_for

    load = Loader(admit, strict=settings.strict).load
    snapshot = catalog_for(settings, folder, load, quiet_ms=0).scan()
    where = "over stdio" if settings.transport == "stdio" else f"on {settings.host}:{settings.port}"
    print(f"would serve {len(snapshot.widgets)} widgets from {folder} {where}")
    for fault in snapshot.faults.values():
        print(f"would refuse {fault}")
    said = {name: origin for name, origin in settled.origins.items() if origin != "default"}
    for name, origin in said.items():
        print(f"{name} is said by {origin}")
    return 0


def _refuse_unusable(settings: Settings) -> None:
    """Look at the chat, tokens, webhook, ports and places as a start does, and keep none of them.

    Raises:
        ConfigError: A start would raise it.
    """
    from contextlib import ExitStack

    from widgetd.chat.opening import demand_address, instructions_in
    from widgetd.daemon.access_policy import access_policy
    from widgetd.daemon.assembly import forwarding_of
    from widgetd.store.factory import local_store
    from widgetd.web.http_server import bind

    if settings.chat:
        has_key = settings.chat_key is not None
        demand_address(settings.chat_model, settings.chat_url, has_key=has_key)
        instructions_in(settings.chat_instructions)
    access_policy(settings)
    forwarding_of(settings, local_store())
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
