"""Uploads: the only way for clients to write into the widgets folder.

    files -> rate limit -> visibility -> the daemon's loader -> the folder

An uploader can neither replace nor shadow a hidden widget, and gets the same answer as for a
missing widget. An uploader with hidden widgets may therefore only replace visible widgets, under
their tool names: a free new name would reveal the hidden names. It must see its own upload.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Literal

import anyio

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.folder import Folder, open_folder
from widgetd.base.files.hints import Hints
from widgetd.base.files.source import Source, read
from widgetd.base.files.walk import walk
from widgetd.base.files.write import write_atomically
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern, escape
from widgetd.core.widget.definition import compute_digest
from widgetd.core.widget.naming import tests_name
from widgetd.core.widget.sidecar import SUFFIX, read_sidecar
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Audience, Principal
from widgetd.server.catalog.entries import key_of
from widgetd.server.catalog.limits import LIMITS
from widgetd.server.catalog.loader import SIDECAR_SUFFIXES, WIDGET_SUFFIXES, Load
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.observe.observer import Upload
from widgetd.server.store.contract import Bounds
from widgetd.server.store.rate_limits import LocalRateLimits

_FILE_BYTES = Limits().file_bytes

Reason = Literal["name", "long", "unfit", "taken", "full", "forbidden"]
"""Not a widget's name; too large; not servable; name taken; folder full; not permitted."""


def _build_rates() -> LocalRateLimits:
    bounds = Bounds(rate_per_s=LIMITS.upload_rate_per_s, burst=LIMITS.upload_burst)
    return LocalRateLimits(bounds=bounds, timer=SYSTEM.clock.steady_s)


_NAME = compile_pattern(rf"([^\W_][\w .,()+&'-]{{0,119}}\.widget(?:\.jsx)?)({escape(SUFFIX)})?")
"""A plain name: no folder, no hidden file, no character that a shell or terminal interprets."""


