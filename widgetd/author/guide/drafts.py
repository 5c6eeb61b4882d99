"""Drafts: widgets checked and rendered without a file.

A draft is treated as a file: the same loader, the same limits, the rules of `widgetd check`.
Nothing of it is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import orjson

from widgetd.author.guide.limits import LIMITS
from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.core.checks.report import locate
from widgetd.core.checks.rules import check_widget
from widgetd.core.template import Template
from widgetd.core.widget.actions import find_widget_actions
from widgetd.core.widget.document import VERSION
from widgetd.core.widget.local_state import take_actions
from widgetd.core.widget.naming import JSX_SUFFIX
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.widget import Widget
from widgetd.server.catalog.loader import Loader, Precheck
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.render.mock import answer
from widgetd.server.render.result import Policy
from widgetd.server.render.tokens import tokens_of, tokens_of_tool

DRAFT = "Draft.widget"
JSX_DRAFT = f"Draft{JSX_SUFFIX}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft after checking.

    Attributes:
        findings: Faults, then warnings.
        texts: The files of the findings, by path.
        widget: None if the draft cannot be served.
    """

    findings: tuple[Finding, ...]
    texts: Mapping[str, str] = field(default_factory=dict)
    widget: Widget | None = None

    def rows(self) -> list[dict[str, Any]]:
        """Return `[{"level", "code", "at", "line", "column", "problem", "advice"}, …]`."""
        rows = []
        for finding in self.findings[: LIMITS.findings]:
            place = locate(finding, self.texts)
            rows.append(
                {
                    "level": finding.level,
                    "code": finding.code,
                    "file": "sidecar" if finding.path.endswith(SUFFIX) else "widget",
                    "at": finding.at,
                    # Within its own text, mostly the template.
                    "line": finding.line or (place.line if place else None),
                    "column": finding.column or (place.text_column if place else None),
                    "problem": finding.problem,
                    "advice": finding.advice,
                }
            )
        return rows


def encode_file(widget: Mapping[str, Any] | str) -> bytes:
    """Return the bytes of a widget's file: of an object, or of JSX as it is.

    An object without a `version` gets the only version.

    Raises:
        JSONEncodeError: The object cannot be written.
        UnicodeEncodeError: The text contains a lone surrogate.
    """
    if isinstance(widget, str):
        return widget.encode()
    return orjson.dumps({"version": VERSION, **widget}, option=orjson.OPT_INDENT_2)


