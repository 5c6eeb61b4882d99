"""How the files of a folder become widgets, as the operator's settings decide.

Shared by the daemon, a folder in someone else's server, and the commands that only
look. It needs no MCP server, so those commands start at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from widgetd.catalog.crash_journal import CrashJournal
from widgetd.catalog.last_good import LastGood
from widgetd.catalog.loader import Catalog, Load, Loader
from widgetd.catalog.proof_cache import ProofCache
from widgetd.catalog.snapshot import Selection
from widgetd.catalog.state import StateFolder
from widgetd.daemon.parallel_proof import ParallelProofs
from widgetd.daemon.parser_process import ParserProcess
from widgetd.daemon.toolsets import NAMES
from widgetd.files.stamp import QUIET_MS
from widgetd.render.entry import tool_entry
from widgetd.settings import Settings

VALIDATORS = ("jinja2", "jsonschema-rs", "mcp")
"""The libraries that have a say in whether a file can be served, and how it is then listed."""

admit = partial(tool_entry, reserved=NAMES)
"""Makes a widget's entry in a list of tools, for those who serve nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderContext:
    """What makes the widgets of a daemon, and what it knows of them from earlier processes.

    Attributes:
        state: What is known of the folder from earlier processes; None where nothing is kept.
        last_good: What was served before; None where nothing is kept.
        parser: The process that parses first what nobody has proven; closed by `serve`.
        proofs: What other processes are proving for the first scan; None without any.
    """

    loader: Loader
    state: StateFolder | None
    journal: CrashJournal
    last_good: LastGood | None
    parser: ParserProcess
    proofs: ParallelProofs | None = None


def build_loader(settings: Settings, folder: Path) -> LoaderContext:
    """What makes the widgets of `folder` for a daemon; nothing is read of it yet."""
    version_now, state, last_good, proofs = settings_version(settings), None, None, None
    if settings.state_dir is not None:
        state = StateFolder.of(settings.state_dir, folder)
        judges = (f"{name}={version(name)}" for name in VALIDATORS)
        proofs = ProofCache(state, " ".join([version_now, *judges]))
        last_good = LastGood(state, version_now)
    journal = CrashJournal(state, version_now)
    # A daemon has the page that draws results.
    listed = partial(admit, has_view=True, formats=not settings.hide_formats)
    parser = ParserProcess()
    loader = Loader(listed, strict=settings.strict, proofs=proofs, journal=journal, precheck=parser)
    return LoaderContext(
        loader=loader, state=state, journal=journal, last_good=last_good, parser=parser
    )


def build_catalog(
    settings: Settings,
    folder: Path,
    load: Load,
    *,
    last_good: LastGood | None = None,
    quiet_ms: int = QUIET_MS,
) -> Catalog:
    """The widgets of `folder`, of which nothing was read yet.

    Their last good content is kept over a restart where there is `last_good`; a file is read once
    nobody has written it for `quiet_ms`.
    """
    include, exclude = settings.include, settings.exclude
    return Catalog(
        folder,
        load,
        selection=Selection(include=frozenset(include), exclude=frozenset(exclude)),
        settings=f"{settings_version(settings)} include={include} exclude={exclude}",
        last_good=last_good,
        quiet_ms=quiet_ms,
    )


def settings_version(settings: Settings) -> str:
    """Identifies all that decides whether a file can be served, and how it is listed."""
    said = f"{version('widgetd')} strict={settings.strict}"
    return f"{said} formats=hidden" if settings.hide_formats else said
