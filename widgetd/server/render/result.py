"""Tool results: the parts of a render for each reader.

`content` is a short text for the model, `structuredContent` is the widget (profile `chatkit`) or a
few facts (profile `split`), and `_meta` is for the widget's page.

Source: MCP specification, server/tools, "Tool Result"; MCP Apps 2026-01-26.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, cast, get_args

import orjson

from widgetd.base.errors import CODES, CallError
from widgetd.base.text_search import nearest
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.components.lucide import find_icons
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import UNNAMED, Caller, ClientInfo, Profile, with_prefix
from widgetd.server.render.envelope import Failure, Ui, UiMetadata, encode_render
from widgetd.server.render.hosts import draws_views, host_of
from widgetd.server.store.contract import StoredRender


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """A tool result in parts, each as JSON.

    `json` joins them into the bytes to send. `values` parses the same bytes into objects for
    FastMCP and the SDK.

    Attributes:
        content: The array of blocks for the model.
        structured: The object for programs. Empty without one.
        meta: The object for the widget's page. Empty without one.
        code: The error's code, as `W2002`. Empty without one.
    """

    content: bytes
    structured: bytes = b""
    meta: bytes = b""
    is_error: bool = False
    code: str = ""

    def json(self, stamp: bytes = b"") -> bytes:
        """Return the result as it is sent, without its empty parts.

        Args:
            stamp: The server's entry in a modern result's `_meta`, as
                `"io.modelcontextprotocol/serverInfo":{...}`. Empty in the legacy era.
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
        # Python's own parser keeps integers of any length exact.
        values: dict[str, Any] = json.loads(self.json())
        return values


Block = dict[str, Any]
"""A content block as it is sent."""

Text = Literal["summary", "json", "markdown"]


FIRST_WITH_STRUCTURE = "2025-06-18"
"""The first protocol version with structured content."""

PRIORITIES: Mapping[str, float] = MappingProxyType({"high": 1.0, "low": 0.2})
"""The sidecar's priority as a content annotation. `medium` has none."""

MISSPELLING = 0.85
"""Likeness from which a name is a misspelling of another, whatever they mean."""

RENDERS = "widgetd://renders/"
"""URI prefix of stored renders."""

