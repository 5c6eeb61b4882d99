"""Baselines of tests beside the test file: pictures, and roles and names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from widgetd.author.browser.limits import LIMITS
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.files.inside import read_inside, write_inside


@dataclass(frozen=True, slots=True, kw_only=True)
class Baselines:
    """The baselines of a test.

    Attributes:
        home: The folder of the test file. No baseline lies outside of it.
        prefix: Start of each file's path in `home`, as `pictures/Controls/acts`.
        update: Overwrite the baselines with what is seen, instead of comparing.
    """

    home: Path
    prefix: str
    update: bool = False

    def path(self, name: str, suffix: str) -> str:
        return f"{self.prefix}-{name}{suffix}" if name else f"{self.prefix}{suffix}"

    def read(self, name: str, suffix: str) -> bytes | None:
        """Return a baseline, or None if there is none yet and it is to be written.

        Raises:
            CallError: There is none, or it cannot be read (W4302).
        """
        path = self.path(name, suffix)
        try:
            return read_inside(self.home, path, limit_bytes=LIMITS.baseline_bytes)
        except FileNotFoundError:
            if self.update:
                return None
            file = path.rpartition("/")[2]
            raise CallError("W4302", f"there is no {file} to compare with; run --update") from None
        except WidgetError as error:
            problem = f"{path}: {error.finding.problem}; {error.finding.advice}"
            raise CallError("W4302", problem) from None

    def write(self, name: str, suffix: str, content: bytes) -> None:
        """Write a baseline.

        Raises:
            CallError: Its path leads out of `home` (W4302).
        """
        path = self.path(name, suffix)
        try:
            write_inside(self.home, path, content)
        except WidgetError as error:
            problem = f"{path}: {error.finding.problem}; {error.finding.advice}"
            raise CallError("W4302", problem) from None
