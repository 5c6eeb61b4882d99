"""Consent by elicitation: a client asks its user before a tool changes something.

A modern client repeats the call with the answer. Any replica can take it.

Source: MCP specification 2026-07-28, basic/utilities/mrtr.
"""

from __future__ import annotations

from typing import Any

from mcp_types import CallToolRequestParams, ElicitResult

from widgetd.base.errors import CallError
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.builtin.consent import ask_by_card, shows_cards
from widgetd.server.mcp.server import Server
from widgetd.server.render.questions import write_question
from widgetd.server.render.result import Result, error_result

CONFIRMED = "confirmed"
"""Key of the question before a call: whether to do it."""

CONSENT = {
    "type": "object",
    "properties": {CONFIRMED: {"type": "boolean", "title": "Yes", "default": False}},
    "required": [CONFIRMED],
}
"""The schema of the question."""


async def ask_consent(
    server: Server, params: CallToolRequestParams, caller: Caller
) -> Result | dict[str, Any] | None:
    """Ask the user before a tool changes something. None if there is nothing left to ask."""
    tool, arguments = server.builtin.get(params.name), params.arguments or {}
    if tool is None or tool.asks is None or caller.denied is not None:
        return None
    context = server.context(caller).of(tool.toolset)
    question = tool.asks(context, arguments)
    if question is None:
        return None
    try:
        if not caller.client.asks:
            if shows_cards(caller):
                return await ask_by_card(context, tool, arguments, question)
            if server.options.allow_unasked:
                return None
            problem = (
                "this changes something, and your client can neither ask its user nor draw a card, "
                "so nothing was done; the operator can set allow_unasked"
            )
            return error_result(CallError("W3006", problem))
        message = write_question(question.text, question.select(arguments))
    except CallError as error:
        return error_result(error)
    answer = (params.input_responses or {}).get(CONFIRMED)
    if not isinstance(answer, ElicitResult):
        # The client repeats the key with the answer. The SDK would seal a `requestState` with a key
        # of this process, unknown to other replicas.
        asking = {"mode": "form", "message": message, "requestedSchema": CONSENT}
        request = {"method": "elicitation/create", "params": asking}
        return {"resultType": "input_required", "inputRequests": {CONFIRMED: request}}
    if answer.action == "accept" and (answer.content or {}).get(CONFIRMED) is True:
        return None
    # A client may decline by itself, without having asked its user.
    return error_result(CallError("W3006", "this was not confirmed, so nothing was done"))
