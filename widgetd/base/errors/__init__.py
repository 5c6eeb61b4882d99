"""Errors, each addressed to the reader who can act on it.

`ConfigError` addresses the operator, `WidgetError` the author of a file, `CallError` the caller of
a tool. Any other exception is a bug in widgetd. An error holds facts and `str()` composes the
sentence, without colours, transports or log events: where it is shown is the caller's concern.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from types import MappingProxyType

from widgetd.base.errors.codes import TABLES, Code, Level

CODES: Mapping[str, Code] = MappingProxyType({row.code: row for rows in TABLES for row in rows})
"""All codes, in the order of the documentation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A fault or warning about a file, with its place and what would be right.

    Attributes:
        code: A key of `CODES`.
        path: The file, relative to the widgets folder, with `/` between parts.
        at: A JSON pointer into the file; empty for the file as a whole.
        line: The line in the file, or in the text that `at` names; from 1.
        column: The column in that line, from 1.
        problem: The mistake, as a clause without a full stop.
        advice: The correction, in the same form.
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
        """Return `fault` if the file cannot be served because of this, else `warning`."""
        return CODES[self.code].level

    def __str__(self) -> str:
        place = f"{self.path}#{self.at}" if self.at else self.path
        line = "" if self.line is None else f"line {self.line}: "
        return ": ".join(part for part in (place, f"{line}{self.problem}; {self.advice}") if part)


class WidgetdError(Exception):
    """The parent of all errors that widgetd raises on purpose."""

    # Errors of loading are ValueErrors, too, as programs of mcp-chatkit-widget expect. A CallError
    # is none: a handler of malformed values would take it for a value, and lose its code.


@dataclass(eq=False, repr=False)
class ConfigError(WidgetdError, ValueError):
    """A setting, folder or port that the operator has to change.

    Attributes:
        code: A key of `CODES`.
        exit_code: 2 for a flag, setting or value; 3 for a folder, port or permission.
    """

    code: str
    problem: str
    advice: str
    _: KW_ONLY
    exit_code: int = 2

    def __str__(self) -> str:
        return f"{self.problem}; {self.advice}"


class WidgetError(WidgetdError, ValueError):
    """Faults that the author of a file has to correct before it can be served.

    Args:
        finding: The first fault; `within` and `of` complete its place as the error propagates.
        others: Further faults that were found at once.
    """

    def __init__(self, finding: Finding, *others: Finding) -> None:
        super().__init__(finding, *others)
        self.finding = finding
        self.findings = (finding, *others)

    def within(self, pointer: str) -> WidgetError:
        """Return the same error for the document that holds the faulty value at `pointer`."""
        return WidgetError(
            *(replace(finding, at=pointer + finding.at) for finding in self.findings)
        )

    def of(self, path: str) -> WidgetError:
        return WidgetError(*(replace(finding, path=path) for finding in self.findings))

    def __str__(self) -> str:
        return str(self.finding)


@dataclass(frozen=True, slots=True, kw_only=True)
class InvalidArgument:
    """An argument that does not fit the schema.

    Attributes:
        path: The dotted path, as `legs[0].from`; empty for the arguments as a whole.
        expected: A noun phrase, as `an integer from 0 to 100`.
        got: The value as the caller would recognise it, without sensitive values.
    """

    path: str
    expected: str
    got: str

    def __str__(self) -> str:
        place = f"{self.path}: " if self.path else ""
        return f"{place}expected {self.expected}, got {self.got}"


@dataclass(eq=False, repr=False)
class CallError(WidgetdError):
    """A fault that the caller of a tool can correct before calling again.

    Attributes:
        code: A key of `CODES`.
        path: The dotted path of the argument at fault; empty if no argument is.
        recoverable: Whether the same call may succeed later.
        suggestions: Alternatives, best first.
        invalid_arguments: The arguments that do not fit the schema, if that is the fault.
        retry_after_s: Seconds until the same call may succeed; None if unknown.
        place: Line and column of the template at which rendering failed, from 1; None otherwise.
        words: The own words of the upstream that failed. They are third-party text, so they are
            no part of the message, and only operators see them.
    """

    code: str
    message: str
    _: KW_ONLY
    path: str = ""
    recoverable: bool = False
    suggestions: tuple[str, ...] = ()
    invalid_arguments: tuple[InvalidArgument, ...] = ()
    retry_after_s: float | None = None
    place: tuple[int, int] | None = None
    words: str = ""

    def __str__(self) -> str:
        return self.message

    def for_operators(self) -> CallError:
        """Return the error with the upstream's words in its message."""
        return replace(self, message=f"{self.message}: {self.words}") if self.words else self
