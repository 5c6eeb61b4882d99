"""Forms by elicitation: a client without a view asks its user what the widget's form asks.

    call -> render -> question -> client -> `widget_action`, as a press in the widget's page
                                         -> the result, with what came of it

A modern client repeats the call with the answer; the question's key is the render's id, so any
replica can take it. A legacy client is asked during the call.

Source: MCP specification 2026-07-28, basic/utilities/mrtr; 2025-06-18, client/elicitation.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import orjson
from mcp_types import CallToolRequestParams, ElicitResult

from widgetd.access.principal import Caller
from widgetd.errors import CallError
from widgetd.mcp import sdk
from widgetd.mcp.handlers import call_tool
from widgetd.mcp.http_calls import take_action
from widgetd.mcp.server import Server
from widgetd.render.result import Result, error_result, text_block
from widgetd.schema.json_values import to_json
from widgetd.store.contract import StoredRender
from widgetd.widget.actions.question import Question, find_question
from widgetd.widget.widget import Widget

_KEY = "elicitation"
"""Idempotency key of an answer: a form is answered once, however often the client repeats it."""

FIRST_WITH_TITLES = "2025-11-25"
"""The first protocol version whose questions have choices with titles as JSON Schema has them."""

_UNANSWERED = (
    "The form was not answered here; the client may have declined it without showing it. "
    "await_widget_action waits for what the user does."
)


async def answer_with_form(
    server: Server, context: sdk.Context, params: CallToolRequestParams, caller: Caller
) -> dict[str, Any]:
    """Answer a call, and have the client ask the form of what it renders."""
    name, arguments = params.name, params.arguments or {}
    if name == "render_widget":
        name, arguments = str(arguments.get("name")), arguments.get("arguments") or {}
    widget = caller.snapshot.widgets.get(name)
    if widget is None or caller.denied is not None or not isinstance(arguments, dict):
        result = await call_tool(server, params.name, params.arguments or {}, caller)
        return {"resultType": "complete", **result.values()}
    try:
        given = sdk.read_form(params)
        if given is not None and (taken := await _take_answer(server, given, name, caller)):
            return {"resultType": "complete", **taken.values()}
        render = await server.rendering.draw(widget, arguments, caller)
        result = server.rendering.result(render, caller)
        question = _question(render, widget, caller)
        if question is not None and caller.client.asks:
            return sdk.ask_form(render.id, render.text, question.schema)
        if question is not None and context.session.can_send_request:
            schema, timeout_s = question.schema, server.form_s
            answer = await sdk.elicit(context, render.text, schema, timeout_s)
            result = await _finish(server, render, question, answer, caller)
    except CallError as error:
        result = error_result(error)
    return {"resultType": "complete", **result.values()}


async def _take_answer(
    server: Server, given: tuple[str, ElicitResult], name: str, caller: Caller
) -> Result | None:
    """Return the result of a repeated call; None if the form is gone or the answer is too late."""
    render_id, answer = given
    try:
        render = await server.rendering.load(render_id, caller)
    except CallError:
        return None
    is_late = time.time() - render.created > server.form_s
    if render.tool != name or render.owner != caller.principal.name or is_late:
        return None
    widget = caller.snapshot.widgets[name]
    question = _question(render, widget, caller)
    return None if question is None else await _finish(server, render, question, answer, caller)


def _question(render: StoredRender, widget: Widget, caller: Caller) -> Question | None:
    """Return the render's form as a question; None leaves it to the text and the queue."""
    if not render.has_actions or render.secret:
        return None
    sidecar = widget.definition.sidecar
    try:
        titled = caller.client.protocol >= FIRST_WITH_TITLES
        question = find_question(orjson.loads(render.tree), sidecar.sensitive, titled=titled)
    except CallError:
        return None
    if question is None:
        return None
    # A local action only changes what the page shows, and a bound one is taken by a press alone.
    note = sidecar.actions.get(question.trigger.type)
    is_own = question.trigger.type in sidecar.local or (note is not None and note.is_bound)
    return None if is_own else question


async def _finish(
    server: Server,
    render: StoredRender,
    question: Question,
    answer: ElicitResult | None,
    caller: Caller,
) -> Result:
    """Take the answer as the form's action, and return the result that says what came of it."""
    result = server.rendering.result(render, caller)
    if answer is None or answer.action != "accept":
        return _with_form(result, render, _UNANSWERED, {"status": "unanswered"})
    action = question.trigger.type
    payload = question.payload(answer.content or {})
    arguments = {
        "render_id": render.id,
        "action": action,
        "payload": payload,
        "idempotency_key": _KEY,
    }
    taken = await take_action(server, arguments, caller)
    if taken["isError"]:
        why = taken["content"][0]["text"]
        said = f"The user's answer to the form was not taken: {why}"
        return _with_form(result, render, said, {"status": "invalid", "action": action})
    said = (
        f"The user answered the form: {action} {to_json(payload).decode()}. "
        "await_widget_action has this action, too."
    )
    form = {"status": "submitted", "action": action, "payload": payload}
    return _with_form(result, render, said, form)


def _with_form(result: Result, render: StoredRender, said: str, form: Mapping[str, Any]) -> Result:
    """Return `result` with what came of the form, in its text and in its facts."""
    content = to_json([*orjson.loads(result.content), text_block(said)])
    if result.structured == render.tree:
        return replace(result, content=content)
    facts = {**orjson.loads(result.structured), "form": dict(form)}
    return replace(result, content=content, structured=to_json(facts))
