"""Take a widget from a browser into the folder, judged before it lands.

its file, its sidecar or both -> the same loader that serves -> the folder, under plain names
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from widgetd.errors import Finding, WidgetError
from widgetd.files.atomic_write import write_atomically
from widgetd.files.folder import Folder, opened
from widgetd.files.source import Source, read
from widgetd.limits import Limits
from widgetd.web.app import RefusedError
from widgetd.web.gallery.gallery import Gallery
from widgetd.widget.sidecar import SUFFIX

LIMITS = Limits()

_NAME = re.compile(rf"([^\W_][\w .,()+&'-]{{0,119}}\.widget)({re.escape(SUFFIX)})?")
"""A plain name: no folder, nothing hidden, nothing that a shell or a terminal would obey."""


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
            problem = f"it is longer than {LIMITS.file_bytes:,} bytes"
            raise _refused(413, one, problem, "leave out what it does not need", code="W1002")
    with opened(gallery.folder) as folder:
        source = _source(folder, name, files)
        if source is None:
            advice = f"drop {name} with it"
            raise _refused(409, f"{name}{SUFFIX}", "there is no widget beside it", advice)
        tool = _tool(gallery, source, _source(folder, name + SUFFIX, files))
        # A sidecar without its widget is nothing yet, so nobody sees the one without the other.
        for one in sorted(files, reverse=True):
            if not replace and _source(folder, one, {}) is not None:
                raise _exists(one)
        for one in sorted(files, reverse=True):
            try:
                write_atomically(folder, one, files[one], replace=replace)
            except FileExistsError:
                raise _exists(one) from None
            except OSError as error:
                problem = f"it cannot be written ({error.strerror})"
                advice = "let the user who runs widgetd write it"
                raise _refused(403, one, problem, advice) from None
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
        return Source.of(name, files[name])
    try:
        return read(folder, name, limit_bytes=LIMITS.file_bytes, quiet_ms=0)
    except FileNotFoundError:
        return None
    except WidgetError as error:
        raise _refusal(422, error.finding) from None


def _tool(gallery: Gallery, source: Source, sidecar: Source | None) -> str:
    try:
        made = gallery.load(source, sidecar)
    except WidgetError as error:
        raise _refusal(422, error.finding) from None
    owner = gallery.server.registry.current.widgets.get(made.tool)
    if owner is not None and owner.definition.path != source.path:
        problem = f"the tool name '{made.tool}' belongs to '{owner.definition.path}'"
        raise _refused(409, source.path, problem, "give this widget another name", code="W1108")
    return made.tool


def _exists(name: str) -> RefusedError:
    finding = Finding(
        code="W1006",
        path=name,
        problem="there is a file of this name",
        advice="replace it, or give the file another name",
    )
    return _refusal(409, finding, replaceable=True)


def _refused(
    status: int, path: str, problem: str, advice: str, *, code: str = "W1006"
) -> RefusedError:
    return _refusal(status, Finding(code=code, path=path, problem=problem, advice=advice))


def _refusal(status: int, finding: Finding, *, replaceable: bool = False) -> RefusedError:
    body = {
        "path": finding.path,
        "at": finding.at,
        "code": finding.code,
        "problem": finding.problem,
        "advice": finding.advice,
        "replaceable": replaceable,
    }
    return RefusedError(status, body)
