"""Questions to the user of a client by elicitation: whether to do a call, and a widget's form.

A client without a view asks its user what the form asks:

    call -> render -> question -> client -> `widget_action`, as a press in the widget's page
                                         -> the result, with what came of it

A modern client repeats the call with the answer; the question's key is the render's id, so any
replica can take it. A legacy client is asked during the call. An action that a tool of an upstream
does is asked only where the operator allows it (`elicit`), and then confirmed in a second question.

Source: MCP specification 2026-07-28, basic/utilities/mrtr; 2025-06-18, client/elicitation.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import anyio
import orjson
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolRequestParams, ElicitResult
from pydantic import ValidationError

from widgetd.base.errors import CallError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.actions.question import Question, find_question
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import Caller
from widgetd.server.mcp import sdk
from widgetd.server.mcp.builtin.consent import ask_by_card, shows_cards
from widgetd.server.mcp.http_calls import take_action
from widgetd.server.mcp.server import Server
from widgetd.server.render.questions import write_question
from widgetd.server.render.result import Result, error_result, text_block
from widgetd.server.store.contract import StoredRender

CONFIRMED = "confirmed"
"""Key of the question before a call or a press: whether to do it."""

CONSENT = {
    "type": "object",
    "properties": {CONFIRMED: {"type": "boolean", "title": "Yes", "default": False}},
    "required": [CONFIRMED],
}
"""The schema of that question."""

_KEY = "elicitation"
"""Idempotency key of an answer: a form is answered once, however often the client repeats it."""

FIRST_WITH_TITLES = "2025-11-25"
"""The first protocol version whose questions have choices with titles as JSON Schema has them."""

Ask = Callable[[str, Mapping[str, Any]], Awaitable[ElicitResult | None]]
"""Asks the user of a legacy client during a call: a message, and the schema of the answer."""

_UNCONFIRMED = "The user did not confirm the action here, so nothing was done."

_UNANSWERED = (
    "The form was not answered here; the client may have declined it without showing it. "
    "await_widget_action waits for what the user does."
)


async def ask_consent(
    server: Server, params: CallToolRequestParams, caller: Caller
) -> Result | dict[str, Any] | None:
    """Have the user asked before a tool changes something; None if nothing is left to ask."""
    tool, arguments = server.builtin.get(params.name), params.arguments or {}
    if tool is None or tool.asks is None or caller.denied is not None:
        return None
    context = server.context(caller)
    question = tool.asks(context, arguments)
    if question is None:
        return None
    try:
        if not caller.client.asks:
            cards = shows_cards(caller)
            return await ask_by_card(context, tool, arguments, question) if cards else None
        message = write_question(question.text, question.select(arguments))
    except CallError as error:
        return error_result(error)
    answer = (params.input_responses or {}).get(CONFIRMED)
    if not isinstance(answer, ElicitResult):
        return _require_input(CONFIRMED, message, CONSENT)
    # A client may decline by itself, without having asked its user.
    refusal = CallError("W3006", "this was not confirmed, so nothing was done")
    return None if _is_confirmed(answer) else error_result(refusal)


async def answer_with_form(
    server: Server, context: sdk.Context, params: CallToolRequestParams, caller: Caller
) -> Result | dict[str, Any] | None:
    """Answer a widget's call, and have the client ask its form; None for calls of other tools."""
    if caller.denied is not None:
        return None
    name, arguments = params.name, params.arguments or {}
    try:
        if name == "render_widget":
            checked = server.builtin.check(name, arguments, server.context(caller))
            name, arguments = checked["name"], checked.get("arguments", {})
        widget = caller.snapshot.widgets.get(name)
        if widget is None:
            return None
        if taken := await _take_answer(server, params, widget, caller):
            return taken
        render = await server.rendering.draw(widget, arguments, caller)
        form = _RenderForm(server=server, caller=caller, render=render)
        question = form.find_question(widget)
        if question is not None and caller.client.asks:
            return _require_input(render.id, render.text, question.schema)
        if question is not None and context.session.can_send_request:
            ask = partial(_ask_in_call, context, server.options.form_s)
            answer = await ask(render.text, question.schema)
            return await replace(form, ask=ask).finish(question, answer)
        return server.rendering.result(render, caller)
    except CallError as error:
        return error_result(error)


