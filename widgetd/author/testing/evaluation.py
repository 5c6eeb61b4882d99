"""Evaluation of widgets by wishes that they should answer, and by questions to their facts.

The calls come from the search index, which is deterministic, from a transcript, or from a model.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from widgetd.author.testing.eval_file import FactQuestion, ModelCall, Wish
from widgetd.base.errors import CallError
from widgetd.server.catalog.snapshot import Snapshot
from widgetd.server.mcp.builtin.catalog import target_of
from widgetd.server.render.mock import answer
from widgetd.server.render.result import Policy
from widgetd.server.render.tokens import tokens_of
from widgetd.server.search.search import Search

AMONG = 3
"""Hits of a search among which a model can be expected to choose."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """The judgement of a wish or a question.

    Attributes:
        case: The wish or the question.
        place: Its file and line.
        tool: The widget that was meant.
        tools: The widgets that were found or called, best or first one first.
        is_found: Whether the one that was meant is among them.
        is_filled: Whether its arguments are valid and hold what they must; None if none were made.
        is_repaired: Whether that took coercion or another call.
        tokens: The cost.
        problem: Why the case does not hold; empty if it does.
        winner: If another widget came first, the sentence of it that fits the wish best.
        loser: The same of the widget that was meant; empty if none fits.
    """

    case: str
    place: str
    tool: str
    tools: tuple[str, ...] = ()
    is_found: bool
    is_filled: bool | None = None
    is_repaired: bool = False
    tokens: int = 0
    problem: str = ""
    winner: str = ""
    loser: str = ""


class Evaluator:
    """Judges what was found or called for the wishes of a folder."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._search = Search()

    def search(self, wishes: Iterable[Wish]) -> Iterator[Verdict]:
        """Search the index for each wish; the first hit is what a model would call."""
        for wish in wishes:
            hits, _ = self._search.find(self._snapshot, wish.text, AMONG)
            tools = tuple(hit.widget.tool for hit in hits)
            problem = _refuse(wish, tools[:1]) or _refuse_missing(wish, tools)
            cost = len(orjson.dumps([hit.to_json() for hit in hits])) // 4
            yield self._verdict(wish, tools, problem, tokens=cost)

    def judge(self, wish: Wish, calls: Sequence[ModelCall], *, tokens: int = 0) -> Verdict:
        """Judge the calls that a model made for a wish; the last one of a widget counts."""
        calls = [_unwrap(call) for call in calls]
        tools = tuple(call.tool for call in calls if call.tool in self._snapshot.widgets)
        problem, refused, is_repaired = _refuse_missing(wish, tools), 0, False
        for call in calls:
            if call.tool != wish.tool:
                continue
            try:
                checked = self._snapshot.widgets[wish.tool].check(call.arguments)
            except CallError as error:
                problem, refused = str(error), refused + 1
                continue
            missing = [one for one in wish.arguments if not mentions(checked.arguments, one)]
            listed = ", ".join(map(repr, missing))
            problem = f"the arguments lack {listed}" if missing else ""
            is_repaired = refused > 0 or bool(checked.coerced)
        return self._verdict(
            wish,
            tools,
            problem or _refuse(wish, tools),
            tokens=tokens + sum(call.tokens for call in calls),
            is_filled=wish.tool in tools and not problem,
            is_repaired=is_repaired,
        )

    def facts(self, question: FactQuestion) -> Mapping[str, Any]:
        """Return the facts of the call that a question is about.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        widget = self._snapshot.widgets[question.tool]
        given = widget.example if question.given is None else question.given
        result = answer(widget, self._snapshot, given, policy=Policy(profile="split"), name="facts")
        facts: Mapping[str, Any] = result["structuredContent"]
        return facts

    def ask_facts(self, questions: Iterable[FactQuestion]) -> Iterator[Verdict]:
        """Look for the answer of each question in the facts alone."""
        for question in questions:
            try:
                facts = self.facts(question)
            except CallError as error:
                yield judge_answer(question, {}, f"an error: {error}")
            else:
                yield judge_answer(question, facts, orjson.dumps(facts).decode(), among=facts)

    def _verdict(self, wish: Wish, tools: tuple[str, ...], problem: str, **more: Any) -> Verdict:
        winner = loser = ""
        if tools and tools[0] != wish.tool:
            winner = self._search.best_text(self._snapshot, wish.text, tools[0])
            loser = self._search.best_text(self._snapshot, wish.text, wish.tool)
        return Verdict(
            case=wish.text,
            place=wish.location.place,
            tool=wish.tool,
            tools=tools,
            is_found=wish.tool in tools,
            problem=problem,
            winner=winner,
            loser=loser,
            **more,
        )


def judge_answer(
    question: FactQuestion, facts: Mapping[str, Any], answer: str, *, among: object = None
) -> Verdict:
    """Judge the answer to a question about `facts`; `among` are the values that it consists of."""
    is_right = mentions(among or answer, question.answer)
    problem = "" if is_right else f"expected {question.answer!r}, got {answer:.200}"
    return Verdict(
        case=question.text,
        place=question.location.place,
        tool=question.tool,
        is_found=is_right,
        tokens=tokens_of({"content": [], "structuredContent": facts}),
        problem=problem,
    )


def mentions(value: object, fact: object) -> bool:
    """Return whether `fact` is in a value: a number as such, a text within a text or a name."""
    if isinstance(value, Mapping):
        return any(mentions(one, fact) for pair in value.items() for one in pair)
    if isinstance(value, list):
        return any(mentions(one, fact) for one in value)
    if isinstance(value, str):
        return _letters(str(fact)) in _letters(value)
    return value == fact and isinstance(value, bool) == isinstance(fact, bool)


def _letters(text: str) -> str:
    """Fold case and spaces, so that `LH 400` is `lh400`."""
    return "".join(text.casefold().split())


def _unwrap(call: ModelCall) -> ModelCall:
    """Return the call of a widget by its name as that of its own tool."""
    tool, arguments = target_of({"name": call.tool, "arguments": call.arguments})
    return replace(call, tool=tool, arguments=arguments)


def _refuse(wish: Wish, tools: Iterable[str]) -> str:
    called = next((tool for tool in tools if tool in wish.never), "")
    return f"{called} must not be called" if called else ""


def _refuse_missing(wish: Wish, tools: Sequence[str]) -> str:
    if wish.tool in tools:
        return ""
    return f"{wish.tool} is not among {', '.join(tools)}" if tools else "nothing is found"
