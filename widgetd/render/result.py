"""A tree becomes a tool result: who sees what of it.

Three parts, three readers: `content` is a short text for the model,
`structuredContent` is the widget (profile `chatkit`) or a few facts (profile
`split`), and `_meta` is for whoever shows the widget.

Source: MCP specification, server/tools, "Tool Result"; MCP Apps 2026-01-26.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal

import orjson

from widgetd.access.principal import Caller, with_prefix
from widgetd.errors import CallError, nearest
from widgetd.render.envelope import Failure, Ui, UiMetadata
from widgetd.schema.json_values import to_json
from widgetd.store.contract import StoredRender
from widgetd.widget.components.lucide import icons_in
from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What a call answers, in parts that are JSON already.

    Whoever sends bytes takes `json`; whoever needs objects, as FastMCP and the SDK do, takes
    `values`, which are made of the same bytes.

    Attributes:
        content: The array of blocks, for the model.
        structured: The object for programs; empty where there is none.
        meta: The object for whoever shows the widget; empty where there is none.
        is_error: Whether the call failed.
        code: Why, as `W2002`; empty where it did not.
    """

    content: bytes
    structured: bytes = b""
    meta: bytes = b""
    is_error: bool = False
    code: str = ""

    def json(self, stamp: bytes = b"") -> bytes:
        """The result as it goes to clients; what there is not is left out.

        Args:
            stamp: In the modern era, the server's own entry in `_meta`, as
                `"io.modelcontextprotocol/serverInfo":{...}`; the result is complete then.
        """
        meta = b",".join(filter(None, (self.meta[1:-1], stamp)))
        return b'{%b"content":%b,%b"isError":%b%b}' % (
            b'"resultType":"complete",' if stamp else b"",
            self.content,
            b'"structuredContent":%b,' % self.structured if self.structured else b"",
            b"true" if self.is_error else b"false",
            b',"_meta":{%b}' % meta if meta else b"",
        )

    def values(self) -> dict[str, Any]:
        """The same as objects, as the legacy era has it: nothing in it says who served it."""
        # Python's own reader, which takes integers of any length as what they are.
        values: dict[str, Any] = json.loads(self.json())
        return values


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
        policy.profiles.get(caller.client.name),
        policy.profile,
        "split" if caller.client.apps else MODEL_HOSTS.get(caller.client.name),
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

    In-process there is no `protocol`; `prefix` stands before the path of URIs as the caller has
    them.

    Returns:
        In profile `chatkit`: `{"content": [summary], "structuredContent": {"type": "Card", ...}}`.
        In profile `split`: `structuredContent` is `{"uiType", "widget", "title", ...}`, and the
        root stands in `_meta["widgetd/widget"]` alone.
    """
    # A model never sees `_meta`, and has to name the render to wait for what users do in it.
    named = f"Render: {render.id}" if render.has_actions else ""
    is_inline = len(render.tree) <= policy.inline_max_bytes
    knows_structure = not protocol or protocol >= FIRST_WITH_STRUCTURE
    if is_inline and not render.secret and (policy.text == "json" or not knows_structure):
        content = [text_block(render.tree.decode())]
        if named:
            content.append(text_block(named))
    else:
        content = [text_block(f"{render.text}\n{named}" if named else render.text)]
        # People see the widget itself.
        annotations: dict[str, Any] = {"audience": ["assistant"]}
        priority = _priority(render.ui)
        if priority is not None:
            annotations["priority"] = priority
        content[0]["annotations"] = annotations
    if not is_inline:
        content.append(
            {
                "name": render.id,
                "uri": with_prefix(render_uri(render.id), prefix),
                "description": "The widget, which is too large to be sent along.",
                "mimeType": "application/json",
                "size": len(render.tree),
                "annotations": {"audience": ["user"]},
                "type": "resource_link",
            }
        )
    meta = b'{"widgetd/ui":%b,"widgetd/render":%b}' % (render.ui, render.mark)
    if render.feed:
        meta = b'%b,"widgetd/feed":%b}' % (meta[:-1], render.feed)
    if is_inline and profile == "split":
        meta = b'%b,"widgetd/widget":%b}' % (meta[:-1], render.tree)
    if is_inline and (icons := icons_in(render.tree)):
        meta = b'%b,"widgetd/icons":%b}' % (meta[:-1], to_json(icons))
    if is_inline and profile == "chatkit":
        return Result(content=to_json(content), structured=render.tree, meta=meta)
    facts = render.facts
    if named:
        facts = to_json({**json.loads(facts), "renderId": render.id})
    return Result(content=to_json(content), structured=facts, meta=meta)


def not_found(name: str, known: Iterable[str]) -> dict[str, Any]:
    """The item of a list for a name that was asked for and is none of the `known`."""
    near = nearest(name, tuple(known))
    suggestions = [] if near is None else [near]
    return {"name": name, "status": "not_found", "suggestions": suggestions}


def unknown_widget(name: str, widgets: Iterable[str], path: str = "name") -> CallError:
    """There is no such widget (W2001); the error names the nearest one."""
    near = nearest(name, tuple(widgets))
    hint = f"did you mean '{near}'?" if near else "search_widgets finds what there is"
    return CallError(
        "W2001",
        f"there is no widget '{name:.60}'; {hint}",
        path=path,
        suggestions=(near,) if near else (),
    )


@lru_cache(maxsize=1024)
def _priority(shown: bytes) -> float | None:
    """The annotation of a summary, of a widget that is shown so."""
    return PRIORITIES.get(str(orjson.loads(shown)["uiMetadata"]["priority"]))


def render_uri(render_id: str) -> str:
    """Where a render can be read, as long as it is kept."""
    return RENDERS + render_id


def structured_result(answer: dict[str, Any]) -> Result:
    """An answer for programs, and the same as text for models whose host shows only text."""
    structured = to_json(answer)
    return Result(content=to_json([text_block(structured.decode())]), structured=structured)


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


_SLIPS = ("W1006", "W2002", "W3005", "W3101", "W4101", "W4102", "W4201", "W4202", "W4402")
"""What a model names otherwise next time: an argument, a file, a digest, a pattern, a target."""


def error_result(error: CallError, structured: dict[str, Any] | None = None) -> Result:
    """A call that failed, for the model to read and for a program to act on."""
    place = f"{error.path}: " if error.path and not error.message.startswith(error.path) else ""
    # What the model should do: go on, where it sent what is wrong and reads what is right.
    is_slip = error.code in _SLIPS or (error.code == "W2001" and error.suggestions)
    if is_slip or error.invalid_arguments:
        wrong = "these" if len(error.invalid_arguments) > 1 else "this"
        advice = f"correct {wrong} and call again"
    else:
        advice = f"retry: {'yes' if error.recoverable else 'no'}"
    text = f"[{error.code}] {place}{error.message} ({advice})"
    return Result(
        content=to_json([text_block(text)]),
        structured=b"" if structured is None else to_json(structured),
        meta=to_json({"widgetd/error": failure(error).wire()}),
        is_error=True,
        code=error.code,
    )
