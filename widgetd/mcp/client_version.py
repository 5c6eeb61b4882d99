"""Hold what a widget asks of its clients against what a call says of the one that makes it."""

from __future__ import annotations

from widgetd.errors import CallError
from widgetd.mcp.caller import Caller
from widgetd.widget.version import precedence
from widgetd.widget.widget import Widget

CLIENT_VERSION_KEY = "widgetd/clientVersion"
"""In a call's `_meta`: the version of the client that will show the widget."""

_AT = f"_meta.{CLIENT_VERSION_KEY}"


def check_client(widget: Widget, caller: Caller) -> None:
    """Refuse a client that says that it is older than `widget` needs; one that says nothing may be.

    Raises:
        CallError: It is too old (W2010), or says what is no version (W2006).
    """
    needed, said = widget.definition.sidecar.min_client_version, caller.meta.get(CLIENT_VERSION_KEY)
    if needed is None or said is None:
        return
    least, given = precedence(needed), precedence(said) if isinstance(said, str) else None
    if given is None:
        raise CallError(
            "W2006", f'expected a version, as in "{needed}", got {said!r:.60}', path=_AT
        )
    if least is not None and given < least:
        raise CallError(
            "W2010",
            f"{widget.tool} needs a client of version {needed} or later, got {said}",
            path=_AT,
            suggestions=(f"update the client to {needed} or later",),
        )
