"""The one door by which files come into the widgets folder, whoever brings them.

    files -> the writer's allowance -> what they may touch -> the loader that serves -> the folder

What a writer does not see can be neither replaced, nor shadowed by a name, nor told from what
is not there. So where anything is hidden from them, they replace what they see, under the tool
name that it has, and add nothing: whether a new name is free would tell. What they write, they
see. Knows nothing of tokens and pages.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal, Protocol

import anyio
import anyio.to_thread

from widgetd.catalog.loader import SIDECAR_SUFFIXES, WIDGET_SUFFIXES, Load, key_of
from widgetd.catalog.registry import Registry
from widgetd.catalog.snapshot import Snapshot
from widgetd.errors import CallError, Finding, WidgetError
from widgetd.files.folder import Folder, open_folder
from widgetd.files.hints import Hints
from widgetd.files.source import Source, read
from widgetd.files.walk import walk
from widgetd.files.write import write_atomically
from widgetd.limits import Limits
from widgetd.text_search import compile_pattern, escape
from widgetd.widget.definition import digest
from widgetd.widget.sidecar import SUFFIX, read_sidecar
from widgetd.widget.widget import Widget

LIMITS = Limits()

MOST_FILES = 10_000
"""A folder that holds so many widgets is added to by other hands only."""

SERVED_S = 5.0
"""How long an answer waits until what was brought is served; a look takes far less."""

Reason = Literal["name", "long", "unfit", "taken", "full", "forbidden"]
"""No widget's name; too long; not to be served; its name is taken; no room; not for this writer."""

UploadOutcome = Literal["ok", "error", "failed"]

Allowance = Callable[[str], Awaitable[None]]
"""Takes one from what a writer of that name may bring; raises `CallError` where nothing is left."""

_NAME = compile_pattern(rf"([^\W_][\w .,()+&'-]{{0,119}}\.widget)({escape(SUFFIX)})?")
"""A plain name: no folder, nothing hidden, nothing that a shell or a terminal would obey."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Whoever brings files.

    Attributes:
        name: As their token names them; empty for whoever needs none.
        sees_everything: Whether nothing can be hidden from them.
        sees: Whether a widget exists for them.
        view: A snapshot as they see it.
    """

    name: str
    sees_everything: bool
    sees: Callable[[Widget], bool]
    view: Callable[[Snapshot], Snapshot]


class RefusedUploadError(WidgetError):
    """Says to a writer why their files were not taken.

    Attributes:
        replaceable: Whether they would be if they may replace what is there.
    """

    def __init__(self, finding: Finding, reason: Reason, *, replaceable: bool = False) -> None:
        super().__init__(finding)
        self.reason = reason
        self.replaceable = replaceable


@dataclass(frozen=True, slots=True, kw_only=True)
class Upload:
    """One attempt to put files into the folder that is over.

    Attributes:
        writer: Who brought them; empty where nobody has a name.
        path: The widget's file; empty where what was brought has no such name.
        tool: The tool that they make; empty where they were refused.
        code: Why they were refused, as `W1006`; empty if they were taken.
        size_bytes: How long they are together.
    """

    writer: str
    path: str
    tool: str
    code: str
    size_bytes: int

    @property
    def outcome(self) -> UploadOutcome:
        """Taken, refused, or neither."""
        return "ok" if self.tool else "error" if self.code else "failed"


