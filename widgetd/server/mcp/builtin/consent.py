"""Ask a person, on a card, before a tool changes something.

    call -> card (what, with which arguments, what would change) -> Allow once -> the same call
                                                                 -> Deny

A client with elicitation asks by itself. The card is for drawing clients without elicitation. The
call waits under a token, so exactly the call on the card runs, once. Only the card's page has the
secret of the press, so a model cannot allow its own call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

import anyio
import orjson

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.summary import shorten_at_word
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.builtin.table import CORE, BuiltinTool, ConsentQuestion, ToolContext
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.render.hosts import draws_views
from widgetd.server.render.questions import list_arguments
from widgetd.server.render.result import Result
from widgetd.server.store import confirmations
from widgetd.server.store.contract import Origin, StoredRender

ALLOW, DENY = "call.allow", "call.deny"

CARD_KEY = "widgetd/card"
"""Key of a call's `_meta`: the client is the chat, with cards but without views."""

Node = Mapping[str, Any]


def shows_cards(caller: Caller) -> bool:
    return draws_views(caller.client) or caller.meta.get(CARD_KEY) is True


async def ask_by_card(
    context: ToolContext[Any],
    tool: BuiltinTool,
    arguments: Mapping[str, Any],
    question: ConsentQuestion,
) -> Result:
    parts = await SYSTEM.threads.run_blocking(question.draw)
    call = {"tool": tool.name, "arguments": arguments}
    owner = context.caller.principal.name
    token = await confirmations.ask(context.store.idempotency, call, owner=owner)
    title = {"type": "Title", "value": question.text, "size": "sm"}
    payload = {"token": token}
    tree = {
        "type": "Card",
        "size": "md",
        "children": [title, *_rows(question.select(arguments)), *parts],
        "confirm": {"label": "Allow once", "action": {"type": ALLOW, "payload": payload}},
        "cancel": {"label": "Deny", "action": {"type": DENY, "payload": payload}},
    }
    text = (
        f"The user is asked first, on a card: {question.text} Nothing is done until they allow it"
    )
    render = StoredRender(
        id=f"r_{SYSTEM.numbers.token_urlsafe(12)}",
        tool="",
        tree=to_json(tree),
        created=SYSTEM.clock.wall_s(),
        text=f"{text}; you get what they chose, so do not call again.",
        data=to_json({"status": "confirm", "question": question.text}),
        has_actions=True,
        follow=True,
        owner=owner,
        press=SYSTEM.numbers.token_urlsafe(12),
    )
    await context.store.renders.put(render)
    return context.rendering.result(render, context.caller)


async def settle(
    context: ToolContext[Any], render: StoredRender, action: str, token: str
) -> dict[str, Any]:
    """Do or drop the call of a card, and show the outcome on the card.

    Returns:
        `{"status": "done" | "failed", "note", "line"}`: a sentence for people, one for the model.

    Raises:
        CallError: The card was answered before, has expired, or its tool is gone (W3105), or the
            principal may not call it any more (W2301).
    """
    principal = context.caller.principal
    call = await confirmations.take(context.store.idempotency, token, owner=principal.name)
    if call is None:
        raise CallError("W3105", "this was answered before, or has expired; ask for it again")
    name = str(call["tool"])
    status: Literal["done", "failed"] = "done"
    note, line = "Denied: nothing was done.", f"The user denied {name}: nothing was done."
    if action == ALLOW:
        tool = context.consent.get(name)
        # Without services the daemon was restarted without the tool's toolset.
        if tool is None or (tool.toolset != CORE and tool.toolset not in context.toolsets):
            raise CallError("W3105", f"there is no tool '{name}' here any more: nothing was done")
        principal.demand(tool.scope)
        # The user's client may be gone before the call has ended.
        with anyio.CancelScope(shield=True):
            result = await context.consent.call(name, call["arguments"], context)
        blocks = orjson.loads(result.content)
        output = "\n".join(block.get("text", "") for block in blocks)
        line = f"The user allowed {name}. It answered: {output}"[: LIMITS.outcome_chars]
        note = "Allowed, and done."
        if result.is_error:
            status, note = "failed", f"Allowed, but it failed: {output}"
    tree = orjson.loads(render.tree)
    for button in ("confirm", "cancel"):
        tree.pop(button, None)
    caption = shorten_at_word(note, LIMITS.note_chars)
    tree["children"] = [*tree["children"], {"type": "Caption", "value": caption}]

    def change(newest: StoredRender) -> StoredRender:
        return replace(newest, tree=to_json(tree), has_actions=False, state=status, press="")

    await context.store.renders.replace(render.id, change)
    await context.store.actions.append(
        render.id,
        action,
        {"outcome": line},
        idempotency_key=token,
        origin=Origin(owner=render.owner),
        outcome=status,
    )
    return {"status": status, "note": note, "line": line}


def _rows(arguments: Mapping[str, Any]) -> list[Node]:
    rows: list[Node] = []
    for name, value in list_arguments(arguments):
        caption = {"type": "Caption", "value": name}
        text = {"type": "Text", "size": "sm", "value": value}
        rows.append({"type": "Col", "gap": 0, "children": [caption, text]})
    return rows


def remove_actions(node: Any) -> Any:
    if isinstance(node, list):
        return [remove_actions(child) for child in node]
    if not isinstance(node, dict):
        return node
    return {
        name: remove_actions(value)
        for name, value in node.items()
        if not (name.endswith(("Action", "action")) or name in {"confirm", "cancel", "asForm"})
    }
