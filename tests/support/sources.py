"""The package's modules as syntax trees, for tests of the code's own rules."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "widgetd"


def parse_package(mentions: str) -> Iterator[tuple[str, ast.Module]]:
    """Yield the path in the package and the tree of each module that mentions something.

    Parsing all modules takes a second; most tests look for what a few of them contain.

    Args:
        mentions: A regular expression that matches in every module of interest.
    """
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if re.search(mentions, text):
            yield path.relative_to(PACKAGE).as_posix(), ast.parse(text)