class Observer(Protocol):
    """Is told who brought what. Called in the event loop; must neither wait nor raise."""

    def on_upload(self, upload: Upload) -> None:
        """Files were taken, or refused."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Intake:
    """Takes files into the widgets folder, one widget after the other."""

    folder: Path
    load: Load
    registry: Registry
    hints: Hints
    allowance: Allowance
    observers: Collection[Observer] = ()
    _one: anyio.Lock = field(default_factory=anyio.Lock, init=False)

    def text_of(self, name: str) -> str:
        """What the file of this name says; empty where there is none. Blocks."""
        with open_folder(self.folder) as folder:
            source = _source(folder, name, {})
        return "" if source is None else source.content.decode("utf-8-sig", errors="replace")

    def tried(self, name: str, files: Mapping[str, bytes]) -> Widget:
        """The widget that would be at `name` if these files were there; nothing is put. Blocks.

        Raises:
            RefusedUploadError: There would be none.
        """
        with open_folder(self.folder) as folder:
            source = _source(folder, name, files)
            sidecar = _source(folder, name + SUFFIX, files)
        if source is None:
            raise _refused("taken", name, "there is no such file any more", "save it anew")
        return self._made(source, sidecar)

    async def take(
        self,
        writer: Writer,
        files: Mapping[str, bytes],
        *,
        replace: bool = False,
        replaces: str | None = None,
    ) -> str:
        """Put the files of one widget into the folder, and answer the tool that they make.

        Args:
            writer: Who brings them.
            files: By what the writer calls them: `X.widget`, `X.widget.toml`, or both.
            replace: Whether files of those names may be replaced.
            replaces: Of which content the widget is replaced, by its digest; empty where there
                must be none. None where `replace` says it.

        Raises:
            CallError: The writer comes too often.
            RefusedUploadError: They were not taken. Only where the folder cannot be written any
                more halfway, the sidecar may be there.
        """
        tool, code = "", ""
        try:
            await self.allowance(writer.name)
            name = _widget_of(files)
            async with self._one:
                # What has begun is finished, whether or not its writer waits.
                with anyio.CancelScope(shield=True):
                    tool = await self._put(writer, name, files, replace, replaces)
        except (CallError, RefusedUploadError) as error:
            code = error.code if isinstance(error, CallError) else error.finding.code
            raise
        finally:
            upload = Upload(
                writer=writer.name,
                path=next((match[1] for match in map(_NAME.fullmatch, files) if match), ""),
                tool=tool,
                code=code,
                size_bytes=sum(map(len, files.values())),
            )
            for observer in self.observers:
                observer.on_upload(upload)
        return tool

    async def _put(
        self,
        writer: Writer,
        name: str,
        files: Mapping[str, bytes],
        replace: bool,
        replaces: str | None,
    ) -> str:
        served = self.registry.current
        view = None if writer.sees_everything else writer.view(served)
        place = partial(
            self._place, served, view, writer, name, files, replace=replace, replaces=replaces
        )
        try:
            tool, key = await anyio.to_thread.run_sync(place)
        except OSError as error:
            problem = f"it cannot be written ({error.strerror})"
            advice = "let the user who runs widgetd write it"
            raise _refused("forbidden", name, problem, advice) from None
        # The next writer is judged by what is served, and what this one brought is part of it.
        self.hints.add(files, finished=files)
        with anyio.move_on_after(SERVED_S):
            while (entry := served.entries.get(name)) is None or entry.key != key:
                served = await self.registry.newer_than(served)
        return tool

    def _place(
        self,
        served: Snapshot,
        view: Snapshot | None,
        writer: Writer,
        name: str,
        files: Mapping[str, bytes],
        *,
        replace: bool,
        replaces: str | None,
    ) -> tuple[str, str]:
        """Put `files` into the folder, and answer their tool and the key of their entry."""
        for one, content in files.items():
            if len(content) > LIMITS.file_bytes:
                problem = f"it is longer than {LIMITS.file_bytes:,} bytes"
                advice = "leave out what it does not need"
                raise _refused("long", one, problem, advice, code="W1002")
        with open_folder(self.folder) as folder:
            tool = None if view is None else _tool_to_keep(folder, served, view, name)
            source = _source(folder, name, files)
            if source is None:
                advice = f"bring {name} with it"
                raise _refused("taken", f"{name}{SUFFIX}", "there is no widget beside it", advice)
            sidecar = _source(folder, name + SUFFIX, files)
            made = self._made(source, sidecar)
            if not writer.sees(made):
                problem = "this token would not see the widget that it makes"
                raise _refused("forbidden", name, problem, "take one that does", code="W1010")
            if tool not in (None, made.tool):
                raise _not_yours(name)
            _demand_room(served, made)
            if replaces is not None:
                _demand_known(folder, name, replaces)
            _land(folder, files, replace=bool(replaces) or replace)
        return made.tool, key_of(source, sidecar)

    def _made(self, source: Source, sidecar: Source | None) -> Widget:
        try:
            return self.load(source, sidecar)
        except WidgetError as error:
            raise RefusedUploadError(error.finding, "unfit") from None


def _demand_room(served: Snapshot, made: Widget) -> None:
    """Return if the name that `made` has is its own, and the folder takes it."""
    path, owner = made.definition.path, served.widgets.get(made.tool)
    if owner is not None and owner.definition.path != path:
        problem = f"the tool name '{made.tool}' belongs to '{owner.definition.path}'"
        raise _refused("taken", path, problem, "give this widget another name", code="W1108")
    if path not in served.entries and len(served.entries) >= MOST_FILES:
        problem = f"the folder holds {len(served.entries):,} widgets, and uploads add no more"
        raise _refused("full", path, problem, "remove some of them", code="W1011")


def _demand_known(folder: Folder, name: str, replaces: str) -> None:
    """Return if what stands under `name` is what the writer knows it to be."""
    present = _source(folder, name, {})
    now = "" if present is None else digest(present, _source(folder, name + SUFFIX, {}))
    if now == replaces:
        return
    if not now:
        advice = "save it as a new one, without 'replaces'"
        raise _refused("taken", name, "there is no such file any more", advice, code="W3005")
    problem = f"the file there has the digest '{now}'"
    advice = f"read it, and save again with replaces = '{now}' if yours is to take its place"
    raise _refused("taken", name, problem, advice, code="W3005")


def _land(folder: Folder, files: Mapping[str, bytes], *, replace: bool) -> None:
    # A sidecar without its widget is nothing yet, so nobody sees the one without the other.
    for name in sorted(files, reverse=True):
        if not replace and _source(folder, name, {}) is not None:
            raise _exists(name)
    for name in sorted(files, reverse=True):
        try:
            write_atomically(folder, name, files[name], replace=replace)
        except FileExistsError:
            raise _exists(name) from None


def _tool_to_keep(folder: Folder, served: Snapshot, view: Snapshot, name: str) -> str | None:
    """The tool that a widget at `name` must go on being; None where it may be any.

    Refused where the writer does not see what stands there, or may add nothing.
    """
    listing = walk(folder, "", WIDGET_SUFFIXES + SIDECAR_SUFFIXES)
    shown = {*view.faults, *(widget.definition.path for widget in view.widgets.values())}
    there = {*served.entries, *(path.removesuffix(SUFFIX) for path in listing.files)}
    nothing_hidden = not listing.unlisted and there <= shown
    if name not in shown:
        if nothing_hidden:
            return None
        raise _not_yours(name)
    known = served.entries[name].widget
    # What stands there may be newer than what is served, and not for this writer any more.
    try:
        sidecar = read_sidecar(_source(folder, name + SUFFIX, {}))
    except WidgetError:
        raise _not_yours(name) from None
    if sidecar != (read_sidecar(None) if known is None else known.definition.sidecar):
        raise _not_yours(name)
    if nothing_hidden:
        return None
    if known is None:
        raise _not_yours(name)
    return known.tool


def is_widget_name(name: str) -> bool:
    """Whether a file may be called so that is a widget: a plain name, in the folder itself."""
    match = _NAME.fullmatch(name)
    return match is not None and match[2] is None


def _widget_of(files: Mapping[str, bytes]) -> str:
    """The name of the one widget that all `files` belong to."""
    names = {match[1] for name in files if (match := _NAME.fullmatch(name))}
    if len(names) == 1 and all(map(_NAME.fullmatch, files)):
        return names.pop()
    odd = next((name for name in files if not _NAME.fullmatch(name)), ", ".join(files))
    advice = f"take names in letters and digits that end in .widget, or .widget{SUFFIX}"
    raise _refused("name", odd, "this is no name for a widget or its sidecar", advice)


def _source(folder: Folder, name: str, files: Mapping[str, bytes]) -> Source | None:
    """What will stand under `name`: what was brought, else what is there; None if neither."""
    if name in files:
        return Source.of(name, files[name])
    try:
        return read(folder, name, limit_bytes=LIMITS.file_bytes, quiet_ms=0)
    except FileNotFoundError:
        return None
    except WidgetError as error:
        raise RefusedUploadError(error.finding, "unfit") from None


def _exists(name: str) -> RefusedUploadError:
    advice = "replace it, or give the file another name"
    return _refused("taken", name, "there is a file of this name", advice, replaceable=True)


def _not_yours(name: str) -> RefusedUploadError:
    """The one answer to whatever would touch, or tell of, what the writer does not see."""
    problem = "this token replaces what it sees, under the tool name that it has, and adds nothing"
    advice = "take one that sees every widget"
    return _refused("forbidden", name, problem, advice, code="W1010")


def _refused(
    reason: Reason,
    path: str,
    problem: str,
    advice: str,
    *,
    code: str = "W1006",
    replaceable: bool = False,
) -> RefusedUploadError:
    finding = Finding(code=code, path=path, problem=problem, advice=advice)
    return RefusedUploadError(finding, reason, replaceable=replaceable)
