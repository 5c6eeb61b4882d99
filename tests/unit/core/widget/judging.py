"""Handle a file as widgetd does: load it, call it, check it.

A file is served, or refused with a located message. Anything else is a defect, and
ends in an exception.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from widgetd.base.errors import CODES, CallError, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.core.checks.breaking_changes import find_breaking_changes
from widgetd.core.checks.rules import check_widget
from widgetd.core.schema.sampling.sample import State
from widgetd.core.widget.definition import define
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import Loader
from widgetd.server.render.entry import tool_entry

NAME = "spoilt.widget"

_LIMITS = Limits()
_STATES: tuple[State, ...] = ("required", "full", "empty", "many", "nulls", "nasty")
_LONGEST_ERROR = 600


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The verdict on a file.

    Attributes:
        served: It is served; otherwise it was refused.
        found: Its findings.
        took_s: Processor time by step: `load`, `call` (the longest) and `check`.
        grown_bytes: Growth of the peak memory.
    """

    served: bool
    found: tuple[Finding, ...]
    took_s: Mapping[str, float]
    grown_bytes: int

    def exceeds(self, bounds_s: Mapping[str, float]) -> bool:
        """Return whether a step took longer than its bound."""
        return any(took_s > bounds_s[step] for step, took_s in self.took_s.items())


class Judge:
    """Judges files as a daemon and `widgetd check` together would.

    Args:
        good: The content of a file that is served; each file is judged as the next version of it.
    """

    def __init__(self, good: bytes) -> None:
        self._loader = Loader(tool_entry, limits=_LIMITS)
        self._good = define(_source(good))
        self._took_s: dict[str, float] = {}

    def judge(self, content: bytes) -> Verdict:
        """Return the verdict on a file with this content."""
        self._took_s = dict.fromkeys(("load", "call", "check"), 0.0)
        most_kb = _most_kb()
        verdict_of_load, served = self._found(_source(content))
        for finding in verdict_of_load:
            _demand_located(finding)
        return Verdict(
            served=served,
            found=verdict_of_load,
            took_s=self._took_s,
            grown_bytes=(_most_kb() - most_kb) * 1024,
        )

    def _found(self, source: Source) -> tuple[tuple[Finding, ...], bool]:
        try:
            with self._step("load"):
                widget = self._loader.load(source, None)
        except WidgetError as refused:
            return (refused.finding,), False
        for state in _STATES:
            self._call(widget, widget.schema.sample(state=state) or {})
        with self._step("check"):
            return check_widget(widget) + find_breaking_changes(self._good, widget.definition), True

    def _call(self, widget: Widget, arguments: dict[str, Any]) -> None:
        with self._step("call"):
            try:
                widget.call(arguments)
            except CallError as error:
                _demand_short(error)

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        started_s = time.process_time()
        try:
            yield
        finally:
            self._took_s[name] = max(self._took_s[name], time.process_time() - started_s)


def _source(content: bytes) -> Source:
    return Source(path=NAME, content=content, digest="")


def _demand_located(finding: Finding) -> None:
    assert finding.path == NAME, finding
    assert finding.code in CODES, finding
    assert finding.problem, finding
    assert finding.advice, finding


def _demand_short(error: CallError) -> None:
    assert error.code in CODES, error.code
    assert 0 < len(str(error)) <= _LONGEST_ERROR, error


def _most_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
