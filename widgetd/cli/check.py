"""`widgetd check`: check folders and files as the daemon would, and report all findings.

It uses the daemon's loader, so the daemon refuses the same files with the same sentences.
"""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from widgetd.base.errors import ConfigError, Finding, WidgetError
from widgetd.cli.shell import read_settings
from widgetd.server.command import Quiet, count_of
from widgetd.server.progress import Progress
from widgetd.settings import Settings, folder_of

if TYPE_CHECKING:
    from widgetd.base.files.folder import Folder
    from widgetd.base.files.source import Source
    from widgetd.core.widget.widget import Widget
    from widgetd.server.catalog.snapshot import Entry, Snapshot


def check(
    *paths: Annotated[Path, Parameter(allow_leading_hyphen=True)],  # "-" is a path
    json: bool = False,
    github: bool = False,
    strict: bool = False,
    against: str = "",
    quiet: Quiet = False,
) -> int:
    """Report everything about widgets that can be known before they are called.

    Exit code 1 if a file cannot be served.

    Args:
        paths: Folders, or single files; - reads one file from standard input. Default: the
            folder that `serve` would serve.
        json: Print a JSON array.
        github: Print annotations for a pull request.
        strict: Count warnings as faults.
        against: A git revision or a folder. Report breaking changes since then.
    """
    from widgetd.core.checks import report

    option = next((str(path) for path in paths if str(path).startswith("--")), "")
    if option:
        raise ConfigError(
            "W0002", f"there is no option {option}", "`widgetd check --help` lists all"
        )
    checked = paths or (folder_of(read_settings()),)
    with TemporaryDirectory() if Path("-") in checked else nullcontext("") as drafts:
        draft = Path(drafts, "stdin.widget")
        if drafts:
            draft.write_bytes(sys.stdin.buffer.read())
        files = [draft if path == Path("-") else path for path in checked]
        outcome = check_paths(files, strict=strict, against=against, quiet=quiet)
    form = report.format_json if json else report.format_github if github else report.format_text
    texts = [form(outcome.findings, outcome.contents)]
    if not (json or github):
        texts.append(outcome.conclusion)
    for text in filter(None, texts):
        print(text.replace(f"{drafts}/", "") if drafts else text)
    return 1 if outcome.faults or (strict and outcome.findings) else 0


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckReport:
    """The result of a check.

    Attributes:
        findings: Ordered by path; paths start with the folders as the caller named them.
        contents: Content by path of each readable file with findings.
        files: Number of files checked.
        tokens: Cost of the list of their tools for a model, at 4 characters a token.
    """

    findings: tuple[Finding, ...]
    contents: Mapping[str, str]
    files: int
    tokens: int

    @property
    def faults(self) -> int:
        return sum(finding.level == "fault" for finding in self.findings)

    @property
    def conclusion(self) -> str:
        warnings = len(self.findings) - self.faults
        return (
            f"{count_of(self.files, 'file')}: {count_of(self.faults, 'fault')}, "
            f"{count_of(warnings, 'warning')}; "
            f"listing the tools costs a model about {self.tokens:,} tokens"
        )


