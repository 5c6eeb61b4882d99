"""What the tools tell whoever counts or records: a seam that metrics and audit fill.

It refuses to know what is counted, or for whom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from widgetd.mcp.notice import Notice
from widgetd.widget.widget import Widget

Outcome = Literal["ok", "error", "failed"]
"""An answer, an answer that says why there is none, or neither."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Called:
    """One call that is over.

    Attributes:
        tool: The tool that was called; empty where there is none of that name.
        widget: The widget that it was about; None where it was about none that is served.
        outcome: How it ended.
        code: The error's code, as `W2002`; empty without one.
        seconds: How long it took.
        principal: Who called; empty where nobody has a name.
        arguments: The widget's arguments as they came; not to be kept.
        answer: The result as it goes out; not to be kept, and empty where it failed.
    """

    tool: str
    widget: Widget | None
    outcome: Outcome
    code: str
    seconds: float
    principal: str
    arguments: Mapping[str, Any]
    answer: Mapping[str, Any]


class Observer(Protocol):
    """Is told what goes on. Called in the event loop; must neither wait nor raise."""

    def called(self, call: Called) -> None:
        """A call is over."""

    def rendered(self, widget: Widget, steps: int) -> None:
        """A widget was rendered, and its template took so many steps."""

    def notified(self, notice: Notice) -> None:
        """Clients were told of a change."""
