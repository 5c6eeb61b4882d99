"""Typed responses for Python clients of widgetd.

A result has two profiles and an error form. Here it is one of two types, whatever the client
library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeGuard

from mcp_types import CallToolResult, ContentBlock, ResourceLink, TextContent
from pydantic import ConfigDict

from widgetd.server.render.envelope import Envelope, Failure, MetaModel, RenderMark, Ui


class ClientResult(Protocol):
    """A tool's result as the clients of `mcp` and `fastmcp` return it."""

    @property
    def content(self) -> Sequence[ContentBlock]:
        """The blocks for the model."""

    @property
    def structured_content(self) -> Any:
        """The data for programs. Some hosts show it to the model."""

    @property
    def meta(self) -> Mapping[str, Any] | None:
        """The metadata for the page of the widget."""


class Facts(MetaModel):
    """The model's data in place of the tree. The sidecar adds fields."""

    model_config = ConfigDict(extra="allow")

    ui_type: str
    summary: str
    render_id: str | None = None


class Shown(MetaModel):
    """A successful call.

    Attributes:
        text: The text for the model.
        ui: The type of response and its metadata.
        render: The render's id, widget and version.
        tree: The widget's root. None if it is too large to be inline, see `link`.
        facts: The model's data. None if the model gets the tree.
        link: The URI of a root too large to be inline.
    """

    text: str
    ui: Ui
    render: RenderMark
    tree: Mapping[str, Any] | None = None
    facts: Facts | None = None
    link: str | None = None


class Failed(MetaModel):
    """A failed call.

    Attributes:
        text: The text for the model.
        error: The error, for programs.
    """

    text: str
    error: Failure


Response = Shown | Failed


def response(result: ClientResult | Mapping[str, Any]) -> Response:
    """Read a tool result of either profile.

    Args:
        result: The result of a widget's tool, `render_widget` or `show_render`: a client's object
            or its JSON.

    Raises:
        ValueError: It neither shows a widget nor is an error of widgetd.
    """
    if isinstance(result, Mapping):
        result = CallToolResult.model_validate(result)
    envelope = Envelope.model_validate(result.meta or {})
    text = "\n".join(block.text for block in result.content if isinstance(block, TextContent))
    if envelope.error is not None:
        return Failed(text=text, error=envelope.error)
    if envelope.ui is None or envelope.render is None:
        raise ValueError("the result shows no widget; it is not one of a widget's tool")
    link = next((block.uri for block in result.content if isinstance(block, ResourceLink)), None)
    has_facts = envelope.widget is not None or link is not None
    return Shown(
        text=text,
        ui=envelope.ui,
        render=envelope.render,
        tree=envelope.widget if has_facts else result.structured_content,
        facts=Facts.model_validate(result.structured_content) if has_facts else None,
        link=link,
    )


def guard(ui_type: str) -> Callable[[Response], TypeGuard[Shown]]:
    """Return a type guard for responses of the type `ui_type`.

    is_flight_tracker = guard("flight-tracker")
    """

    def is_of_type(answered: Response) -> TypeGuard[Shown]:
        return isinstance(answered, Shown) and answered.ui.ui_type == ui_type

    return is_of_type
