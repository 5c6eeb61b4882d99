"""How a problem is shown: the place, the line, what is wrong and what would be right."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from starlette.responses import HTMLResponse, Response

from widgetd.web.gallery.layout import HEADERS, copy_button
from widgetd.web.gallery.markup import Markup, el, fragment
from widgetd.web.gallery.problems import Problem


def fault_card(problem: Problem, heading: str) -> Markup:
    """A problem with its excerpt, for a person who is about to mend it."""
    said = problem.finding.problem
    return el(
        "article",
        el("h3", _capital(heading)),
        el("p", place(problem), copy_button("Copy", str(problem.finding)), class_="place"),
        _excerpt(problem) if problem.excerpt else None,
        el("p", _sentence(said), class_="problem") if said != heading else None,
        el("p", _sentence(problem.finding.advice), class_="advice"),
        class_="fault" if problem.finding.level == "fault" else "fault caution",
    )


def place(problem: Problem) -> Markup:
    """`Chart.widget:3:14  W1301  /template`."""
    finding = problem.finding
    position = "" if problem.line is None else f":{problem.line}:{problem.column}"
    return fragment(
        el("code", finding.path + position),
        el("span", finding.code, class_="code"),
        el("code", finding.at, class_="pointer") if finding.at else None,
    )


def problem_list(problems: Sequence[Problem]) -> Response:
    """Problems as a piece of a page."""
    cards = [fault_card(one, one.finding.problem) for one in problems]
    nothing = el("p", "Nothing to say against this widget.", class_="quiet")
    return HTMLResponse(fragment(*cards) if cards else nothing, headers=HEADERS)


def problem_json(problem: Problem) -> dict[str, Any]:
    """`{"path", "line", "column", "level", "code", "at", "problem", "advice", "excerpt"}`."""
    finding = problem.finding
    return {
        "path": finding.path,
        "line": problem.line,
        "column": problem.column,
        "level": finding.level,
        "code": finding.code,
        "at": finding.at,
        "problem": finding.problem,
        "advice": finding.advice,
        "excerpt": problem.excerpt,
    }


def _excerpt(problem: Problem) -> Markup:
    before, rest = problem.excerpt[: problem.caret], problem.excerpt[problem.caret :]
    return el("pre", el("code", before, el("mark", rest[:1] or " "), rest[1:]), tabindex="0")


def _sentence(clause: str) -> str:
    return _capital(clause) if clause.endswith(("?", "!", ".")) else f"{_capital(clause)}."


def _capital(clause: str) -> str:
    return clause[:1].upper() + clause[1:]