PROFILE_KEY = "widgetd/profile"
"""Key of a call's `_meta` with the profile of this call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Policy:
    """The operator's settings for results.

    Attributes:
        profile: The profile of clients without another rule.
        profiles: Profiles by client name. They take precedence over `profile`.
        text: Whether `content` is the summary, mirrors the tree or describes it.
        text_tokens: Maximum tokens of a description. 0 for no maximum.
        strict: Whether arguments in need of coercion are refused.
        inline_max_bytes: Size from which a tree is replaced by a link.
    """

    profile: Profile = "auto"
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    text: Text = "summary"
    text_tokens: int = 400
    strict: bool = False
    inline_max_bytes: int = 256 * 1024


def ui(widget: Widget) -> Ui:
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


def check_profile(name: object, path: str) -> Profile:
    """Return the profile of this name.

    Raises:
        CallError: It does not exist (W2006).
    """
    if name not in get_args(Profile):
        expected = 'expected "auto", "chatkit" or "split"'
        raise CallError("W2006", f"{expected}, got {name!r:.60}", path=path)
    return cast("Profile", name)


def profile_for(
    policy: Policy, widget: Widget | None, caller: Caller
) -> Literal["chatkit", "split"]:
    """Choose by the call, its address, the widget, the client's name, the setting, its kind.

    Raises:
        CallError: The call asks for an unknown profile (W2006).
    """
    by_call = caller.meta.get(PROFILE_KEY)
    choices: tuple[Profile | None, ...] = (
        None if by_call is None else check_profile(by_call, f"_meta.{PROFILE_KEY}"),
        caller.profile,
        widget.definition.sidecar.profile if widget else None,
        policy.profiles.get(caller.client.name),
        policy.profile,
        "split" if draws_views(caller.client) else host_of(caller.client).profile,
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
    client: ClientInfo = UNNAMED,
    prefix: str = "",
    is_for_page: bool = False,
    page_tree: bytes = b"",
    palette: bytes = b"",
    address: str = "",
    is_text_alone: bool = False,
) -> Result:
    """Build the result of a render in `profile`.

    Args:
        render: The render.
        profile: Whether the model gets the tree.
        policy: The operator's settings for results.
        client: The calling client. Unnamed in-process.
        prefix: The namespace of URIs on a mounted server.
        is_for_page: Whether the result is for a page, unseen by any model. The tree has any size.
        page_tree: The tree for a page in `_meta`, with inline images. Empty for the render's.
        palette: The folder's theme as JSON, for pages. Empty to leave theirs.
        address: The address of the render for browsers. Empty if its client draws it.
        is_text_alone: Whether the client hands everything to the model and draws nothing.

    Returns:
        In profile `chatkit`: `{"content": [summary], "structuredContent": {"type": "Card", ...}}`.
        In profile `split`, and of a widget with sensitive arguments in any: `structuredContent` is
        `{"uiType", "summary", ...}`, and the root is in `_meta["widgetd/widget"]` alone. If the
        host shows `_meta` to the model, `_meta` is `{"widgetd/render": {"id": ...}}` and the page
        fetches the rest.
    """
    if render.secret:  # many hosts hand structured content to the model
        profile = "split"
    if is_text_alone:
        content = _content(render, client, policy=policy, is_inline=False, address=address)
        return Result(content=to_json([text_block(block["text"]) for block in content]))
    is_inline = is_for_page or len(render.tree) <= policy.inline_max_bytes
    content = _content(render, client, policy=policy, is_inline=is_inline, address=address)
    # Pages fetch a large tree by the render's id: a link makes some hosts deliver nothing at all
    # (anthropics/claude-ai-mcp#753).
    if not is_inline and not draws_views(client):
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
    shows_meta = host_of(client).shows_meta and not is_for_page
    is_read_by_page = render.press != "" and draws_views(client) and not shows_meta
    # The page of a large tree fetches its local state together with the tree.
    marked = render if is_inline else replace(render, local=b"")
    mark = encode_render(marked, is_for_page=is_read_by_page)
    icons = find_icons(render.tree) if is_inline else {}
    parts = {
        "ui": render.ui,
        "render": mark,
        "feed": render.feed,
        "widget": (page_tree or render.tree) if is_inline and profile == "split" else b"",
        "icons": to_json(icons) if icons else b"",
        "palette": palette,
    }
    entries = (b'"widgetd/%b":%b' % (name.encode(), part) for name, part in parts.items() if part)
    meta = b"{%b}" % b",".join(entries)
    if is_inline and profile == "chatkit":
        return Result(content=to_json(content), structured=render.tree, meta=meta)
    data = render.data
    if render.has_actions:
        data = to_json({**json.loads(data), "renderId": render.id})
    if shows_meta:
        meta = to_json({"widgetd/render": {"id": render.id}})
    return Result(content=to_json(content), structured=data, meta=meta)


def _content(
    render: StoredRender, client: ClientInfo, *, policy: Policy, is_inline: bool, address: str
) -> list[Block]:
    # The model needs the id to await actions, and hosts hide `_meta` from it. A page needs it in
    # the text, because some hosts deliver nothing else (modelcontextprotocol/ext-apps#696).
    shows_id = render.has_actions or draws_views(client)
    named = f"Render: {render.id}" if shows_id else ""
    if address:
        # Plain text: some hosts drop a result with a `resource_link`.
        named = f"{named}\nShow the user: {address}".strip()
    knows_structure = not client.protocol or client.protocol >= FIRST_WITH_STRUCTURE
    if is_inline and not render.secret and (policy.text == "json" or not knows_structure):
        tree = text_block(render.tree.decode())
        return [tree, text_block(named)] if named else [tree]
    text = render.body or render.text
    summary = text_block(f"{text}\n{named}" if named else text)
    # The user sees the widget instead.
    summary["annotations"] = {"audience": ["assistant"]}
    priority = _priority(render.ui)
    if priority is not None:
        summary["annotations"]["priority"] = priority
    return [summary]


def not_found(name: str, names: Iterable[str]) -> dict[str, Any]:
    near = nearest(name, tuple(names))
    suggestions = [] if near is None else [near]
    return {"name": name, "status": "not_found", "suggestions": suggestions}


def unknown_widget(
    name: str, widgets: Iterable[str], path: str = "name", *, similar: str = ""
) -> CallError:
    names = tuple(widgets)
    # Only a misspelling beats the search: `flight_status` means a flight, not `ride_status`.
    near = nearest(name, names, MISSPELLING) or similar or nearest(name, names)
    hint = f"did you mean '{near}'?" if near else "search_widgets finds what there is"
    return CallError(
        "W2001",
        f"there is no widget '{name:.60}'; {hint}",
        path=path,
        suggestions=(near,) if near else (),
    )


@lru_cache(maxsize=1024)
def _priority(encoded_ui: bytes) -> float | None:
    return PRIORITIES.get(str(orjson.loads(encoded_ui).get("uiMetadata", {}).get("priority")))


def render_uri(render_id: str) -> str:
    return RENDERS + render_id


def structured_result(answer: Mapping[str, Any], *blocks: Block) -> Result:
    """Return `answer` as structured content and, for text-only hosts, after `blocks`."""
    structured = to_json(answer)
    content = [*blocks, text_block(structured.decode())]
    return Result(content=to_json(content), structured=structured)


def text_block(text: str) -> Block:
    return {"type": "text", "text": text}


def failure(error: CallError) -> Failure:
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
    place = f"{error.path}: " if error.path and not error.message.startswith(error.path) else ""
    # Models stop at "retry: no", so a correctable mistake asks for another call.
    is_correctable = CODES[error.code].correctable or (error.code == "W2401" and error.suggestions)
    if is_correctable or error.invalid_arguments:
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
