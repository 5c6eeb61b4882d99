"""How the files of a folder become widgets, as the operator's settings decide.

Used by all who load: the daemon, a folder in someone else's server, and the
commands that only look.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib.metadata import version
from pathlib import Path

from widgetd.catalog.last_good import Copies
from widgetd.catalog.proof_cache import Verdicts
from widgetd.catalog.registry import Registry
from widgetd.catalog.reload import Folder, Workshop
from widgetd.catalog.selection import Selection
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import ConfigError
from widgetd.limits import Limits
from widgetd.mcp.server import Server, build
from widgetd.settings import Settings
from widgetd.store.factory import local_store


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
        settings=f"{_version(settings)} include={settings.include} exclude={settings.exclude}",
    )


def look(settings: Settings, folder: Path) -> Snapshot:
    """What would be served of `folder` as it is now; found by the same loader, serving nobody."""
    server = build(Registry(), local_store())
    workshop = workshop_for(settings, folder, server)
    return Folder(replace(workshop, quiet_ms=0)).look()


def verdicts_for(settings: Settings) -> Verdicts | None:
    """What was proven before, where there is a folder to remember it in.

    Raises:
        ConfigError: There is none, and it cannot be made.
    """
    folder = settings.state_dir
    if folder is None:
        return None
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"{folder} cannot be made ({error.strerror})"
        raise ConfigError("W0006", problem, "name another with --state-dir", exit_code=3) from None
    return Verdicts(folder, _judges(settings))


def copies_for(settings: Settings) -> Copies | None:
    """What was served before, where there is a folder to keep it in."""
    return None if settings.state_dir is None else Copies(settings.state_dir, _version(settings))


def _judges(settings: Settings) -> str:
    """Of all that decides whether a file can be served, and how it is then listed."""
    return " ".join([_version(settings), *(f"{name}={version(name)}" for name in _JUDGES)])


_JUDGES = ("jinja2", "jsonschema-rs", "fastmcp", "mcp")
"""The libraries that have a say in it."""


def _version(settings: Settings) -> str:
    """Of all that decides whether a file can be served."""
    return f"{version('widgetd')} strict={settings.strict}"