async def _take_answer(
    server: Server, params: CallToolRequestParams, widget: Widget, caller: Caller
) -> Result | dict[str, Any] | None:
    """Return the answer to a call that is repeated with an answer.

    None: it is not repeated, the form is gone, or the answer is too late.
    """
    responses = (params.input_responses or {}).items()
    answers = ((key, one) for key, one in responses if isinstance(one, ElicitResult))
    key, answer = next(answers, ("", None))
    if answer is None:
        return None
    press = await server.store.idempotency.recall(_press_key(key))
    try:
        render = await server.rendering.load(press["render_id"] if press else key, caller)
    except CallError:
        return None
    is_late = SYSTEM.clock.wall_s() - render.created > server.options.form_s
    if render.tool != widget.tool or render.owner != caller.principal.name or is_late:
        return None
    form = _RenderForm(server=server, caller=caller, render=render)
    if press is not None:
        return await form.confirm(press, answer)
    question = form.find_question(widget)
    return None if question is None else await form.finish(question, answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class _RenderForm:
    """The form of a render; `ask` asks a legacy client's user."""

    server: Server
    caller: Caller
    render: StoredRender
    ask: Ask | None = None

    def find_question(self, widget: Widget) -> Question | None:
        render, sidecar = self.render, widget.definition.sidecar
        if not render.has_actions or render.secret:
            return None
        try:
            question = find_question(
                orjson.loads(render.tree),
                sidecar.sensitive,
                schema=widget.schema.document.root,
                titled=self.caller.client.protocol >= FIRST_WITH_TITLES,
            )
        except CallError:
            return None
        # A local action only changes what the page shows.
        if question is None or question.trigger.type in sidecar.local:
            return None
        note = sidecar.actions.get(question.trigger.type)
        if note is not None and note.is_bound:
            # A client may answer by itself, so a form presses only where the operator trusts it to.
            terms = self.server.actions.find_terms(note.upstream, note.tool)
            return question if terms is not None and terms.elicit else None
        return question

    async def finish(
        self, question: Question, answer: ElicitResult | None
    ) -> Result | dict[str, Any]:
        """Take the answer as the form's action, and return the result that says what came of it."""
        if answer is None or answer.action != "accept":
            return self.complete(_UNANSWERED, {"status": "unanswered"})
        arguments = {
            "render_id": self.render.id,
            "action": question.trigger.type,
            "payload": question.payload(answer.content or {}),
            "idempotency_key": _KEY,
            "version": 1,  # a form is asked of a render that was just made
            **({"press": self.render.press} if self.render.press else {}),
        }
        return await self.take(arguments)

    async def confirm(
        self, press: Mapping[str, Any], answer: ElicitResult | None
    ) -> Result | dict[str, Any]:
        """Take a press of a bound action if the user agreed to it."""
        if _is_confirmed(answer):
            return await replace(self, ask=None).take(press)
        return self.complete(_UNCONFIRMED, {"status": "unconfirmed", "action": press["action"]})

    async def take(self, arguments: Mapping[str, Any]) -> Result | dict[str, Any]:
        """Take the action, and return the result that says what came of it, or asks to confirm."""
        taken = await take_action(self.server, arguments, self.caller)
        action, payload = arguments["action"], arguments["payload"]
        if taken["isError"]:
            why = taken["content"][0]["text"]
            sentence = f"The user's answer to the form was not taken: {why}"
            return self.complete(sentence, {"status": "invalid", "action": action})
        found = taken["structuredContent"]
        if found["status"] == "accepted":
            sentence = (
                f"The user answered the form: {action} {to_json(payload).decode()}. "
                "await_widget_action has this action, too."
            )
            return self.complete(
                sentence, {"status": "submitted", "action": action, "payload": payload}
            )
        if found["status"] == "confirm":
            press = {**arguments, "token": found["token"]}
            if self.ask is not None:
                return await self.confirm(press, await self.ask(found["text"], CONSENT))
            # Remembered here, for the client repeats only the answer to the latest question.
            key, owner = _press_key(found["token"]), self.caller.principal.name
            await self.server.store.idempotency.remember(key, press, owner=owner)
            return _require_input(found["token"], found["text"], CONSENT)
        form = self
        with suppress(CallError):
            newest = await self.server.rendering.load(self.render.id, self.caller)
            form = replace(self, render=newest)
        return form.complete(found["line"], {"status": found["status"], "action": action})

    def complete(self, sentence: str, outcome: Mapping[str, Any]) -> Result:
        """Return the result with what came of the form, in its text and in its facts."""
        result = self.server.rendering.result(self.render, self.caller)
        content = to_json([*orjson.loads(result.content), text_block(sentence)])
        if result.structured != self.render.tree:
            facts = {**orjson.loads(result.structured), "form": dict(outcome)}
            result = replace(result, structured=to_json(facts))
        return replace(result, content=content)


def _is_confirmed(answer: ElicitResult | None) -> bool:
    if answer is None or answer.action != "accept":
        return False
    return (answer.content or {}).get(CONFIRMED) is True


def _require_input(key: str, message: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer that makes a modern client ask its user a form, and repeat the call.

    The client repeats `key` with the answer. A `requestState` would be sealed by the SDK with a key
    of this process, which no other replica has.
    """
    params = {"mode": "form", "message": message, "requestedSchema": schema}
    request = {"method": "elicitation/create", "params": params}
    return {"resultType": "input_required", "inputRequests": {key: request}}


async def _ask_in_call(
    context: sdk.Context, timeout_s: float, message: str, schema: Mapping[str, Any]
) -> ElicitResult | None:
    with anyio.move_on_after(timeout_s):
        try:
            return await context.session.elicit_form(message, dict(schema), context.request_id)
        except (MCPError, ValidationError):
            return None
    return None


def _press_key(token: str) -> str:
    return f"form {token}"
