"""Which origins a template names, so that a host may let a page load images from there."""

from __future__ import annotations

import re

_URL = re.compile(r"https://[A-Za-z0-9.-]+(?::\d{1,5})?(?=[/\"'\\)?#\s]|$)")


def origins(template: str) -> frozenset[str]:
    """The `https` origins that stand in the template's own text: `https://images.example.com`.

    What comes from arguments is nobody's to know here; an operator may allow more.
    """
    return frozenset(match.group() for match in _URL.finditer(template))