def check_paths(
    paths: Iterable[Path], *, strict: bool = False, against: str = "", quiet: bool = True
) -> CheckReport:
    """Check the widgets at `paths`: folders, or single files.

    A sidecar stands for its widget. `against` is a git revision or a folder to compare with.

    Raises:
        ConfigError: There is no folder or widget at a path, or nothing at `against`.
    """
    from widgetd.base.files.folder import open_folder
    from widgetd.base.files.source import escape_path, read
    from widgetd.base.limits import Limits
    from widgetd.core.widget.sidecar import SUFFIX
    from widgetd.server.render.tokens import tokens_of_tool
    from widgetd.server.search.search import Search
    from widgetd.server.search.wishes import check_wishes

    all_findings: list[Finding] = []
    contents: dict[str, str] = {}
    files, tokens, most_bytes = 0, 0, Limits().file_bytes
    for path in paths:
        if not (path.is_dir() or path.is_file()):
            problem = f"there is nothing at {path}"
            raise ConfigError("W0003", problem, "name another path", exit_code=3)
        folder, only = (path, "") if path.is_dir() else (path.parent, path.name)
        only = only.removesuffix(SUFFIX)
        findings: dict[str, tuple[Finding, ...]] = {}
        snapshot = _scan_folder(folder, findings, only, strict=strict, quiet=quiet)
        search = Search()
        entries = _select_entries(snapshot, only)
        if only and not entries:
            problem = f"{path} is not a file that is served"
            raise ConfigError("W0003", problem, "name a .widget file, or a folder", exit_code=3)
        files += len(entries)
        served = snapshot.widgets.values()
        tokens += sum(tokens_of_tool(w) for w in served if w.definition.path in entries)
        for file in entries:
            if file in snapshot.faults:
                further = snapshot.entries[file].further_faults
                findings[file] = (snapshot.faults[file], *further, *findings.get(file, ()))
        own = chain.from_iterable(findings.get(file, ()) for file in entries)
        theme = () if only else snapshot.theme.findings
        stray = () if only else _check_stray_files(folder, entries)
        wishes = chain.from_iterable(
            check_wishes(entry.widget, snapshot, search)
            for entry in entries.values()
            if entry.widget
        )
        broken = _check_breaking_changes(entries, folder, only, against) if against else ()
        with open_folder(folder) as root:
            for finding in chain(own, theme, stray, wishes, broken):
                display_path = escape_path(str(folder / finding.path))
                all_findings.append(replace(finding, path=display_path))
                if display_path not in contents:
                    # As the daemon reads it: whole, at most as long as a widget, and in the folder.
                    with suppress(OSError, WidgetError):
                        source = read(root, finding.path, limit_bytes=most_bytes, quiet_ms=0)
                        contents[display_path] = source.content.decode(errors="replace")
    return CheckReport(findings=tuple(all_findings), contents=contents, files=files, tokens=tokens)


def _scan_folder(
    folder: Path,
    findings: dict[str, tuple[Finding, ...]] | None = None,
    only: str = "",
    *,
    strict: bool = False,
    quiet: bool = True,
) -> Snapshot:
    """Scan `folder` as the daemon would.

    Args:
        folder: The folder.
        findings: Receives the findings by path, of all widgets or of the one at `only`.
        only: The only path to check; empty for all.
    """
    from widgetd.base.files.folder import open_folder
    from widgetd.base.files.walk import walk
    from widgetd.core.widget.theme import read_folder_theme
    from widgetd.daemon.loading import build_catalog, configure_rules
    from widgetd.daemon.wings import admit
    from widgetd.server.catalog.loader import WIDGET_SUFFIXES, Loader

    loader, theme = Loader(admit, keeps_parts=True), read_folder_theme(folder)
    settings, upstreams = read_settings(), None
    if settings.upstreams is not None:
        from widgetd.upstreams.declarations import read_file

        upstreams = {
            name: frozenset(declaration.table.action_rules)
            for name, declaration in read_file(settings.upstreams).declarations.items()
        }
    check_widget = configure_rules(settings, strict=strict, upstreams=upstreams)

    def load(source: Source, sidecar: Source | None) -> Widget:
        try:
            widget = loader.load(source, sidecar)
            # While its parts exist; those of ten thousand widgets would fill the memory.
            if findings is not None and only in ("", source.path):
                findings[source.path] = check_widget(widget, theme=theme)
            widget.release()
            return widget
        finally:
            progress.advance()

    with open_folder(folder) as root:
        total = len(walk(root, "", WIDGET_SUFFIXES).files)
    with Progress("check", total, quiet=quiet) as progress:
        return build_catalog(Settings(dir=folder), folder, load, quiet_ms=0).scan()


def _select_entries(snapshot: Snapshot, only: str) -> Mapping[str, Entry]:
    if not only:
        return snapshot.entries
    return {only: snapshot.entries[only]} if only in snapshot.entries else {}


