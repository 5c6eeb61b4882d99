"""Every way widgetd says no, addressed to whoever can act on it.

Three readers: `ConfigError` speaks to the operator, `WidgetError` to the author
of a file, `CallError` to the caller of a tool. Anything else that is raised is a
bug in widgetd. An error holds facts; `str()` composes the sentence. It refuses
to know where it will be shown: no colours, no transports, no log events.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from widgetd.errors.codes import TABLES, Code, Level

CODES: Mapping[str, Code] = MappingProxyType({row.code: row for rows in TABLES for row in rows})
"""Every code, in the order of the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing that can be said about a file, with where it is and what would be right.

    Attributes:
        code: A key of `CODES`.
        path: The file, relative to the widgets folder, with `/` between parts.
        at: A JSON pointer into the file; empty for the file as a whole.
        line: The line in the file, or in the text that `at` names; from 1.
        column: The column, likewise.
        problem: What is wrong, as a clause without a full stop.
        advice: What would be right, likewise.
    """

    code: str
    problem: str
    advice: str
    path: str = ""
    at: str = ""
    line: int | None = None
    column: int | None = None

    @property
    def level(self) -> Level:
        """Whether the file cannot be served because of this, or can."""
        return CODES[self.code].level

    def __str__(self) -> str:
        place = f"{self.path}#{self.at}" if self.at else self.path
        line = "" if self.line is None else f"line {self.line}: "
        return ": ".join(part for part in (place, f"{line}{self.problem}; {self.advice}") if part)


class WidgetdError(Exception):
    """The parent of every error that widgetd raises on purpose."""


class ConfigError(WidgetdError):
    """Says to the operator which setting, folder or port stands in the way.

    Attributes:
        code: A key of `CODES`.
        exit_code: 2 for a flag, setting or value; 3 for a folder, port or permission.
    """

    def __init__(self, code: str, problem: str, advice: str, *, exit_code: int = 2) -> None:
        super().__init__(code, problem, advice)
        self.code = code
        self.problem = problem
        self.advice = advice
        self.exit_code = exit_code

    def __str__(self) -> str:
        return f"{self.problem}; {self.advice}"


class WidgetError(WidgetdError):
    """Says to the author of a file why it cannot be served as it stands.

    Args:
        finding: The fault; `within` and `of` complete its place on the way out.
    """

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding)
        self.finding = finding

    def within(self, pointer: str) -> WidgetError:
        """The same error, seen from the document that holds the faulty value at `pointer`."""
        return WidgetError(replace(self.finding, at=pointer + self.finding.at))

    def of(self, path: str) -> WidgetError:
        """The same error, said of the file at `path`."""
        return WidgetError(replace(self.finding, path=path))

    def __str__(self) -> str:
        return str(self.finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidArgument:
    """One argument that does not fit: where, what was expected, what came.

    Attributes:
        path: Dotted, as `legs[0].from`; empty for the arguments as a whole.
        expected: A noun phrase, as `an integer from 0 to 100`.
        got: What came, as a caller would recognise it; already free of sensitive values.
    """

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        return f"{place}expected {self.expected}, got {self.got}"


class CallError(WidgetdError):
    """Says to the caller of a tool what to change before calling again.

    Attributes:
        code: A key of `CODES`.
        path: The argument at fault, dotted; empty where it is none.
        recoverable: Whether the same call may succeed later, unchanged.
        suggestions: What to try instead, best first.
        invalid_arguments: The arguments that do not fit, where that is what went wrong.
        retry_after_s: When the same call may succeed; None where nobody knows.
        place: Line and column in the template at which rendering failed, from 1; None elsewhere.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        path: str = "",
        recoverable: bool = False,
        suggestions: tuple[str, ...] = (),
        invalid_arguments: tuple[InvalidArgument, ...] = (),
        retry_after_s: float | None = None,
        place: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.path = path
        self.recoverable = recoverable
        self.suggestions = suggestions
        self.invalid_arguments = invalid_arguments
        self.retry_after_s = retry_after_s
        self.place = place

    def __str__(self) -> str:
        return self.message
