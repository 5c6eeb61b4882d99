"""A tree becomes a tool result: who sees what of it.

Three parts, three readers: `content` is a short text for the model,
`structuredContent` is the widget (profile `chatkit`) or a few facts (profile
`split`), and `_meta` is for whoever shows the widget.

Source: MCP specification, server/tools, "Tool Result"; MCP Apps 2026-01-26.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

import orjson

from widgetd.errors import CallError
from widgetd.mcp.envelope import Failure, Ui, UiMetadata
from widgetd.mcp.principal import Caller, placed
from widgetd.store.contract import StoredRender
from widgetd.widget.actions import has_actions
from widgetd.widget.components.lucide import icons_in
from widgetd.widget.widget import Widget

Result = dict[str, Any]
"""As it goes to clients: `{"content", "structuredContent", "isError", "_meta"}`."""

Block = dict[str, Any]
"""A part of a result's content, as it goes to clients."""

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
        "google-adk": "split",
        "goose": "split",
        "openai-mcp": "split",
        "Visual Studio Code": "split",
    }
)
"""Which hosts show structured content to the model, so that the tree must stay out of it."""

FIRST_WITH_STRUCTURE = "2025-06-18"
"""The first protocol version whose results have structured content."""

PRIORITIES: Mapping[str, float] = MappingProxyType({"high": 1.0, "low": 0.2})
"""The sidecar's priority as a content annotation; `medium` says nothing."""

RENDERS = "widgetd://renders/"
"""Before the id of a render: where it can be read."""

PROFILE_KEY = "widgetd/profile"
"""In a call's `_meta`: the profile for this one call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """How results are shaped, as the operator set it.

    Attributes:
        profile: For clients that nothing else decides for.
        profiles: By client name, before `profile`.
        text: Whether `content` carries the summary or mirrors the tree.
        strict: Refuse arguments that would have to be coerced.
        inline_max_bytes: A larger tree is not in the result, but behind a link in it.
    """

    profile: Profile = "auto"
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    text: Text = "summary"
    strict: bool = False
    inline_max_bytes: int = 256 * 1024


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


def profile_for(
    policy: Policy, widget: Widget | None, caller: Caller
) -> Literal["chatkit", "split"]:
    """Who sees the tree: decided by the call, the widget, the client's name, the setting, its kind.

    Args:
        policy: How results are shaped.
        widget: The widget; None where it is served no more.
        caller: Who asks.

    Raises:
        CallError: The call asks for a profile that does not exist (W2006).
    """
    asked = caller.meta.get(PROFILE_KEY)
    if asked not in (None, "auto", "chatkit", "split"):
        raise CallError(
            "W2006",
            f'expected "auto", "chatkit" or "split", got {asked!r:.60}',
            path=f"_meta.{PROFILE_KEY}",
        )
    choices: tuple[Profile | None, ...] = (
        asked,
        widget.definition.sidecar.profile if widget else None,
        policy.profiles.get(caller.client),
        policy.profile,
        "split" if caller.apps else MODEL_HOSTS.get(caller.client),
    )
    for choice in choices:
        if choice is not None and choice != "auto":
            return choice
    return "chatkit"


def tool_result(
    render: StoredRender,
    profile: Literal["chatkit", "split"],
    *,
    policy: Policy,
    protocol: str,
    prefix: str = "",
) -> Result:
    """The result that shows `render` to the model in `profile`, and to whoever draws it.

    Args:
        render: What was rendered.
        profile: Who sees the tree.
        policy: How results are shaped.
        protocol: The caller's protocol version; empty in-process.
        prefix: What stands before the path of our URIs as the caller knows them.

    Returns:
        In profile `chatkit`: `{"content": [summary], "structuredContent": {"type": "Card", ...}}`.
        In profile `split`: `structuredContent` is `{"uiType", "widget", "title", ...}`, and the
        root stands in `_meta["widgetd/widget"]` alone.
    """
    meta: dict[str, Any] = {"widgetd/ui": render.ui, "widgetd/render": render.mark}
    # A model never sees `_meta`, and has to name the render to wait for what users do in it.
    named = f"Render: {render.id}" if has_actions(render.tree) else ""
    facts = {**render.facts, "renderId": render.id} if named else render.facts
    is_inline = render.size_bytes <= policy.inline_max_bytes
    knows_structure = not protocol or protocol >= FIRST_WITH_STRUCTURE
    if is_inline and not render.secret and (policy.text == "json" or not knows_structure):
        content = [text_block(orjson.dumps(render.tree).decode())]
        if named:
            content.append(text_block(named))
    else:
        content = [text_block(f"{render.text}\n{named}" if named else render.text)]
        priority = PRIORITIES.get(str(render.ui["uiMetadata"]["priority"]))
        if priority is not None:
            content[0]["annotations"] = {"priority": priority}
    if not is_inline:
        content.append(
            {
                "name": render.id,
                "uri": placed(render_uri(render.id), prefix),
                "description": "The widget, which is too large to be sent along.",
                "mimeType": "application/json",
                "size": render.size_bytes,
                "type": "resource_link",
            }
        )
    else:
        if profile == "split":
            meta["widgetd/widget"] = render.tree
        if icons := icons_in(render.tree):
            meta["widgetd/icons"] = icons
    structured = render.tree if is_inline and profile == "chatkit" else facts
    return result_of(content, structured, meta=meta)


def render_uri(render_id: str) -> str:
    """Where a render can be read, as long as it is kept."""
    return RENDERS + render_id


def structured_result(answer: dict[str, Any]) -> Result:
    """An answer for programs, and the same as text for models whose host shows only text."""
    return result_of([text_block(orjson.dumps(answer).decode())], answer)


def result_of(
    content: list[Block],
    structured: Mapping[str, Any] | None,
    *,
    meta: Mapping[str, Any] | None = None,
    is_error: bool = False,
) -> Result:
    """A result of these parts."""
    return {
        "content": content,
        "structuredContent": structured,
        "isError": is_error,
        "_meta": meta,
    }


def text_block(text: str) -> Block:
    """Text, as a part of a result's content."""
    return {"type": "text", "text": text}


def failure(error: CallError) -> Failure:
    """Why a call failed, for a program to act on."""
    details = tuple(
        {"path": s.path, "expected": s.expected, "got": s.got} for s in error.invalid_arguments
    )
    return Failure(
        code=error.code,
        message=error.message,
        path=error.path,
        recoverable=error.recoverable,
        suggestions=error.suggestions,
        retry_after_s=error.retry_after_s,
        details=details or None,
    )


def error_result(error: CallError, structured: dict[str, Any] | None = None) -> Result:
    """A call that failed, for the model to read and for a program to act on.

    Args:
        error: Why.
        structured: What else there is to say, for whoever called from within a widget.
    """
    place = f"{error.path}: " if error.path and not error.message.startswith(error.path) else ""
    # What the model should do: go on, where it sent what is wrong and reads what is right.
    if error.invalid_arguments or (error.code == "W2001" and error.suggestions):
        wrong = "these" if len(error.invalid_arguments) > 1 else "this"
        advice = f"correct {wrong} and call again"
    else:
        advice = f"retry: {'yes' if error.recoverable else 'no'}"
    text = f"[{error.code}] {place}{error.message} ({advice})"
    meta = {"widgetd/error": failure(error).wire()}
    return result_of([text_block(text)], structured, meta=meta, is_error=True)
