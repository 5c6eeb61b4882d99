"""Which file owns a tool name, where several files claim it.

Decided from the names alone, so it does not depend on the order of files; and
brought up to date for the files that changed, however many others there are.
"""

from __future__ import annotations

from collections.abc import Mapping

from widgetd.widget.naming import by_preference

Claims = Mapping[str, tuple[str, ...]]
"""By tool name, the paths of the files that claim it, the owner's first."""


def reclaimed(
    claims: Claims, *, given_up: Mapping[str, str], made: Mapping[str, str]
) -> Mapping[str, tuple[str, ...] | None]:
    """The claims that are others now; None where nobody claims the name any more.

    Args:
        claims: The claims until now.
        given_up: Tool names by path, as those files claimed them.
        made: Tool names by path, as those files claim them now.
    """
    touched: dict[str, set[str]] = {}
    for path, tool in given_up.items():
        touched.setdefault(tool, set(claims[tool])).discard(path)
    for path, tool in made.items():
        touched.setdefault(tool, set(claims.get(tool, ()))).add(path)
    return {tool: tuple(by_preference(paths)) or None for tool, paths in touched.items()}