class RefusedUploadError(WidgetError):
    """The reason why an upload was refused, for its uploader.

    Attributes:
        replaceable: Whether it would succeed with permission to replace files.
    """

    def __init__(self, finding: Finding, reason: Reason, *, replaceable: bool = False) -> None:
        super().__init__(finding)
        self.reason = reason
        self.replaceable = replaceable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Uploads:
    """The uploads into a widgets folder, each after the other.

    Attributes:
        rates: Charges each upload to its uploader.
        view: Returns the visible part of a snapshot for an uploader's audience.
        observers: Record a finished upload. Called in the event loop. Must neither wait nor raise.
        is_begun: Whether the folder is served already. Else the first upload creates it, and the
            daemon begins anew with it.
    """

    folder: Path
    load: Load
    registry: Registry
    view: Callable[[Snapshot, Audience], Snapshot]
    hints: Hints
    rates: LocalRateLimits = field(default_factory=_build_rates)
    observers: Collection[Callable[[Upload], None]] = ()
    is_begun: bool = True
    _lock: anyio.Lock = field(default_factory=anyio.Lock, init=False)

    def read_files(self, name: str) -> tuple[Source | None, Source | None]:
        """Return the file `name` and its sidecar, each None if missing. Blocks.

        Raises:
            RefusedUploadError: A file cannot be read.
        """
        with open_folder(self.folder) as folder:
            return _sources(folder, name, {})

    async def save(
        self,
        uploader: Principal,
        files: Mapping[str, bytes],
        *,
        replace: bool = False,
        replaces: str | None = None,
        tests: bytes = b"",
        run_tests: Callable[[], Awaitable[None]] | None = None,
    ) -> str:
        """Write the files of a widget into the folder and return its tool.

        Args:
            uploader: The sending client.
            files: Contents by name: `X.widget` or `X.widget.jsx`, the same with `.toml`, or both.
            replace: Whether existing files may be replaced.
            replaces: Digest of the replaced content, or empty if there must be none. None leaves
                the decision to `replace`.
            tests: Content of a test file, to be written beside the widget.
            run_tests: Raises `CallError` if they fail. Called once nothing else forbids the upload.

        Raises:
            CallError: The uploader exceeds its rate.
            RefusedUploadError: The files were not written, except that the sidecar may have been
                if the folder became unwritable in between.
        """
        tool, code = "", ""
        try:
            (await self.rates.take(uploader.name)).check()
            name = _widget_of(files)
            contents = {**files, **({tests_name(name): tests} if tests else {})}
            put = partial(self._put, uploader, name, contents, bool(replaces) or replace, replaces)
            if run_tests is not None:
                await put(writes=False)
                await run_tests()
            async with self._lock:
                # A disconnected uploader must not leave a sidecar without its widget.
                with anyio.CancelScope(shield=True):
                    tool = await put(writes=True)
        except (CallError, RefusedUploadError) as error:
            code = error.code if isinstance(error, CallError) else error.finding.code
            raise
        finally:
            upload = Upload(
                uploader=uploader.name,
                path=next((match[1] for match in map(_NAME.fullmatch, files) if match), ""),
                tool=tool,
                code=code,
                size_bytes=sum(map(len, files.values())),
            )
            for observer in self.observers:
                observer(upload)
        return tool

    async def _put(
        self,
        uploader: Principal,
        name: str,
        contents: Mapping[str, bytes],
        may_replace: bool,
        replaces: str | None,
        *,
        writes: bool,
    ) -> str:
        served = self.registry.current if self.is_begun else Snapshot.empty()
        audience = uploader.audience
        view = None if audience.sees_everything else self.view(served, audience)
        place = partial(self._place, served, view, audience, name, contents)
        place = partial(place, may_replace=may_replace, replaces=replaces, writes=writes)
        try:
            tool, key = await SYSTEM.threads.run_blocking(place)
        except OSError as error:
            problem = f"it cannot be written ({error.strerror})"
            advice = "let the user who runs widgetd write it"
            raise _refusal("forbidden", name, problem, advice) from None
        if not self.is_begun or not writes:
            return tool
        # The next upload is validated against the served widgets, including this upload.
        self.hints.add(contents, finished=contents)
        with anyio.move_on_after(LIMITS.upload_wait_s):
            while (entry := served.entries.get(name)) is None or entry.key != key:
                served = await self.registry.wait_for_newer(served)
        return tool

    def _place(
        self,
        served: Snapshot,
        view: Snapshot | None,
        audience: Audience,
        name: str,
        contents: Mapping[str, bytes],
        *,
        may_replace: bool,
        replaces: str | None,
        writes: bool,
    ) -> tuple[str, str]:
        """Write `contents`, and return the widget's tool and the key of its entry.

        Without `writes`, this only raises what writing them would.
        """
        for file, content in contents.items():
            if len(content) > _FILE_BYTES:
                problem = f"it is longer than {_FILE_BYTES:,} bytes"
                advice = "leave out what it does not need"
                raise _refusal("long", file, problem, advice, code="W1002")
        if not self.is_begun:
            self.folder.mkdir(exist_ok=True)
        with open_folder(self.folder) as folder:
            tool = None if view is None else _tool_to_keep(folder, served, view, name)
            source, sidecar = _sources(folder, name, contents)
            if source is None:
                advice = f"bring {name} with it"
                raise _refusal("taken", f"{name}{SUFFIX}", "there is no widget beside it", advice)
            widget = self._load(source, sidecar)
            if not audience.sees(widget):
                problem = "this token would not see the widget that it makes"
                raise _refusal("forbidden", name, problem, "take one that does", code="W1010")
            if tool not in (None, widget.tool):
                raise _not_visible(name)
            _require_room(served, widget)
            if replaces is not None:
                _require_replaced(folder, name, replaces)
            _require_absent(folder, () if may_replace else contents)
            if writes:
                _write(folder, contents, replace=may_replace)
        return widget.tool, key_of(source, sidecar)

    def _load(self, source: Source, sidecar: Source | None) -> Widget:
        try:
            return self.load(source, sidecar)
        except WidgetError as error:
            raise RefusedUploadError(error.finding, "unfit") from None


