"""A stable name for one way of saying no; a retired one is never used again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Level = Literal["fault", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    """One row of a table.

    Attributes:
        code: `W`, the thousand of its table, and three digits.
        level: Whether it keeps a file or a call from being served as it stands.
        meaning: What is wrong, as a clause.
    """

    code: str
    level: Level
    meaning: str
