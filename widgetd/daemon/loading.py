"""The parts between the files of a folder and widgets, built from settings.

The daemon, `register` and the commands share them. They need no MCP server, so those
commands start at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import Finding
from widgetd.base.files.limits import LIMITS as FILE_LIMITS
from widgetd.base.system import SYSTEM, System
from widgetd.daemon.parallel_proof import ParallelProofs
from widgetd.daemon.parser_process import ParserProcess
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.crash_journal import CrashJournal
from widgetd.server.catalog.loader import Load, Loader
from widgetd.server.catalog.proof_cache import ProofCache
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.snapshot import Selection
from widgetd.server.catalog.state import StateFolder
from widgetd.server.mcp.builtin import CORE_TOOLS, OPERATE_TOOLS
from widgetd.server.mcp.builtin.table import ReservedNames
from widgetd.server.render.entry import tool_entry
from widgetd.server.wing import Wing
from widgetd.settings import Settings

if TYPE_CHECKING:
    from widgetd.core.checks.rules import Upstreams

VALIDATORS = ("jinja2", "jsonschema-rs", "mcp")
"""Libraries that decide whether a file can be served and how it is listed.

A new version of one of them makes old proofs void.
"""


def reserved_names(wings: Sequence[Wing[Any]]) -> ReservedNames:
    rows = (row for wing in wings for row in wing.tools)
    prefixes = (wing.reserved_prefix for wing in wings)
    return ReservedNames((*CORE_TOOLS, *OPERATE_TOOLS, *rows), prefixes)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoaderContext:
    """A daemon's loader, with the remains of its widgets from earlier processes.

    Attributes:
        state: The files that outlive the process, None without a state folder.
        reserved: The names of all built-in tools, forbidden for widgets.
        rollback: The earlier generations, None without a state folder.
        parser: The process for the first parsing of unproven content. `serve` closes it.
        proofs: The proofs of other processes for the first scan, None without any.
        system: The clock, threads, disk and random numbers of all parts.
    """

    loader: Loader
    state: StateFolder | None
    journal: CrashJournal
    rollback: Rollback | None
    parser: ParserProcess
    reserved: ReservedNames
    proofs: ParallelProofs | None = None
    system: System = SYSTEM


def build_loader(
    settings: Settings,
    folder: Path,
    wings: Sequence[Wing[Any]],
    system: System = SYSTEM,
) -> LoaderContext:
    """Build the loader of a daemon for `folder`, without reading it yet."""
    reserved = reserved_names(wings)
    version_now, state, proofs = settings_version(settings), None, None
    if settings.state_dir is not None:
        state = StateFolder.of(settings.state_dir, folder, system)
        validators = (f"{name}={version(name)}" for name in VALIDATORS)
        proofs = ProofCache(state, " ".join([version_now, *validators]))
    journal = CrashJournal(state, version_now, now=system.clock.wall_s)
    # Unlike a command, a daemon serves the page for results.
    listed = partial(
        tool_entry,
        reserved=reserved,
        has_view=True,
        formats=not settings.hide_formats,
        image_origins=settings.image_origin,
    )
    parser = ParserProcess()
    loader = Loader(listed, strict=settings.strict, proofs=proofs, precheck=parser)
    return LoaderContext(
        loader=loader,
        state=state,
        journal=journal,
        rollback=None if state is None else Rollback(state, loader.load),
        parser=parser,
        reserved=reserved,
        system=system,
    )


def build_catalog(
    settings: Settings,
    folder: Path,
    load: Load,
    *,
    rollback: Rollback | None = None,
    quiet_ms: int = FILE_LIMITS.quiet_ms,
    system: System = SYSTEM,
) -> Catalog:
    """Build the catalog of `folder`, without reading it yet.

    Args:
        settings: The operator's.
        folder: The widgets folder.
        load: Loads a file.
        rollback: Keeps earlier generations over a restart, and decides between them.
        quiet_ms: Time without a write after which a file is read.
        system: Reads the folder.
    """
    include, exclude = settings.include, settings.exclude
    return Catalog(
        folder,
        load,
        selection=Selection(include=frozenset(include), exclude=frozenset(exclude)),
        settings=f"{settings_version(settings)} include={include} exclude={exclude}",
        rollback=rollback,
        quiet_ms=quiet_ms,
        system=system,
    )


def configure_rules(
    settings: Settings, *, strict: bool = False, upstreams: Upstreams | None = None
) -> Callable[..., tuple[Finding, ...]]:
    """Return `check_widget` with the operator's settings and the declared `upstreams`, if known.

    A daemon passes none: its upstreams file may change while it runs.
    """
    # Imported late: a start checks nothing.
    from widgetd.core.checks.rules import check_widget  # noqa: PLC0415

    return partial(
        check_widget,
        strict=strict,
        image_origins=settings.image_origin,
        upstreams=upstreams,
    )


def settings_version(settings: Settings) -> str:
    """Return a text with the settings behind the served and listed content."""
    text = f"{version('widgetd')} strict={settings.strict}"
    if settings.image_origin:
        text = f"{text} images={sorted(settings.image_origin)}"
    return f"{text} formats=hidden" if settings.hide_formats else text
