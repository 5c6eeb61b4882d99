"""Look at folders and files as the daemon would, and collect all there is to say.

The loader is the daemon's own, so that what is refused here would be refused
there, with the same sentence.
"""

from __future__ import annotations

import subprocess
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

from widgetd.catalog.snapshot import Snapshot
from widgetd.checks import breaking, findings, removed
from widgetd.daemon.loading import look
from widgetd.errors import ConfigError, Finding
from widgetd.mcp.tokens import tokens_of_tool
from widgetd.settings import Settings
from widgetd.widget.sidecar import SUFFIX


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """What a check found.

    Attributes:
        findings: By path; the paths are as the caller named the folders.
        contents: The text of each file that a finding is about, where it can be read.
        files: How many files were looked at.
        tokens: What the list of their tools costs a model, at 4 characters a token.
    """

    findings: tuple[Finding, ...]
    contents: Mapping[str, str]
    files: int
    tokens: int

    @property
    def faults(self) -> int:
        """How many findings keep a file from being served as it stands."""
        return sum(finding.level == "fault" for finding in self.findings)

    @property
    def conclusion(self) -> str:
        """The outcome as a sentence."""
        warnings = len(self.findings) - self.faults
        return (
            f"{_counted(self.files, 'file')}: {_counted(self.faults, 'fault')}, "
            f"{_counted(warnings, 'warning')}; "
            f"listing the tools costs a model about {self.tokens:,} tokens"
        )


def check(paths: Iterable[Path], *, strict: bool = False, against: str = "") -> Checked:
    """Everything that can be said about the widgets at `paths`.

    Args:
        paths: Folders, or single files; a sidecar stands for its widget.
        strict: Undeclared names are faults.
        against: A git revision or a folder to compare with; empty for none.

    Raises:
        ConfigError: There is no folder or widget at one of the paths, or nothing at `against`.
    """
    found: list[Finding] = []
    contents: dict[str, str] = {}
    files = tokens = 0
    for path in paths:
        folder, only = _folder_and_file(path)
        snapshot = _looked(folder, only)
        if only and not snapshot.entries:
            problem = f"{path} is none of the files that are served"
            raise ConfigError("W0003", problem, "name a .widget file, or a folder", exit_code=3)
        files += len(snapshot.entries)
        tokens += _tokens(snapshot)
        for finding in (
            *_findings(snapshot, strict=strict),
            *(_breaking(snapshot, folder, only, against) if against else ()),
        ):
            place = folder / finding.path
            found.append(replace(finding, path=str(place)))
            if str(place) not in contents and (text := _text(place)) is not None:
                contents[str(place)] = text
    return Checked(findings=tuple(found), contents=contents, files=files, tokens=tokens)


def _folder_and_file(path: Path) -> tuple[Path, str]:
    if path.is_dir():
        return path, ""
    if path.is_file():
        return path.parent, path.name.removesuffix(SUFFIX)
    raise ConfigError("W0003", f"there is nothing at {path}", "name another path", exit_code=3)


def _looked(folder: Path, only: str) -> Snapshot:
    """What would be served of `folder`, or of one file in it."""
    snapshot = look(Settings(dir=folder), folder)
    if not only:
        return snapshot
    return replace(
        snapshot,
        entries={path: entry for path, entry in snapshot.entries.items() if path == only},
    )


def _findings(snapshot: Snapshot, *, strict: bool) -> Iterator[Finding]:
    for path, entry in snapshot.entries.items():
        if path in snapshot.faults:
            yield snapshot.faults[path]
        if entry.widget is not None:
            yield from findings(entry.widget, strict=strict)


def _tokens(snapshot: Snapshot) -> int:
    return sum(
        tokens_of_tool(widget)
        for widget in snapshot.widgets.values()
        if widget.definition.path in snapshot.entries
    )


def _breaking(after: Snapshot, folder: Path, only: str, against: str) -> Iterator[Finding]:
    with _as_folder(folder, against) as earlier:
        before = _looked(earlier, only)
    tools = {entry.widget.tool: entry for entry in after.entries.values() if entry.widget}
    for path, was in before.entries.items():
        if was.widget is None:
            continue
        now = after.entries.get(path) or tools.get(was.widget.tool)
        if now is None:
            yield removed(was.widget.definition)
        elif now.widget is not None:
            yield from breaking(was.widget.definition, now.widget.definition)


@contextmanager
def _as_folder(folder: Path, against: str) -> Iterator[Path]:
    """The folder `against`, or `folder` as it was at the git revision `against`."""
    if Path(against).is_dir():
        yield Path(against)
        return
    with TemporaryDirectory() as temporary:
        with tarfile.open(fileobj=BytesIO(_archive(folder, against))) as archive:
            archive.extractall(temporary, filter="data")
        yield Path(temporary)


def _archive(folder: Path, revision: str) -> bytes:
    if revision.startswith("-"):
        raise _no_revision(folder, revision)
    command: Sequence[str] = ["git", "-C", str(folder), "archive", "--format=tar", revision, "."]
    try:
        return subprocess.run(command, capture_output=True, check=True).stdout  # noqa: S603 - a fixed command
    except (OSError, subprocess.CalledProcessError):
        raise _no_revision(folder, revision) from None


def _no_revision(folder: Path, revision: str) -> ConfigError:
    problem = f"--against {revision} is no folder, and no git revision of {folder}"
    return ConfigError("W0002", problem, "name a folder, a branch, a tag or a commit")


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
