"""How the files of a folder become widgets, as the operator's settings decide.

Shared by all who load: the daemon, a folder in someone else's server, and the
commands that only look. It needs no MCP server, so those commands start at once.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from pathlib import Path

from widgetd.catalog.last_good import Copies
from widgetd.catalog.loader import Admit, Catalog, Loader
from widgetd.catalog.proof_cache import ProofCache
from widgetd.catalog.selection import Selection
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import ConfigError
from widgetd.files.stamp import QUIET_MS
from widgetd.mcp.builtin import CORE_NAMES
from widgetd.mcp.entry import tool_entry
from widgetd.settings import Settings

_JUDGES = ("jinja2", "jsonschema-rs", "mcp")
"""The libraries that have a say in whether a file can be served, and how it is then listed."""


_admit = partial(tool_entry, reserved=CORE_NAMES)
"""Makes a widget's entry in a list for those who serve nobody."""


def loader_for(settings: Settings, admit: Admit = _admit) -> Loader:
    """What makes widgets of files, and remembers what it has proven where there is a folder for it.

    Args:
        settings: What the operator chose.
        admit: Makes a widget's entry in a list of tools.

    Raises:
        ConfigError: The state folder cannot be made.
    """
    folder, proofs = settings.state_dir, None
    if folder is not None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            problem = f"{folder} cannot be made ({error.strerror})"
            advice = "name another with --state-dir"
            raise ConfigError("W0006", problem, advice, exit_code=3) from None
        judges = (f"{name}={version(name)}" for name in _JUDGES)
        proofs = ProofCache(folder, " ".join([_version(settings), *judges]))
    return Loader(admit, strict=settings.strict, proofs=proofs)


def catalog_for(
    settings: Settings,
    folder: Path,
    loader: Loader,
    *,
    last_good: Copies | None = None,
    quiet_ms: int = QUIET_MS,
) -> Catalog:
    """The widgets of `folder`, of which nothing was read yet."""
    return Catalog(
        folder,
        loader.load,
        limit_bytes=loader.limits.file_bytes,
        selection=Selection(
            include=frozenset(settings.include), exclude=frozenset(settings.exclude)
        ),
        settings=f"{_version(settings)} include={settings.include} exclude={settings.exclude}",
        last_good=last_good,
        quiet_ms=quiet_ms,
    )


def last_good_for(settings: Settings) -> Copies | None:
    """What was served before, where there is a folder to keep it in."""
    return None if settings.state_dir is None else Copies(settings.state_dir, _version(settings))


def look(settings: Settings, folder: Path) -> Snapshot:
    """What would be served of `folder` as it is now; found by the same loader, serving nobody."""
    loader = Loader(_admit, strict=settings.strict)
    return catalog_for(settings, folder, loader, quiet_ms=0).scan()


def _version(settings: Settings) -> str:
    """Of all that decides whether a file can be served."""
    return f"{version('widgetd')} strict={settings.strict}"
