"""The limits of test files, in one table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True, kw_only=True)
class FileLimits:
    """Limits of one file of tests.

    Attributes:
        bytes: Size of a YAML or CSV file.
        values: Values in one YAML file; an alias counts each time it is used.
        cases: Tests in one file, each once for every row of its variables.
        steps: Steps of one case, those of the modules it uses included.
        file_steps: Steps of all cases of one file.
        module_depth: Modules that use modules.
        faults: Faults that are reported of one file.
    """

    bytes: int = 1024 * 1024
    values: int = 50_000
    cases: int = 10_000
    steps: int = 1_000
    file_steps: int = 100_000
    module_depth: int = 16
    faults: int = 100


LIMITS: Final = FileLimits()
