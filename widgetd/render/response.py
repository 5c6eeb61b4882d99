"""What a call came to, for Python programs that are clients of widgetd.

A result says the same in two profiles, and fails in a third way; here it is one
of two types, whichever client it came through. Knows nothing of how results are made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import ConfigDict

from widgetd.render.envelope import Envelope, Failure, Part, RenderMark, Ui


class Result(Protocol):
    """A tool's result, as the clients of `mcp` and of `fastmcp` have it."""

    @property
    def content(self) -> Sequence[ContentBlock]:
        """What the model reads."""

    @property
    def structured_content(self) -> Any:
        """What programs read; in some hosts, models too."""

    @property
    def meta(self) -> Mapping[str, Any] | None:
        """What whoever shows the widget reads."""


class Facts(Part):
    """What a model gets as data where it does not get the tree: the sidecar's fields besides."""

    model_config = ConfigDict(extra="allow")

    ui_type: str
    widget: str
    title: str
    render_id: str | None = None


class Shown(Part):
    """A call that rendered a widget.

    Attributes:
        text: What the model reads.
        ui: The type of response, and its metadata.
        render: Which render this is, and of what.
        tree: The widget's root; None where it is so large that it stands behind `link`.
        facts: What the model gets as data; None where it gets the tree.
        link: Where the root can be read that was too large to be sent along.
    """

    text: str
    ui: Ui
    render: RenderMark
    tree: Mapping[str, Any] | None = None
    facts: Facts | None = None
    link: str | None = None


class Failed(Part):
    """A call that failed.

    Attributes:
        text: What the model reads.
        error: Why, for a program to act on.
    """

    text: str
    error: Failure


Response = Shown | Failed


def response(result: Result | Mapping[str, Any]) -> Response:
    """What `result` says, whichever profile it came in.

    Args:
        result: Of a call of a widget's tool, of `render_widget` or of `show_render`: the object
            that a client of `mcp` or `fastmcp` has, or its JSON.

    Raises:
        ValueError: It shows no widget, and is no failure of widgetd's.
    """
    if isinstance(result, Mapping):
        result = CallToolResult.model_validate(result)
    said = Envelope.model_validate(result.meta or {})
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    if said.error is not None:
        return Failed(text=text, error=said.error)
    if said.ui is None or said.render is None:
        raise ValueError("the result shows no widget; it is not one of a widget's tool")
    link = next((block.uri for block in result.content if isinstance(block, ResourceLink)), None)
    has_facts = said.widget is not None or link is not None
    return Shown(
        text=text,
        ui=said.ui,
        render=said.render,
        tree=said.widget if has_facts else result.structured_content,
        facts=Facts.model_validate(result.structured_content) if has_facts else None,
        link=link,
    )


def guard(ui_type: str) -> Callable[[Response], TypeGuard[Shown]]:
    """What tells a response of the type `ui_type` from all others.

    is_flight_tracker = guard("flight-tracker")
    """

    def is_of_type(answered: Response) -> TypeGuard[Shown]:
        return isinstance(answered, Shown) and answered.ui.ui_type == ui_type

    return is_of_type