class Drafts:
    """Checks and renders drafts.

    Args:
        admit: Builds a widget's entry in a list of tools.
        precheck: Draws each draft first in a process with limits.
        strict: Refuse drafts that read undeclared arguments.
        check_widget: The rules for a draft.
    """

    def __init__(
        self,
        admit: Callable[[Widget], bytes],
        *,
        precheck: Precheck | None = None,
        strict: bool = False,
        check_widget: Callable[[Widget], tuple[Finding, ...]] = check_widget,
    ) -> None:
        self._loader = Loader(admit, strict=strict, precheck=precheck, keeps_parts=True)
        self._check_widget = check_widget

    def check(
        self,
        widget: Mapping[str, Any] | str,
        sidecar: str,
        arguments: Mapping[str, Any] | None = None,
        actions: Sequence[Mapping[str, Any]] = (),
        path: str = "",
    ) -> Draft:
        """Load and check the content of a widget's file and its sidecar.

        Args:
            widget: The object of a `.widget` file, or the text of a `.widget.jsx`.
            sidecar: TOML, or nothing.
            arguments: The caller's arguments, or None for its own.
            actions: The caller's local actions before the drawing.
            path: The file's name, if it has one already. Findings name it.
        """
        path = path or (JSX_DRAFT if isinstance(widget, str) else DRAFT)
        try:
            content = encode_file(widget)
        except (orjson.JSONEncodeError, UnicodeEncodeError) as error:
            problem = f"it is no JSON that every reader agrees on ({error})"
            advice = "nest less, and write long numbers as text"
            fault = Finding(code="W1101", path=path, problem=problem, advice=advice)
            return Draft(findings=(fault,))
        texts = {path: content.decode(), path + SUFFIX: sidecar}
        for file, text in texts.items():
            if len(text.encode()) > Limits().file_bytes:
                problem = f"it is longer than {Limits().file_bytes:,} bytes"
                advice = "leave out what it does not need"
                fault = Finding(code="W1002", path=file, problem=problem, advice=advice)
                return Draft(findings=(fault,))
        beside = Source.of(path + SUFFIX, sidecar.encode()) if sidecar.strip() else None
        try:
            built = self._loader.load(Source.of(path, content), beside, arguments, actions)
        except WidgetError as error:
            faults = (replace(finding, path=finding.path or path) for finding in error.findings)
            return Draft(findings=tuple(faults), texts=texts)
        findings = [replace(fault, path=fault.path or path) for fault in self._check_widget(built)]
        ordered = sorted(findings, key=lambda fault: fault.level != "fault")
        return Draft(findings=tuple(ordered), texts=texts, widget=built)

    def preview(
        self,
        widget: Mapping[str, Any] | str,
        sidecar: str,
        arguments: Mapping[str, Any] | None,
        snapshot: Snapshot,
        *,
        trace: bool = False,
        taken: Sequence[Mapping[str, Any]] = (),
    ) -> dict[str, Any]:
        """Check a draft and call it once with `arguments`, by default with its example.

        Args:
            widget: As of `check`.
            sidecar: As of `check`.
            arguments: None for its example.
            snapshot: The served snapshot.
            trace: Report each value written by the template.
            taken: Local actions before the drawing, `{"action", "payload"?}`.

        Returns:
            `{"findings", "tool", "tree"?, "state"?, "summary"?, "data"?, "tokens"?, "steps"?,
            "ms"?, "actions"?, "error"?, "trace"?}`. All but the first two describe the call.
        """
        draft = self.check(widget, sidecar, arguments, taken)
        built = draft.widget
        if built is None:
            return {"findings": draft.rows(), "tool": ""}
        report: dict[str, Any] = {"findings": draft.rows(), "tool": built.tool}
        chosen = built.example if arguments is None else arguments
        if trace:
            report["trace"] = _trace(built, chosen)
        started_s = SYSTEM.clock.steady_s()
        try:
            state = take_actions(built, chosen, taken)
            render = built.draw(built.check(chosen), state=state)
            report["ms"] = round((SYSTEM.clock.steady_s() - started_s) * 1000, 2)
            ask = partial(answer, built, snapshot, chosen, name="draft")
            whole = ask(policy=Policy(profile="chatkit"))
            split = ask(policy=Policy(profile="split"))
        except CallError as error:
            return {**report, "arguments": chosen, "error": f"[{error.code}] {error.message}"}
        return {
            **report,
            "arguments": chosen,
            "tree": render.tree,
            **({"state": state} if state else {}),
            "summary": split["content"][0]["text"],
            "data": split["structuredContent"],
            "tokens": {
                "tool": tokens_of_tool(built),
                "chatkit": tokens_of(whole),
                "split": tokens_of(split),
            },
            "steps": render.steps,
            "actions": [action.to_dict() for action in find_widget_actions(built)],
        }


def _trace(widget: Widget, arguments: Mapping[str, Any]) -> list[dict[str, Any]]:
    if not isinstance(widget.drawing, Template):
        return []
    try:
        filled = widget.fill(widget.schema.check(dict(arguments)).arguments)
    except CallError:
        return []
    rows = []
    for traced in widget.drawing.trace(filled)[: LIMITS.traced_values]:
        value: Any = traced.text
        if len(traced.text) > LIMITS.traced_chars:
            value = f"{traced.text[: LIMITS.traced_chars]}…"
        else:
            with suppress(orjson.JSONDecodeError):
                value = orjson.loads(traced.text)
        place = {"at": widget.drawing_at, "line": traced.line, "column": traced.column}
        rows.append({**place, "expression": traced.expression, "value": value})
    return rows
