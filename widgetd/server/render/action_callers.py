"""The interface between presses and the upstreams behind them, and a dry run in their place."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from widgetd.base.errors import CallError
from widgetd.server.render.limits import LIMITS
from widgetd.server.store.contract import StoredRender


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionAnswer:
    """The answer of an action's tool.

    Attributes:
        is_done: Whether it was done. Otherwise the tool reports a failure.
        value: Its content, JSON. None if it has none.
        words: The upstream's own words for people, if any.
    """

    is_done: bool
    value: Any = None
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionTerms:
    """The terms on which actions may call a tool.

    Attributes:
        confirm: Whether a person must confirm each call.
        patience_s: Time after which a call ends in any case.
    """

    confirm: bool = True
    title: str
    patience_s: float = 0.0


class ActionCaller:
    """Calls tools of upstreams for actions. The base class is for a daemon without upstreams."""

    def find_terms(self, _upstream: str, _tool: str) -> ActionTerms | None:
        return None

    async def call_action(
        self,
        upstream: str,
        tool: str,
        arguments: Mapping[str, Any],  # noqa: ARG002 - it calls nothing
        *,
        key: str,  # noqa: ARG002 - likewise
        principal: str,  # noqa: ARG002 - likewise
    ) -> ActionAnswer:
        """Call a tool once for an operation. The upstream gets a stand-in for the principal.

        Raises:
            CallError: Nothing was done, or the outcome is unknown (W5013).
        """
        raise not_allowed(upstream, tool)


def not_allowed(upstream: str, tool: str) -> CallError:
    problem = f"the operator does not allow the action '{tool}' of the upstream '{upstream}'"
    return CallError("W5011", f'{problem}; it takes actions = ["{tool}"] in the upstreams file')


@dataclass(eq=False)
class DryRun(ActionCaller):
    """Answers in place of upstreams, on pages without effect.

    Nothing is sent, queued or stored. The next versions of renders are remembered here alone.

    Attributes:
        answers: By upstream and tool: `{"answer": ...}` or `{"error": "words"}`, and `confirm`.
    """

    answers: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    _renders: OrderedDict[str, StoredRender] = field(default_factory=OrderedDict)

    def find_terms(self, upstream: str, tool: str) -> ActionTerms:
        return ActionTerms(
            confirm=bool(self._find(upstream, tool).get("confirm", True)), title=tool
        )

    def answer(self, upstream: str, tool: str) -> ActionAnswer:
        """Return the prepared answer. Without one, the action counts as done."""
        prepared, note = self._find(upstream, tool), f"Dry run: {upstream}.{tool} was not called."
        words = " ".join(str(part) for part in (note, prepared.get("error", "")) if part)
        return ActionAnswer(
            is_done="error" not in prepared, value=prepared.get("answer"), words=words
        )

    def _find(self, upstream: str, tool: str) -> Mapping[str, Any]:
        return self.answers.get(upstream, {}).get(tool, {})

    def newest(self, render: StoredRender) -> StoredRender:
        here = self._renders.get(render.id)
        return render if here is None or here.version < render.version else here

    def remember(self, render: StoredRender) -> None:
        self._renders[render.id] = render
        self._renders.move_to_end(render.id)
        if len(self._renders) > LIMITS.dry_renders:
            self._renders.popitem(last=False)
