"""Every way widgetd says no, addressed to whoever can act on it.

Three readers: `ConfigError` speaks to the operator, `WidgetError` to the author
of a file, `CallError` to the caller of a tool. Anything else that is raised is a
bug in widgetd. An error holds facts; `str()` composes the sentence. It refuses
to know where it will be shown: no colours, no transports, no log events.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import islice
from types import MappingProxyType
from typing import Literal

Level = Literal["fault", "warning"]


@dataclass(frozen=True, slots=True)
class Code:
    """A stable name for one way of saying no."""

    code: str
    level: Level
    meaning: str


def _table(*rows: tuple[str, Level, str]) -> Mapping[str, Code]:
    return MappingProxyType({row[0]: Code(*row) for row in rows})


CODES: Mapping[str, Code] = _table(
    # W0xxx: the daemon and its settings
    ("W0001", "fault", "a setting is unknown"),
    ("W0002", "fault", "a setting has a value that cannot be used"),
    ("W0003", "fault", "the widgets folder does not exist"),
    ("W0004", "fault", "the widgets folder is not a folder"),
    ("W0005", "fault", "the address is in use or not ours"),
    ("W0006", "fault", "a permission is missing"),
    ("W0007", "fault", "an installed library is not the one widgetd was tested with"),
    ("W0008", "fault", "the widgets folder has vanished or was emptied as a whole"),
    ("W0009", "fault", "an address that other machines reach has no token"),
    ("W0010", "fault", "the token file cannot be used"),
    ("W0011", "fault", "a program that the command needs is missing"),
    ("W0012", "fault", "two built-in tools have the same name"),
    # W10xx: files
    ("W1001", "fault", "a file cannot be read"),
    ("W1002", "fault", "a file is too large"),
    ("W1003", "fault", "a file leads out of the widgets folder"),
    ("W1004", "fault", "a file's name is not UTF-8"),
    ("W1005", "fault", "widgetd itself failed on a file"),
    ("W1006", "fault", "an upload cannot be put into the folder under its name"),
    # W11xx: the .widget document
    ("W1101", "fault", "the file is not JSON"),
    ("W1102", "fault", "a key stands twice in one object"),
    ("W1103", "fault", "the JSON nests too deeply"),
    ("W1104", "fault", "a number or a character cannot be represented"),
    ("W1105", "fault", "a required key is missing"),
    ("W1106", "fault", "a key has a value of the wrong type"),
    ("W1107", "fault", "the version is unknown"),
    ("W1108", "fault", "the tool name is taken by another file"),
    ("W1109", "fault", "the tool name is reserved"),
    ("W1110", "warning", "encodedWidget cannot be decoded"),
    ("W1111", "fault", "the sidecar is not TOML"),
    ("W1112", "fault", "a key of the sidecar is unknown"),
    ("W1113", "fault", "a key of the sidecar has a value that cannot be used"),
    ("W1114", "warning", "a key is unknown, and close to a known one"),
    ("W1115", "warning", "a name or a description holds characters that nobody sees"),
    ("W1116", "warning", "there is no description"),
    ("W1117", "warning", "the description is too long"),
    # W12xx: the argument schema
    ("W1201", "fault", "the schema is not valid JSON Schema"),
    ("W1202", "fault", "the schema refers to something outside the file"),
    ("W1203", "fault", "the schema is too large"),
    ("W1204", "fault", "the schema does not describe an object"),
    ("W1205", "fault", "a pattern cannot be matched in linear time"),
    ("W1206", "fault", "the schema would break the tool list of other widgets"),
    ("W1207", "fault", "the schema admits no arguments"),
    ("W1210", "warning", "a field of the schema is never used"),
    ("W1211", "warning", "a sample does not fit the schema"),
    ("W1212", "warning", "some hosts cannot read this schema"),
    ("W1213", "warning", "the sidecar names a field that the schema lacks"),
    ("W1214", "warning", "the sidecar describes an action that the template lacks"),
    # W13xx: the template
    ("W1301", "fault", "the template cannot be parsed"),
    ("W1302", "fault", "the template uses what templates may not use"),
    ("W1303", "fault", "the template is too large"),
    ("W1305", "fault", "the template's output is not JSON"),
    ("W1306", "fault", "the template's root is not a widget root"),
    ("W1307", "warning", "the exporter lost a value"),
    ("W1308", "warning", "an index of a loop is never bound"),
    ("W1309", "warning", "a comma is missing or stands where none belongs"),
    ("W1310", "fault", "the template fails whatever it is given"),
    ("W1320", "warning", "the template reads what the schema does not declare"),
    ("W1321", "fault", "under strict rules, the template reads what the schema does not declare"),
    ("W1322", "warning", "the template fails on arguments that the schema admits"),
    ("W1323", "warning", "a sample renders otherwise than the preview shows"),
    ("W1324", "warning", "the exporter made components of what is data"),
    # W14xx: the tree of components
    ("W1401", "warning", "a component is unknown"),
    ("W1402", "warning", "a property is unknown"),
    ("W1403", "warning", "a property has an unknown value"),
    ("W1404", "warning", "an icon is unknown"),
    ("W1405", "warning", "a property has a value of the wrong type"),
    ("W1406", "warning", "a component stands where it may not"),
    ("W1407", "warning", "a component lacks a property"),
    ("W1408", "warning", "an action's payload hides a field of the form"),
    # W15xx: changes that callers may stumble over
    ("W1501", "warning", "a field was removed"),
    ("W1502", "warning", "a field is required now"),
    ("W1503", "warning", "a field admits less"),
    ("W1504", "warning", "the tool has another name"),
    ("W1505", "warning", "a tool was removed"),
    # W2xxx: calls
    ("W2001", "fault", "no such tool"),
    ("W2002", "fault", "the arguments do not fit the schema"),
    ("W2003", "fault", "the arguments nest too deeply"),
    ("W2004", "fault", "the template failed on these arguments"),
    ("W2005", "fault", "rendering exceeded its budget"),
    ("W2006", "fault", "a call's _meta asks for what does not exist"),
    ("W2007", "fault", "there is no such render, or not any more"),
    ("W2008", "fault", "the body of a request is too large"),
    ("W2009", "fault", "the body of a request is not JSON"),
    ("W2010", "fault", "a client is too old for the widget"),
    # W22xx: limits
    ("W2201", "fault", "a principal calls too often"),
    ("W2202", "fault", "a principal has too many calls running at the same time"),
    ("W2203", "fault", "a client subscribes to too many resources"),
    # W23xx: access
    ("W2301", "fault", "a token lacks a scope"),
    # W24xx: actions
    ("W2401", "fault", "a render offers no such action"),
    ("W2402", "fault", "too many actions are unread"),
    ("W2403", "fault", "an action's payload is too large"),
    ("W2404", "fault", "an action's payload is not one that the render offers"),
    ("W2405", "fault", "an action comes to a process that ends, and would be lost with it"),
)


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
    ) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.path = path
        self.recoverable = recoverable
        self.suggestions = suggestions
        self.invalid_arguments = invalid_arguments
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.message


def nearest(name: str, known: Sequence[str]) -> str | None:
    """The member of `known` that `name` was most likely meant to be, if any is close.

    Among many, it is looked for beside `name` in the order of names, and where names end alike.
    """
    if len(known) > _MANY:
        ordered = sorted(known)
        at = bisect_left(ordered, name)
        alike = islice((other for other in known if other.endswith(name[-4:])), _MANY // 2)
        known = [*ordered[max(at - _MANY // 4, 0) : at + _MANY // 4], *alike]
    matches = get_close_matches(name, known, n=1, cutoff=0.6)
    return matches[0] if matches else None


_MANY = 200
"""To compare a name with so many takes a few milliseconds."""
