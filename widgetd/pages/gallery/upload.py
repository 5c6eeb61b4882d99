"""Take a `.widget` file from a browser into the folder, judged before it lands.

bytes -> the same loader that serves -> the file, whole, under a plain name
"""

from __future__ import annotations

import re
from hashlib import blake2b

from widgetd.errors import Finding, WidgetError
from widgetd.files.folder import opened
from widgetd.files.place import place
from widgetd.files.source import Source, read
from widgetd.pages.gallery.gallery import Gallery
from widgetd.widget.limits import Limits

_NAME = re.compile(r"[^\W_][\w .,()+&'-]{0,119}\.widget")
"""A plain name: no folder, nothing hidden, nothing that a shell or a terminal would obey."""

LIMITS = Limits()


class RefusedError(Exception):
    """The file was not taken; `status` is the response's."""

    def __init__(self, status: int, finding: Finding) -> None:
        super().__init__(status, finding)
        self.status = status
        self.finding = finding


def take(gallery: Gallery, name: str, content: bytes, *, replace: bool) -> str:
    """Put `content` into the folder as `name`, and answer the tool that it makes.

    Args:
        gallery: Whose folder it is.
        name: What the browser calls the file.
        content: All of it; no longer than a widget may be.
        replace: Whether a file of that name may be replaced.

    Raises:
        RefusedError: It was not taken, and the folder is as it was.
    """
    if not _NAME.fullmatch(name):
        raise _refused(400, name, "W1004", "this is no name for a widget", "end it in .widget")
    with opened(gallery.folder) as folder:
        try:
            beside = read(folder, f"{name}.toml", limit_bytes=LIMITS.file_bytes, quiet_ms=0)
        except FileNotFoundError:
            beside = None
        except WidgetError as error:
            raise RefusedError(422, error.finding) from None
        tool = _tool(gallery, Source(path=name, content=content, digest=_digest(content)), beside)
        try:
            place(folder, name, content, replace=replace)
        except FileExistsError:
            advice = "replace it, or give the file another name"
            raise _refused(409, name, "W1001", "there is a file of this name", advice) from None
        except OSError as error:
            problem = f"it cannot be written ({error.strerror})"
            advice = "let the user who runs widgetd write the folder"
            raise _refused(403, name, "W1001", problem, advice) from None
    return tool


def _tool(gallery: Gallery, source: Source, sidecar: Source | None) -> str:
    try:
        made = gallery.server.toolbox.load(source, sidecar, limits=LIMITS, strict=gallery.strict)
    except WidgetError as error:
        raise RefusedError(422, error.finding) from None
    owner = gallery.server.registry.current.widgets.get(made.tool)
    if owner is not None and owner.definition.path != source.path:
        problem = f"the tool name '{made.tool}' belongs to '{owner.definition.path}'"
        raise _refused(409, source.path, "W1108", problem, "give this widget another name")
    return made.tool


def too_long(name: str) -> RefusedError:
    """The refusal of a file that is longer than a widget may be."""
    problem = f"it is longer than {LIMITS.file_bytes:,} bytes"
    return _refused(413, name, "W1002", problem, "leave out what it does not need")


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()


def _refused(status: int, path: str, code: str, problem: str, advice: str) -> RefusedError:
    return RefusedError(status, Finding(code=code, path=path, problem=problem, advice=advice))
