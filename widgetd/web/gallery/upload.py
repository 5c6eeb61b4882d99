"""Take a widget from a browser into the folder, judged before it lands.

its file, its sidecar or both -> the same loader that serves -> the folder, under plain names
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

from widgetd.errors import Finding, WidgetError
from widgetd.files.atomic_write import place
from widgetd.files.folder import Folder, opened
from widgetd.files.source import Source, read
from widgetd.limits import Limits
from widgetd.web.gallery.gallery import Gallery
from widgetd.widget.sidecar import SUFFIX

_NAME = re.compile(rf"([^\W_][\w .,()+&'-]{{0,119}}\.widget)({re.escape(SUFFIX)})?")
"""A plain name: no folder, nothing hidden, nothing that a shell or a terminal would obey."""

LIMITS = Limits()


class RefusedError(Exception):
    """Nothing was taken; `status` is the response's, and `replaceable` whether to ask again."""

    def __init__(self, status: int, finding: Finding, *, replaceable: bool = False) -> None:
        super().__init__(status, finding)
        self.status = status
        self.finding = finding
        self.replaceable = replaceable

    def wire(self) -> dict[str, Any]:
        """`{"path", "at", "code", "problem", "advice", "replaceable"}`."""
        finding = self.finding
        return {
            "path": finding.path,
            "at": finding.at,
            "code": finding.code,
            "problem": finding.problem,
            "advice": finding.advice,
            "replaceable": self.replaceable,
        }


def take(gallery: Gallery, files: Mapping[str, bytes], *, replace: bool) -> str:
    """Put the files of one widget into the folder, and answer the tool that they make.

    Args:
        gallery: Whose folder it is.
        files: By what the browser calls them: `X.widget`, `X.widget.toml`, or both.
        replace: Whether files of those names may be replaced.

    Raises:
        RefusedError: They were not taken. Only where the folder cannot be written any more
            halfway, the sidecar may be there.
    """
    name = _widget_of(files)
    for one, content in files.items():
        if len(content) > LIMITS.file_bytes:
            raise too_long(one)
    with opened(gallery.folder) as folder:
        source = _source(folder, name, files)
        if source is None:
            advice = f"drop {name} with it"
            raise _refused(409, f"{name}{SUFFIX}", "there is no widget beside it", advice)
        tool = _tool(gallery, source, _source(folder, name + SUFFIX, files))
        # A sidecar without its widget is nothing yet, so nobody sees the one without the other.
        for one in sorted(files, reverse=True):
            if not replace and _source(folder, one, {}) is not None:
                raise _standing(one)
        for one in sorted(files, reverse=True):
            _place(folder, one, files[one], replace=replace)
    return tool


def _widget_of(files: Mapping[str, bytes]) -> str:
    """The name of the one widget that all `files` belong to."""
    names = {match[1] for name in files if (match := _NAME.fullmatch(name))}
    if len(names) == 1 and all(map(_NAME.fullmatch, files)):
        return names.pop()
    odd = next((name for name in files if not _NAME.fullmatch(name)), ", ".join(files))
    advice = f"take names in letters and digits that end in .widget, or .widget{SUFFIX}"
    raise _refused(400, odd, "this is no name for a widget or its sidecar", advice)


def _source(folder: Folder, name: str, files: Mapping[str, bytes]) -> Source | None:
    """What will stand under `name`: what was sent, else what is there; None if neither."""
    if name in files:
        content = files[name]
        digest = blake2b(content, digest_size=16).hexdigest()
        return Source(path=name, content=content, digest=digest)
    try:
        return read(folder, name, limit_bytes=LIMITS.file_bytes, quiet_ms=0)
    except FileNotFoundError:
        return None
    except WidgetError as error:
        raise RefusedError(422, error.finding) from None


def _place(folder: Folder, name: str, content: bytes, *, replace: bool) -> None:
    try:
        place(folder, name, content, replace=replace)
    except FileExistsError:
        raise _standing(name) from None
    except OSError as error:
        problem = f"it cannot be written ({error.strerror})"
        raise _refused(403, name, problem, "let the user who runs widgetd write it") from None


def _tool(gallery: Gallery, source: Source, sidecar: Source | None) -> str:
    try:
        made = gallery.load(source, sidecar)
    except WidgetError as error:
        raise RefusedError(422, error.finding) from None
    owner = gallery.server.registry.current.widgets.get(made.tool)
    if owner is not None and owner.definition.path != source.path:
        finding = Finding(
            code="W1108",
            path=source.path,
            problem=f"the tool name '{made.tool}' belongs to '{owner.definition.path}'",
            advice="give this widget another name",
        )
        raise RefusedError(409, finding)
    return made.tool


def too_long(name: str) -> RefusedError:
    """The refusal of a file that is longer than a widget may be."""
    problem = f"it is longer than {LIMITS.file_bytes:,} bytes"
    advice = "leave out what it does not need"
    return RefusedError(413, Finding(code="W1002", path=name, problem=problem, advice=advice))


def _standing(name: str) -> RefusedError:
    advice = "replace it, or give the file another name"
    return _refused(409, name, "there is a file of this name", advice, replaceable=True)


def _refused(
    status: int, path: str, problem: str, advice: str, *, replaceable: bool = False
) -> RefusedError:
    finding = Finding(code="W1006", path=path, problem=problem, advice=advice)
    return RefusedError(status, finding, replaceable=replaceable)