def _check_stray_files(folder: Path, widgets: Collection[str]) -> Iterator[Finding]:
    from widgetd.base.files.folder import open_folder
    from widgetd.base.files.walk import walk
    from widgetd.core.widget.naming import WIDGET_SUFFIX
    from widgetd.core.widget.sidecar import SUFFIX
    from widgetd.server.catalog.catalog import find_stray_sidecars

    with open_folder(folder) as root:
        paths = sorted(walk(root, "", (SUFFIX, ".json", ".jsx")).files)
        findings = find_stray_sidecars({*paths, *widgets})
        strays = {finding.path: finding for finding in findings}
        for path in paths:
            stem = path.rpartition(".")[0]
            widget = stem.removesuffix(WIDGET_SUFFIX) + WIDGET_SUFFIX
            if path in strays:
                yield strays[path]
            elif path.endswith(SUFFIX) and stem != widget and widget in widgets:
                problem, advice = f"'{widget}' does not read this", f"name it '{widget}{SUFFIX}'"
                yield Finding(code="W1120", path=path, problem=problem, advice=advice)
            elif path not in widgets and (suffix := _served_suffix(root, path)):
                name = stem.removesuffix(WIDGET_SUFFIX) + suffix
                taken = f"'{name}' is there: give it another name in '{suffix}', or remove it"
                problem = "this is a widget, and is not served under this name"
                advice = taken if name in widgets else f"name it '{name}'"
                yield Finding(code="W1121", path=path, problem=problem, advice=advice)


def _served_suffix(folder: Folder, path: str) -> str:
    """Return the suffix for the file to be served. Empty if it holds no widget."""
    from widgetd.base.files.source import read
    from widgetd.base.limits import Limits
    from widgetd.core.schema.json_text import parse_file
    from widgetd.core.widget.components.tree import ROOTS
    from widgetd.core.widget.naming import JSX_SUFFIX, WIDGET_SUFFIX

    limits = Limits()
    try:
        content = read(folder, path, limit_bytes=limits.file_bytes, quiet_ms=0).content
        if path.endswith(".jsx"):
            roots = tuple(f"<{root}".encode() for root in ROOTS)
            return JSX_SUFFIX if content.lstrip().startswith(roots) else ""
        members = parse_file(content, limits) if path.endswith(".json") else {}
    except (OSError, WidgetError):
        return ""
    return WIDGET_SUFFIX if {"template", "version", "name"} <= members.keys() else ""


def _check_breaking_changes(
    after: Mapping[str, Entry], folder: Path, only: str, against: str
) -> Iterator[Finding]:
    from widgetd.core.checks.breaking_changes import find_breaking_changes, report_removal

    with _open_revision(folder, against) as earlier:
        before = _select_entries(_scan_folder(earlier), only)
    tools = {entry.widget.tool: entry for entry in after.values() if entry.widget}
    for path, was in before.items():
        if was.widget is None:
            continue
        now = after.get(path) or tools.get(was.widget.tool)
        if now is None:
            yield report_removal(was.widget.definition)
        elif now.widget is not None:
            yield from find_breaking_changes(was.widget.definition, now.widget.definition)


@contextmanager
def _open_revision(folder: Path, against: str) -> Iterator[Path]:
    import subprocess
    import tarfile
    from io import BytesIO

    if Path(against).is_dir():
        yield Path(against)
        return
    problem = f"--against {against} is no folder, and no git revision of {folder}"
    unknown = ConfigError("W0002", problem, "name a folder, a branch, a tag or a commit")
    if against.startswith("-"):
        raise unknown
    command = ["git", "-C", str(folder), "archive", "--format=tar", against, "."]
    try:
        content = subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603 - a fixed command
    except (OSError, subprocess.CalledProcessError):
        raise unknown from None
    with TemporaryDirectory() as temporary:
        with tarfile.open(fileobj=BytesIO(content)) as archive:
            archive.extractall(temporary, filter="data")
        yield Path(temporary)
