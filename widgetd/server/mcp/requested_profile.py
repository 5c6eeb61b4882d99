"""The profile in a client's address or header, as `/mcp?profile=split`.

Frameworks built on an SDK send the SDK's name (`mcp`), so `[profiles]` cannot tell them apart, and
few let their users set `_meta`. All of them take an address, and most take headers. Clients with
`split` but without views hand all of a result to their model, so they get its text alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import parse_qs

from widgetd.server.access.principal import Profile
from widgetd.server.render.result import check_profile

HEADER = "widgetd-profile"
_HEADER = HEADER.encode()


def read_profile(scope: Mapping[str, Any]) -> Profile | None:
    """Return the profile in the address, else in the header of a request, or None without one.

    Raises:
        CallError: There is no such profile (W2006).
    """
    query = scope.get("query_string", b"")
    if b"profile" in query:
        for name in parse_qs(query.decode("latin-1"), keep_blank_values=True).get("profile", ()):
            return check_profile(name, "profile")
    for key, value in scope.get("headers", ()):
        if key == _HEADER:
            return check_profile(value.decode("latin-1"), HEADER)
    return None
