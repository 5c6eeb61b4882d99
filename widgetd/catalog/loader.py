"""Read a widget's file and the sidecar beside it, at once, without waiting for their writers."""

from __future__ import annotations

from functools import partial

from widgetd.files.folder import Folder
from widgetd.files.source import Source, read
from widgetd.widget.sidecar import SUFFIX


def read_pair(folder: Folder, path: str, *, limit_bytes: int) -> tuple[Source, Source | None]:
    """The file at `path`, and its sidecar if there is one.

    Args:
        folder: Held open by the caller.
        path: Relative to `folder`.
        limit_bytes: A longer file is refused.

    Raises:
        WidgetError: One of them cannot be served (W1001 to W1004).
        FileNotFoundError: There is no such file.
    """
    take = partial(read, folder, limit_bytes=limit_bytes, quiet_ms=0)
    source = take(path)
    try:
        return source, take(path + SUFFIX)
    except FileNotFoundError:
        return source, None
