"""Try a widget that lies in no folder: what is wrong with it, and what it draws.

A draft takes the way of a file: the loader that serves, the same limits, the rules of
`widgetd check`. Nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any

import orjson

from widgetd.catalog.crash_journal import CrashJournal
from widgetd.catalog.loader import Loader, Precheck
from widgetd.catalog.snapshot import Snapshot
from widgetd.checks import check_widget
from widgetd.checks.report import Locations
from widgetd.errors import CallError, Finding, WidgetError
from widgetd.files.source import Source
from widgetd.limits import Limits
from widgetd.render.mock import answer
from widgetd.render.result import Policy
from widgetd.render.tokens import tokens_of, tokens_of_tool
from widgetd.template import Template
from widgetd.widget.actions import widget_actions
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.widget import Widget

DRAFT = "Draft.widget"

MOST_FINDINGS = 50

MOST_TRACED = 200
"""Values of one trace."""

LONGEST_TRACED = 400
"""Characters of one value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a draft came to.

    Attributes:
        findings: All that is wrong with it, faults first.
        texts: The files that they are about.
        widget: None where there is none that could be served.
    """

    findings: tuple[Finding, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    widget: Widget | None = None

    def rows(self) -> list[dict[str, Any]]:
        """`[{"level", "code", "at", "line", "column", "problem", "advice"}]`, the worst first."""
        rows, locations = [], Locations(self.texts)
        for finding in self.findings[:MOST_FINDINGS]:
            place = locations.locate(finding)
            rows.append(
                {
                    "level": finding.level,
                    "code": finding.code,
                    "file": "sidecar" if finding.path.endswith(SUFFIX) else "widget",
                    "at": finding.at,
                    # In the text that it is about: of the template, mostly.
                    "line": finding.line or (place.line if place else None),
                    "column": finding.column or (place.text_column if place else None),
                    "problem": finding.problem,
                    "advice": finding.advice,
                }
            )
        return rows


class Drafts:
    """Tries drafts, one after the other.

    Args:
        admit: Makes a widget's entry in a list of tools.
        journal: Records which contents are being rendered.
        precheck: Proves each draft within limits before this process does.
    """

    def __init__(
        self,
        admit: Callable[[Widget], bytes],
        *,
        journal: CrashJournal | None = None,
        precheck: Precheck | None = None,
        strict: bool = False,
    ) -> None:
        self._loader = Loader(
            admit, strict=strict, journal=journal, precheck=precheck, keeps_parts=True
        )
        self._strict = strict
        self._journal = journal or CrashJournal()

    def draft(self, widget: Mapping[str, Any], sidecar: str) -> Draft:
        """What `widget`, the content of a file, and its sidecar come to."""
        try:
            content = orjson.dumps(widget, option=orjson.OPT_INDENT_2)
        except orjson.JSONEncodeError as error:
            problem = f"it is no JSON that every reader agrees on ({error})"
            advice = "nest less, and write long numbers as text"
            fault = Finding(code="W1101", path=DRAFT, problem=problem, advice=advice)
            return Draft(findings=(fault,))
        texts = {DRAFT: content.decode(), DRAFT + SUFFIX: sidecar}
        for path, text in texts.items():
            if len(text.encode()) > Limits().file_bytes:
                problem = f"it is longer than {Limits().file_bytes:,} bytes"
                advice = "leave out what it does not need"
                fault = Finding(code="W1002", path=path, problem=problem, advice=advice)
                return Draft(findings=(fault,))
        beside = Source.of(DRAFT + SUFFIX, sidecar.encode()) if sidecar.strip() else None
        try:
            made = self._loader.load_untrusted(Source.of(DRAFT, content), beside)
        except WidgetError as error:
            fault = replace(error.finding, path=error.finding.path or DRAFT)
            return Draft(findings=(fault,), texts=texts)
        with self._journal.rendering(made.key):
            found = [
                replace(one, path=one.path or DRAFT)
                for one in check_widget(made, strict=self._strict)
            ]
        ordered = sorted(found, key=lambda finding: finding.level != "fault")
        return Draft(findings=tuple(ordered), texts=texts, widget=made)

    def tried(
        self,
        widget: Mapping[str, Any],
        sidecar: str,
        arguments: Mapping[str, Any] | None,
        snapshot: Snapshot,
        *,
        trace: bool = False,
    ) -> dict[str, Any]:
        """What `try_widget` answers.

        Returns:
            `{"findings", "tool", "tree"?, "summary"?, "data"?, "tokens"?, "steps"?, "ms"?,
            "actions"?, "error"?, "trace"?}`; what follows the tool is of one call with
            `arguments`, by default of an example.
        """
        draft = self.draft(widget, sidecar)
        made = draft.widget
        if made is None:
            return {"findings": draft.rows(), "tool": ""}
        said: dict[str, Any] = {"findings": draft.rows(), "tool": made.tool}
        given = (made.example or {}) if arguments is None else arguments
        with self._journal.rendering(made.key, self._journal.digest(given)):
            if trace:
                said["trace"] = _trace(made, given)
            started_s = perf_counter()
            try:
                render = made.call(given)
                said["ms"] = round((perf_counter() - started_s) * 1000, 2)
                ask = partial(answer, made, snapshot, given, name="draft")
                whole = ask(policy=Policy(profile="chatkit"))
                split = ask(policy=Policy(profile="split"))
            except CallError as error:
                return {**said, "arguments": given, "error": f"[{error.code}] {error.message}"}
            return {
                **said,
                "arguments": given,
                "tree": render.tree,
                "summary": split["content"][0]["text"],
                "data": split["structuredContent"],
                "tokens": {
                    "tool": tokens_of_tool(made),
                    "chatkit": tokens_of(whole),
                    "split": tokens_of(split),
                },
                "steps": render.steps,
                "actions": [action.to_dict() for action in widget_actions(made)],
            }


def _trace(widget: Widget, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`[{"at", "line", "column", "expression", "value"}]`; empty for what no template draws."""
    if not isinstance(widget.drawing, Template):
        return []
    try:
        filled = widget.filled(widget.schema.check(dict(arguments)).arguments)
    except CallError:
        return []
    rows = []
    for one in widget.drawing.trace(filled)[:MOST_TRACED]:
        value: Any = one.text
        if len(one.text) > LONGEST_TRACED:
            value = f"{one.text[:LONGEST_TRACED]}…"
        else:
            with suppress(orjson.JSONDecodeError):
                value = orjson.loads(one.text)
        place = {"at": widget.drawing_at, "line": one.line, "column": one.column}
        rows.append({**place, "expression": one.expression, "value": value})
    return rows
