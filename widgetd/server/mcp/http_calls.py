"""Calls over plain HTTP: a backend's data, and actions in widgets on our own pages.

They pass the same checks as calls over MCP: scopes, rate, slots, visible widgets, and only then the
arguments.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any

import orjson

from widgetd.base.errors import CallError
from widgetd.core.widget.actions import find_tree_actions
from widgetd.core.widget.actions.user_input import readable_input
from widgetd.core.widget.actions.words import describe_action
from widgetd.server.access.auth import principal_of
from widgetd.server.access.principal import UNNAMED, Caller, ClientInfo, Principal
from widgetd.server.mcp.builtin.updates import replace_render
from widgetd.server.mcp.handlers import CALLS
from widgetd.server.mcp.middleware import authorize
from widgetd.server.mcp.server import Server
from widgetd.server.observe.observer import EncodedResult
from widgetd.server.render.action_callers import DryRun
from widgetd.server.render.result import failure, render_uri, unknown_widget
from widgetd.server.store.contract import StoredRender

Read = Callable[[], Awaitable[Mapping[str, Any]]]
"""Reads the arguments from the request. Raises `CallError` if they are not an object."""


async def keep_render(server: Server, user: object, name: str, read: Read) -> dict[str, Any]:
    """Render `name` from a backend's data and store the render for `show_render`.

    `read` is called only for an authorized caller and an existing widget.

    Returns:
        `{"renderId", "uri", "summary"}`, or `{"error": {"code", "message", "path", ...}}`.
    """
    params: dict[str, Any] = {"name": name}

    async def render(caller: Caller) -> dict[str, Any]:
        snapshot = caller.snapshot
        if name not in snapshot.widgets:
            raise unknown_widget(name, snapshot.widgets)
        params["arguments"] = arguments = await read()
        render = await server.rendering.compute(
            snapshot.widgets[name],
            arguments,
            snapshot.generation,
            owner=caller.principal.name,
        )
        await server.rendering.store(render, follow=True)
        return {"renderId": render.id, "uri": render_uri(render.id), "summary": render.text}

    return await _authorize_and_answer(server, user, params, render)


async def update_kept(
    server: Server, user: object, name: str, render_id: str, read: Read
) -> dict[str, Any]:
    """Replace a stored render, as `update_render` does.

    `read` returns the tool's arguments besides the id. Only authorized callers reach it.

    Returns:
        `{"renderId", "version", "summary"}`, or `{"error": {"code", "message", "path", ...}}`.
    """
    params: dict[str, Any] = {"name": "update_render"}

    async def render(caller: Caller) -> dict[str, Any]:
        params["arguments"] = arguments = {"render_id": render_id, **await read()}
        return await replace_render(server.rendering, arguments, caller, tool=name)

    return await _authorize_and_answer(server, user, params, render)


async def _authorize_and_answer(
    server: Server,
    user: object,
    params: Mapping[str, Any],
    rendered: Callable[[Caller], Awaitable[dict[str, Any]]],
) -> dict[str, Any]:
    async def answer(admitted: Caller) -> dict[str, Any]:
        # In the shape of a tool result, because observers know no other.
        try:
            if admitted.denied is not None:
                raise admitted.denied
            return {"structuredContent": await rendered(admitted)}
        except CallError as error:
            problem = failure(error).wire()
            return {
                "isError": True,
                "structuredContent": {"error": problem},
                "_meta": {"widgetd/error": problem},
            }

    caller = caller_for(server, principal_of(user, server.options.anonymous))
    answered = await authorize(server, caller, answer, method=CALLS, params=params)
    content: dict[str, Any] = answered["structuredContent"]
    return content


async def store_if_interactive(server: Server, render: StoredRender, caller: Caller) -> bool:
    """Store the render of a page if it has actions, and return whether it has."""
    if render.has_actions:
        await server.store.renders.put(replace(render, owner=caller.principal.name))
    return render.has_actions


def caller_for(server: Server, principal: Principal, client: ClientInfo = UNNAMED) -> Caller:
    snapshot = server.views.of(server.registry.current, principal.audience)
    return Caller(snapshot=snapshot, client=client, principal=principal, registry=server.registry)


async def take_action(
    server: Server,
    arguments: Mapping[str, Any],
    caller: Caller,
    *,
    tool: str = "widget_action",
    delegated: bool = False,
    dry_run: DryRun | None = None,
) -> dict[str, Any]:
    """Call a tool of pages for the user of a page and return the result as clients get it.

    Args:
        server: Serves the widget.
        arguments: The arguments of the tool.
        caller: The user of the page.
        tool: The tool. By default the tool for actions.
        delegated: Whether the page has only the rights of its user's agent.
        dry_run: Answers bound actions in place of upstreams, on pages without a conversation.
    """
    principal = caller.principal.delegate() if delegated else caller.principal
    caller = replace(caller, principal=principal, registry=server.registry)
    params = {"name": tool, "arguments": arguments}

    async def act(admitted: Caller) -> EncodedResult:
        if dry_run is None or admitted.denied is not None:
            result = await server.call(tool, arguments, admitted)
        else:
            context = replace(server.context(admitted), actions=dry_run)
            result = await server.builtin.call(tool, arguments, context)
        return EncodedResult(result.json(), result.is_error, result.code)

    sent = await authorize(server, caller, act, method=CALLS, params=params)
    answer: dict[str, Any] = orjson.loads(sent.json)
    return answer


async def readable_payload(
    server: Server, arguments: Mapping[str, Any], caller: Caller
) -> tuple[dict[str, Any], str]:
    """Return an accepted action for other readers than the agent awaiting it.

    Returns:
        The payload without passwords and sensitive fields, and the action in words for people. The
        payload is empty if the render is gone or its sensitive fields are unknown.
    """
    named = f"“{arguments['action']}”"
    try:
        render = await server.rendering.load(arguments["render_id"], caller)
        widget = caller.snapshot.widgets.get(render.tool)
        sensitive = () if widget is None else widget.definition.sidecar.sensitive
        if render.secret and not sensitive:
            return {}, named
        if widget is not None and (state := arguments.get("state")):
            # The action may be offered in the user's state alone.
            render = await server.rendering.compute_state(render, widget, state)
        tree = orjson.loads(render.tree)
        action = find_tree_actions(tree)[arguments["action"]]
        payload = action.accept(arguments["payload"], sensitive)
    except (CallError, KeyError):
        # The render may have been replaced by a version without this action.
        return {}, named
    readable = readable_input(tree, action, payload, sensitive)
    return readable, describe_action(tree, action, readable)