def _require_room(served: Snapshot, widget: Widget) -> None:
    path, owner = widget.definition.path, served.widgets.get(widget.tool)
    if owner is not None and owner.definition.path != path:
        problem = f"the tool name '{widget.tool}' belongs to '{owner.definition.path}'"
        raise _refusal("taken", path, problem, "give this widget another name", code="W1108")
    if path not in served.entries and len(served.entries) >= LIMITS.folder_files:
        problem = f"the folder holds {len(served.entries):,} widgets, and uploads add no more"
        raise _refusal("full", path, problem, "remove some of them", code="W1011")


def _require_replaced(folder: Folder, name: str, replaces: str) -> None:
    present, sidecar = _sources(folder, name, {})
    now = "" if present is None else compute_digest(present, sidecar)
    if now == replaces:
        return
    if not now:
        advice = "save it as a new one, without 'replaces'"
        raise _refusal("taken", name, "there is no such file any more", advice, code="W3005")
    problem = f"the file there has the digest '{now}'"
    advice = f"read it, and save again with replaces = '{now}' if yours is to take its place"
    raise _refusal("taken", name, problem, advice, code="W3005")


def _require_absent(folder: Folder, names: Iterable[str]) -> None:
    for name in sorted(names, reverse=True):
        if _source(folder, name, {}) is not None:
            raise _exists(name)


def _write(folder: Folder, files: Mapping[str, bytes], *, replace: bool) -> None:
    # The sidecar first: it has no effect without its widget, so no client sees half of an upload.
    for name in sorted(files, reverse=True):
        try:
            write_atomically(folder, name, files[name], replace=replace)
        except FileExistsError:
            raise _exists(name) from None


def _tool_to_keep(folder: Folder, served: Snapshot, view: Snapshot, name: str) -> str | None:
    """Return the tool name that a widget at `name` must keep; None if it may have any."""
    listing = walk(folder, "", WIDGET_SUFFIXES + SIDECAR_SUFFIXES)
    visible = {*view.faults, *(widget.definition.path for widget in view.widgets.values())}
    existing = {*served.entries, *(path.removesuffix(SUFFIX) for path in listing.files)}
    nothing_hidden = not listing.unlisted and existing <= visible
    if name not in visible:
        if nothing_hidden:
            return None
        raise _not_visible(name)
    previous = served.entries[name].widget
    # The file may be newer than what is served, and no longer visible to this uploader.
    try:
        sidecar = read_sidecar(_source(folder, name + SUFFIX, {}))
    except WidgetError:
        raise _not_visible(name) from None
    if sidecar != (read_sidecar(None) if previous is None else previous.definition.sidecar):
        raise _not_visible(name)
    if nothing_hidden:
        return None
    if previous is None:
        raise _not_visible(name)
    return previous.tool


def is_widget_name(name: str) -> bool:
    match = _NAME.fullmatch(name)
    return match is not None and match[2] is None


def _widget_of(files: Mapping[str, bytes]) -> str:
    names = {match[1] for name in files if (match := _NAME.fullmatch(name))}
    if len(names) == 1 and all(map(_NAME.fullmatch, files)):
        return names.pop()
    odd = next((name for name in files if not _NAME.fullmatch(name)), ", ".join(files))
    advice = f"take names in letters and digits that end in .widget, or .widget{SUFFIX}"
    raise _refusal("name", odd, "this is no name for a widget or its sidecar", advice)


def _sources(
    folder: Folder, name: str, files: Mapping[str, bytes]
) -> tuple[Source | None, Source | None]:
    return _source(folder, name, files), _source(folder, name + SUFFIX, files)


def _source(folder: Folder, name: str, files: Mapping[str, bytes]) -> Source | None:
    if name in files:
        return Source.of(name, files[name])
    try:
        return read(folder, name, limit_bytes=_FILE_BYTES, quiet_ms=0)
    except FileNotFoundError:
        return None
    except WidgetError as error:
        raise RefusedUploadError(error.finding, "unfit") from None


def _exists(name: str) -> RefusedUploadError:
    advice = "replace it, or give the file another name"
    return _refusal("taken", name, "there is a file of this name", advice, replaceable=True)


def _not_visible(name: str) -> RefusedUploadError:
    problem = "this token replaces what it sees, under the tool name that it has, and adds nothing"
    advice = "take one that sees every widget"
    return _refusal("forbidden", name, problem, advice, code="W1010")


def _refusal(
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
