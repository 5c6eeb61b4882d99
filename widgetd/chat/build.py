"""Builds the chat: its agent's servers and, once the daemon serves, its ChatKit server."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, Any

from widgetd.base.errors import ConfigError
from widgetd.chat import limits as chat_limits
from widgetd.chat.pages import Chat, act, ask_upstream_call, redraw, sensitive_paths
from widgetd.chat.preflight import ChatOptions, read_instructions
from widgetd.server.access.principal import OPERATE, Principal
from widgetd.server.mcp.builtin.table import BuiltinTool
from widgetd.upstreams.toolset import UpstreamServices

if TYPE_CHECKING:
    from widgetd.chat.backend.server import ChatServer
    from widgetd.server.wing import WingHost
    from widgetd.upstreams.connection import Upstream

_TOOLS = ("search_widgets", "get_widget_details", "render_widget")
"""The built-in tools of every chat's model: those that find and show widgets."""

_EXCLUDED_TOOLS = frozenset({"await_widget_action", "widget_action"})
"""The chat tells its agent of actions by itself, without passwords and sensitive fields; a reader
that awaits an action gets all of it."""


def chat_tools(builtin: Mapping[str, BuiltinTool], names: Iterable[str]) -> frozenset[str]:
    """Return the built-in tools of the chat's model by `names` of tools and toolsets.

    Raises:
        ConfigError: There is no tool and no toolset of a name (W0002).
    """
    offered = {*_TOOLS}
    for name in names:
        tools = [row.name for row in builtin.values() if name in (row.name, row.toolset)]
        if not tools:
            problem = f"chat_tools names '{name}', and there is no such tool or toolset here"
            raise ConfigError("W0002", problem, "name a tool of widgetd, or switch its toolset on")
        offered.update(tools)
    return frozenset(offered) - _EXCLUDED_TOOLS


def build_chat(options: ChatOptions, host: WingHost) -> Chat:
    """Build the chat. The agent of a user with upstreams may call them too.

    Raises:
        ConfigError: The file of instructions cannot be read (W0006), or `chat_tools` names no tool.
    """
    server, limits = host.server, chat_limits.LIMITS
    instructions = read_instructions(options.chat_instructions)
    offered = chat_tools(server.builtin, options.chat_tools)
    services = host.find(UpstreamServices)
    upstreams = None if services is None else services.upstreams

    def upstreams_of(owner: Principal) -> list[Upstream]:
        others = upstreams.all.values() if upstreams and OPERATE in owner.scopes else ()
        return [upstream for upstream in others if upstream.declaration.table.enabled]

    @contextmanager
    def servers(owner: Principal) -> Iterator[list[Any]]:
        from widgetd.chat.backend.tools import OwnTools, UpstreamTools  # noqa: PLC0415 - see below

        ask = partial(ask_upstream_call, server, owner)
        more = frozenset(server.builtin[name].scope for name in offered if name in server.builtin)
        access = host.access
        with nullcontext("") if access is None else access.delegated_token(owner, more) as token:
            own = OwnTools(
                host.local_url,
                token,
                offers=lambda name: name not in server.builtin or name in offered,
            )
            yield [own, *(UpstreamTools(upstream, ask) for upstream in upstreams_of(owner))]

    def backend() -> ChatServer:
        # Later still, once the daemon serves: these take longer to import than everything else.
        from widgetd.chat.backend.database import ChatDatabase  # noqa: PLC0415
        from widgetd.chat.backend.model import chat_model  # noqa: PLC0415
        from widgetd.chat.backend.server import INSTRUCTIONS, ChatServer  # noqa: PLC0415
        from widgetd.chat.backend.threads import Threads  # noqa: PLC0415
        from widgetd.chat.samples import find_sample  # noqa: PLC0415

        address, sample = options.chat_url.get_secret_value(), partial(find_sample, server)
        return ChatServer(
            Threads(ChatDatabase(host.state, limits), limits),
            chat_model(options.chat_model, address, options.chat_key, limits, sample),
            servers,
            act=partial(act, server),
            redraw=partial(redraw, server),
            sensitive=partial(sensitive_paths, server),
            instructions=instructions or INSTRUCTIONS,
            limits=limits,
        )

    return Chat(server, backend, options.cors_origin, limits, upstreams_of)
