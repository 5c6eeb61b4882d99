"""A tree becomes a tool result: who sees what of it.

Three parts, three readers: `content` is a short text for the model,
`structuredContent` is the widget (profile `chatkit`) or a few facts (profile
`split`), and `_meta` is for whoever shows the widget. The types here are the
public shape of that contract.

Source: MCP specification, server/tools, "Tool Result"; MCP Apps 2026-01-26.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import orjson
from fastmcp.tools.base import ToolResult
from mcp_types import TextContent
from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from widgetd.errors import CallError
from widgetd.tools.caller import Caller
from widgetd.widget.compiled import Render, Widget

Profile = Literal["auto", "chatkit", "split"]
Text = Literal["summary", "json"]

MODEL_HOSTS: Mapping[str, Profile] = MappingProxyType(
    {
        # Hosts that put structuredContent before the model, by clientInfo.name.
        "claude-ai": "split",
        "claude-code": "split",
        "codex-mcp-client": "split",
        "cursor-vscode": "split",
        "gemini-cli-mcp-client": "split",
        "goose": "split",
        "openai-mcp": "split",
        "Visual Studio Code": "split",
    }
)
"""Which hosts show structured content to the model, so that the tree must stay out of it."""

PROFILE_KEY = "widgetd/profile"
"""In a call's `_meta`: the profile for this one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How results are shaped, as the operator set it.

    Attributes:
        profile: For clients that nothing else decides for.
        profiles: By client name, before `profile`.
        text: Whether `content` carries the summary or mirrors the tree.
        strict: Refuse arguments that would have to be mended.
    """

    profile: Profile = "auto"
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    text: Text = "summary"
    strict: bool = False


class Part(BaseModel):
    """A part of the envelope: frozen, in camelCase on the wire, without its empty fields."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)

    def wire(self) -> dict[str, Any]:
        """This part as it stands in a result's `_meta`."""
        return self.model_dump(by_alias=True, exclude_none=True, mode="json")


class UiMetadata(Part):
    """Which component shows the widget, and how it would like to be treated."""

    component: str
    version: str
    provider: str | None = None
    priority: Literal["high", "medium", "low"] = "medium"
    render_mode: Literal["immediate", "lazy", "progressive"] = "immediate"
    min_client_version: str | None = None
    deprecated: bool | None = None
    migration_guide: str | None = None
    cache_strategy: Literal["session", "persistent"] | None = None
    preload: bool | None = None


class Ui(Part):
    """`_meta["widgetd/ui"]`: the type of response, and its metadata."""

    ui_type: str
    ui_metadata: UiMetadata


class RenderMark(Part):
    """`_meta["widgetd/render"]`: which render this is, and of what."""

    id: str
    widget: str
    generation: str
    digest: str
    ms: float
    mended: tuple[str, ...] | None = None


def ui(widget: Widget) -> Ui:
    """What the widget's sidecar says of how it is shown."""
    definition, sidecar = widget.definition, widget.definition.sidecar
    return Ui(
        ui_type=definition.ui_type,
        ui_metadata=UiMetadata(
            component=definition.component,
            version=sidecar.version or f"0.0.0+{definition.digest[:8]}",
            provider=sidecar.provider,
            priority=sidecar.priority,
            render_mode=sidecar.render_mode,
            min_client_version=sidecar.min_client_version,
            deprecated=sidecar.deprecated or None,
            migration_guide=sidecar.migration_guide,
            cache_strategy=None if sidecar.cache == "none" else sidecar.cache,
            preload=sidecar.preload or None,
        ),
    )


def profile_for(policy: Policy, widget: Widget, caller: Caller) -> Literal["chatkit", "split"]:
    """Who sees the tree: decided by the call, the widget, the client's name, the setting, its kind.

    Raises:
        CallError: The call asks for a profile that does not exist (W2006).
    """
    asked = caller.meta.get(PROFILE_KEY)
    if asked not in (None, "auto", "chatkit", "split"):
        raise CallError(
            "W2006",
            f'expected "auto", "chatkit" or "split", got {asked!r}',
            path=f"_meta.{PROFILE_KEY}",
        )
    choices: tuple[Profile | None, ...] = (
        asked,
        widget.definition.sidecar.profile,
        policy.profiles.get(caller.client),
        policy.profile,
        "split" if caller.apps else MODEL_HOSTS.get(caller.client),
    )
    for choice in choices:
        if choice is not None and choice != "auto":
            return choice
    return "chatkit"


def tool_result(
    widget: Widget, render: Render, mark: RenderMark, *, policy: Policy, caller: Caller
) -> ToolResult:
    """The result of a call, shaped for the one who made it.

    Returns:
        In profile `chatkit`: `{"content": [summary], "structuredContent": {"type": "Card", ...}}`.
        In profile `split`: `structuredContent` is `{"uiType", "widget", "title", ...}`, and the
        root stands in `_meta["widgetd/widget"]` alone.
    """
    meta: dict[str, Any] = {"widgetd/ui": ui(widget).wire(), "widgetd/render": mark.wire()}
    structured: dict[str, Any] = render.tree
    if profile_for(policy, widget, caller) == "split":
        meta["widgetd/widget"] = render.tree
        structured = _facts(widget, render)
    text = _text(widget, render, policy=policy, caller=caller)
    return ToolResult(
        content=[TextContent(type="text", text=text)], structured_content=structured, meta=meta
    )


def _facts(widget: Widget, render: Render) -> dict[str, Any]:
    """What the model sees of a widget in profile `split`."""
    definition = widget.definition
    facts = {"uiType": definition.ui_type, "widget": definition.tool, "title": definition.title}
    return facts | widget.facts.data(render.arguments)


def _text(widget: Widget, render: Render, *, policy: Policy, caller: Caller) -> str:
    knows_structure = not caller.protocol or caller.protocol >= "2025-06-18"
    if policy.text == "json" or not knows_structure:
        return orjson.dumps(render.tree).decode()
    return widget.facts.summary(render.arguments)


def error_result(error: CallError) -> ToolResult:
    """A call that failed, for the model to read and for a program to act on."""
    place = f"{error.path}: " if error.path and not error.message.startswith(error.path) else ""
    retry = "yes" if error.recoverable else "no"
    details: dict[str, Any] = {
        "code": error.code,
        "message": error.message,
        "path": error.path,
        "recoverable": error.recoverable,
        "suggestions": list(error.suggestions),
    }
    if error.slips:
        details["details"] = [
            {"path": slip.path, "expected": slip.expected, "got": slip.got} for slip in error.slips
        ]
    text = f"[{error.code}] {place}{error.message} (retry: {retry})"
    return ToolResult(
        content=[TextContent(type="text", text=text)],
        meta={"widgetd/error": details},
        is_error=True,
    )
