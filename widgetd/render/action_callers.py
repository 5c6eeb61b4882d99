"""The interface between presses and the upstreams that do them, and what answers in their place."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from widgetd.errors import CallError
from widgetd.render.limits import LIMITS
from widgetd.store.contract import StoredRender


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionAnswer:
    """The answer of a tool that an action called.

    Attributes:
        is_done: Whether it was done; the tool reports a failure otherwise.
        value: Its content, JSON; None if it has none.
        words: The upstream's own words for people; empty without any.
    """

    is_done: bool
    value: Any = None
    words: str = ""


class ActionCaller(Protocol):
    """Calls tools of upstreams for actions."""

    def require_rule(self, upstream: str, tool: str) -> bool:
        """Return whether a person must confirm each call of the tool.

        Raises:
            CallError: The operator does not allow it as an action (W5011).
        """

    def can_elicit(self, upstream: str, tool: str) -> bool:
        """Return whether a client without a view may ask its user for a press of the tool."""

    def title(self, upstream: str, tool: str) -> str:
        """Return the tool's name for people."""

    def patience_s(self, upstream: str) -> float:
        """Return the time after which a call ends in any case."""

    async def call_action(
        self, upstream: str, tool: str, arguments: Mapping[str, Any], *, key: str, principal: str
    ) -> ActionAnswer:
        """Call a tool once.

        Args:
            upstream: The upstream.
            tool: The tool.
            arguments: Its arguments.
            key: Identifies the deed.
            principal: The name of the principal; the upstream gets a stand-in.

        Raises:
            CallError: Nothing was done, or it is unknown whether something was (W5013).
        """


class NoActions:
    """The caller of a daemon without upstreams, which allows nothing and waits for nothing."""

    def require_rule(self, upstream: str, tool: str) -> bool:
        """Refuse.

        Raises:
            CallError: Always (W5011).
        """
        raise not_allowed(upstream, tool)

    def can_elicit(self, _upstream: str, _tool: str) -> bool:
        """Return False."""
        return False

    def title(self, _upstream: str, tool: str) -> str:
        """Return the tool's name."""
        return tool

    def patience_s(self, _upstream: str) -> float:
        """Return 0: no upstream is called."""
        return 0.0

    async def call_action(
        self,
        upstream: str,
        tool: str,
        arguments: Mapping[str, Any],  # noqa: ARG002 - the protocol's
        *,
        key: str,  # noqa: ARG002 - likewise
        principal: str,  # noqa: ARG002 - likewise
    ) -> ActionAnswer:
        """Refuse.

        Raises:
            CallError: Always (W5011).
        """
        raise not_allowed(upstream, tool)


def not_allowed(upstream: str, tool: str) -> CallError:
    """Return the error for a tool that the operator does not allow as an action (W5011)."""
    problem = f"the operator does not allow the action '{tool}' of the upstream '{upstream}'"
    return CallError("W5011", f'{problem}; it takes actions = ["{tool}"] in the upstreams file')


@dataclass(eq=False)
class DryRun(NoActions):
    """Answers in place of upstreams, for pages on which a press must change nothing.

    Nothing is sent, queued or stored: the next versions of renders are remembered here alone.

    Attributes:
        answers: By upstream and tool: `{"answer": ...}` or `{"error": "words"}`, and `confirm`.
    """

    answers: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    _renders: OrderedDict[str, StoredRender] = field(default_factory=OrderedDict)

    def require_rule(self, upstream: str, tool: str) -> bool:
        """Return whether the answer asks for a confirmation."""
        return bool(self._find(upstream, tool).get("confirm", True))

    async def call_action(
        self,
        upstream: str,
        tool: str,
        arguments: Mapping[str, Any],  # noqa: ARG002 - the protocol's
        *,
        key: str,  # noqa: ARG002 - likewise
        principal: str,  # noqa: ARG002 - likewise
    ) -> ActionAnswer:
        """Return the prepared answer; without one, that it was done."""
        found, note = self._find(upstream, tool), f"Dry run: {upstream}.{tool} was not called."
        words = " ".join(str(part) for part in (note, found.get("error", "")) if part)
        return ActionAnswer(is_done="error" not in found, value=found.get("answer"), words=words)

    def _find(self, upstream: str, tool: str) -> Mapping[str, Any]:
        return self.answers.get(upstream, {}).get(tool, {})

    def newest(self, render: StoredRender) -> StoredRender:
        """Return the newest version of a render on this page."""
        here = self._renders.get(render.id)
        return render if here is None or here.version < render.version else here

    def remember(self, render: StoredRender) -> None:
        """Remember a version."""
        self._renders[render.id] = render
        self._renders.move_to_end(render.id)
        if len(self._renders) > LIMITS.dry_renders:
            self._renders.popitem(last=False)
