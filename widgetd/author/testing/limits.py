"""The limits of test files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """Limits of a file of tests.

    Attributes:
        bytes: Size of a YAML or CSV file.
        values: Values in a YAML file. An alias counts each time it is used.
        cases: Tests in a file, each once for every row of its variables.
        steps: Steps of a case, including its modules.
        file_steps: Steps of all cases of a file.
        module_depth: Depth of modules in modules.
        faults: Reported faults of a file.
    """

    bytes: int = 1024 * 1024
    values: int = 50_000
    cases: int = 10_000
    steps: int = 1_000
    file_steps: int = 100_000
    module_depth: int = 16
    faults: int = 100


LIMITS: Final = FileLimits()
