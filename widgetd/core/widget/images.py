"""Find the origins of a tree's images, and those that a host would block.

A host loads images only from the origins that a widget declares. Otherwise the author of an
argument could learn, from the requests for an image, who looks at the widget.

Source: MCP Apps 2026-01-26, "Content Security Policy".
"""

from __future__ import annotations

from collections.abc import Collection

from widgetd.base.text_search import compile_pattern, read_tokens

ORIGIN = r"^https?://(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:[0-9]{1,5})?$"
"""An origin that images may be allowed to come from: `https://*.example.com`."""

_REMOTE = compile_pattern(
    rb'(?i)"(?:src|favicon)":"\s*(https?://[^/?#"\\\s]{1,253})'
    rb'|url\(\s*(?:\\")?\'?(https?://[^/?#"\\\s\')]{1,253})',
)


def find_image_origins(tree: bytes) -> frozenset[str]:
    """Return the origins of the images in a tree's JSON: `{"https://images.example.com"}`."""
    if b"http" not in tree:
        return frozenset()
    found = (image[1] or image[2] for image in read_tokens(_REMOTE, tree))
    return frozenset(origin.decode(errors="replace").lower() for origin in found)


def find_blocked(origins: Collection[str], allowed: Collection[str]) -> tuple[str, ...]:
    """Return those of `origins` that `allowed` does not admit, sorted."""
    return tuple(sorted(one for one in origins if not any(_admits(a, one) for a in allowed)))


def _admits(allowed: str, origin: str) -> bool:
    before, wildcard, after = allowed.partition("*")
    if not wildcard:
        return allowed == origin
    return origin.startswith(before) and origin.endswith(after) and len(origin) > len(allowed) - 1
