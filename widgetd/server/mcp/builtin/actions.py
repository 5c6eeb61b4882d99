"""Tools for user actions, from the page of a widget to the awaiting agent.

    widget_action -> the render's tree -> store.actions -> await_widget_action

The first tool is for the page. Hosts hide it from the model. This protects nothing: every call is
checked as if the model had made it.

Source: MCP Apps 2026-01-26, "Tool visibility".
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from hmac import compare_digest
from typing import Any

import orjson

from widgetd.base.errors import CallError
from widgetd.base.text_search import nearest
from widgetd.core.schema.phrase import join_alternatives
from widgetd.core.widget.action_checks import Checks, find_messages
from widgetd.core.widget.actions import TreeAction, find_tree_actions
from widgetd.core.widget.actions.tree_actions import to_object
from widgetd.core.widget.actions.user_input import password_paths
from widgetd.core.widget.widget import Widget
from widgetd.server.access.principal import CALL
from widgetd.server.mcp.builtin.consent import ALLOW, DENY, settle
from widgetd.server.mcp.builtin.table import BuiltinTool, ToolContext, argument, closed_object
from widgetd.server.mcp.limits import LIMITS
from widgetd.server.render.acting import ActionRunner, Press, press_digest, repeat_answer
from widgetd.server.render.action_callers import DryRun
from widgetd.server.render.calls import RENDER_PREFIX, no_render
from widgetd.server.render.result import Result, error_result, structured_result
from widgetd.server.store.contract import Awaited, Origin, StoredRender
from widgetd.server.store.factory import Store

PRESS = argument("string", "The `press` of the render's metadata.", maxLength=100)
RENDER_ID = argument("string", "The id at the end of the widget's result.")
SHOWN_ID = argument("string", "The id of the render that is shown.")


async def widget_action(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return `{"status": "accepted", "next", "repeated"?}`, or the payload's `validationErrors`.

    `repeated` marks an action already accepted under the same key, so a page that was mounted again
    does not tell the model again. An action of an upstream's tool is answered by `{"status":
    "confirm", "text", "token"}`, and then, with the present render, by `{"status": "done" |
    "failed" | "unsure", "note", "line", "repeated"?}`.

    A local action changes nothing here: its answer is the widget in the page's next state.

    Raises:
        CallError: There is no such render (W2007), it offers no such action (W2401), the payload
            does not fit (W2404) or is too large (W2403), the widget has no such state (W2002), too
            many actions are unread (W2402), or the process is shutting down (W2405). A bound action
            also raises W5012 outside its page, or see `ActionRunner.press`. A card of a call raises
            W3104 unless a person answers it.
    """
    render_id, state = arguments["render_id"], arguments["state"]
    if (earlier := await _find_earlier(context, arguments)) is not None:
        return earlier
    render = await context.rendering.load(render_id, context.caller)
    dry_run = context.actions if isinstance(context.actions, DryRun) else None
    if dry_run is not None:
        render = dry_run.newest(render)
    widget = context.caller.snapshot.widgets.get(render.tool)
    if widget is not None and (name := arguments["action"]) in widget.definition.sidecar.local:
        drawn = await context.rendering.compute_state(
            render, widget, state, name, arguments["payload"]
        )
        return context.rendering.result(drawn, context.caller, is_for_page=True)
    if widget is not None and state:
        # In another state the widget may offer other actions.
        render = await context.rendering.compute_state(render, widget, state)
    tree = orjson.loads(render.tree)
    offered = _find_offered_action(find_tree_actions(tree), arguments["action"])
    payload = _accept_payload(widget, offered, arguments["payload"], render)
    if isinstance(payload, Result):
        return payload
    if offered.type in (ALLOW, DENY) and not render.tool:
        _demand_press(context, render, arguments, "W3104")
        answer = await settle(context, render, offered.type, str(arguments["payload"].get("token")))
        newest = await context.rendering.load(render.id, context.caller)
        return _shown_result(context, answer, newest)
    bound = None if widget is None else widget.bound_actions.get(offered.type)
    if widget is not None and bound is not None:
        if dry_run is None:
            _demand_press(context, render, arguments, "W5012")
        press = Press(
            render=render,
            widget=widget,
            generation=context.caller.snapshot.generation,
            action=bound,
            payload=payload,
            hidden=tuple(password_paths(tree)),
            key=arguments.get("idempotency_key", ""),
            version=arguments.get("version", render.version),
            token=arguments.get("token", ""),
            principal=context.caller.principal.name,
        )
        return await _press(context, press)
    version = arguments.get("version", render.version)
    key = arguments.get("idempotency_key") or press_digest(
        render_id, version, offered.type, payload
    )
    store = context.store
    origin = Origin(owner=render.owner, elevated=render.elevated, labels=render.labels)
    seq = await store.actions.append(
        render_id, offered.type, payload, idempotency_key=key, origin=origin
    )
    answer = {"status": "accepted", "next": seq}
    owner = context.caller.principal.name
    standing = await store.idempotency.remember(_answer_key(render_id, key), answer, owner=owner)
    await _record_action(store, render, offered.type, key, owner=owner)
    return structured_result(dict(standing))


async def _press(context: ToolContext[None], press: Press) -> Result:
    try:
        return _shown_result(context, *await _action_runner(context).press(press))
    except CallError as error:
        if error.code != "W2406":
            raise
        newest = await context.rendering.load(press.render.id, context.caller)
        current, refused = _shown_result(context, {}, newest), error_result(error)
        return replace(refused, meta=b"{%b,%b}" % (refused.meta[1:-1], current.meta[1:-1]))


async def _find_earlier(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result | None:
    render_id, key = arguments["render_id"], arguments.get("idempotency_key", "")
    if not key:
        return None
    answer = await context.store.idempotency.recall(_answer_key(render_id, key))
    if answer is not None and not await context.rendering.hides_render(render_id, context.caller):
        return structured_result({**answer, "repeated": True})
    # A retry may find a version without the action.
    runner = _action_runner(context)
    if (earlier := await runner.find_earlier(render_id, key)) is None:
        return None
    render = await context.rendering.load(render_id, context.caller)
    if not is_from_page(context, render, arguments):
        return None
    return _shown_result(context, repeat_answer(arguments["action"], earlier, render), render)


def _accept_payload(
    widget: Widget | None,
    offered: TreeAction,
    sent: Mapping[str, Any],
    render: StoredRender,
) -> dict[str, Any] | Result:
    sensitive = () if widget is None else widget.definition.sidecar.sensitive
    checks: Checks = {} if widget is None else widget.checks
    arguments = orjson.loads(render.arguments or b"{}") if offered.type in checks else {}
    try:
        payload = offered.accept(sent, sensitive)
    except CallError as error:
        # Beside a field, people read the author's words, or else a request in ours.
        texts = {
            field.name: field.request
            for trigger in offered.triggers
            for field in trigger.sent_fields
        }
        messages = find_messages(checks, offered.type, sent, arguments, only_unmet=False)
        texts |= {field: says for field, says in messages if says and field in texts}
        problems = (
            (wrong.path, texts.get(wrong.path) or f"expected {wrong.expected}, got {wrong.got}")
            for wrong in error.invalid_arguments
        )
        return error_result(error, _invalid(problems))
    failed = find_messages(checks, offered.type, payload, arguments)
    if not failed:
        return payload
    fields = {field for field, _ in failed}
    place = f"payload.{failed[0][0]}".rstrip(".") if len(fields) == 1 else "payload"
    refused = CallError("W2404", " ".join(says for _, says in failed), path=place)
    return error_result(refused, _invalid(failed))


def _action_runner(context: ToolContext[None]) -> ActionRunner:
    return ActionRunner(
        store=context.store,
        rendering=context.rendering,
        caller=context.actions,
        observers=context.observers,
    )


def _answer_key(render_id: str, key: str) -> str:
    return f"widget_action {render_id} {key}"


_BY_PEOPLE_ONLY = {
    "W3104": "a call is allowed by a person only, on the card that asks for it",
    "W5012": "this action calls another server, so only a person can take it, in the page that "
    "shows the widget",
}


def _demand_press(
    context: ToolContext[None], render: StoredRender, arguments: Mapping[str, Any], code: str
) -> None:
    if render.press == "" or not is_from_page(context, render, arguments):
        raise CallError(code, _BY_PEOPLE_ONLY[code])


def is_from_page(
    context: ToolContext[None], render: StoredRender, arguments: Mapping[str, Any]
) -> bool:
    """Return whether the render's owner calls, with the secret of its page if it has one."""
    is_owner = render.owner == context.caller.principal.name
    press = str(arguments.get("press", ""))
    return is_owner and compare_digest(render.press.encode(), press.encode())


def _shown_result(
    context: ToolContext[None], answer: dict[str, Any], render: StoredRender | None
) -> Result:
    answered = structured_result(answer)
    if render is None:
        return answered
    drawn = context.rendering.result(render, context.caller, is_for_page=True, profile="split")
    return replace(drawn, content=answered.content, structured=answered.structured)


def _record_keys(render_id: str, version: int) -> Iterator[str]:
    return (f"acted {render_id} {version} {number}" for number in range(LIMITS.recorded_actions))


async def _record_action(
    store: Store, render: StoredRender, action: str, key: str, *, owner: str
) -> None:
    record = {"action": action, "key": key}
    for place in _record_keys(render.id, render.version):
        if await store.idempotency.remember(place, record, owner=owner) == record:
            return


async def find_last_action(store: Store, render_id: str, version: int) -> str:
    last = ""
    for place in _record_keys(render_id, version):
        record = await store.idempotency.recall(place)
        if record is None:
            break
        last = str(record["action"])
    return last


def _invalid(problems: Iterable[tuple[str, str]]) -> dict[str, Any]:
    errors: dict[str, list[str]] = {}
    for field, problem in problems:
        errors.setdefault(field, []).append(problem)
    return {"status": "invalid", "validationErrors": errors}


def _with_object(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    if "payload" not in arguments:
        return arguments
    return {**arguments, "payload": to_object(arguments["payload"])}


def _find_offered_action(offers: Mapping[str, TreeAction], action: str) -> TreeAction:
    if action in offers:
        return offers[action]
    near = nearest(action, tuple(offers))
    if near:
        hint = f"did you mean '{near}'?"
    elif offers:
        named = [f"'{name}'" for name in list(offers)[: LIMITS.named_actions]]
        hint = f"it offers {join_alternatives(named)}"
    else:
        hint = "it offers none at all"
    raise CallError(
        "W2401",
        f"the render offers no action '{action}'; {hint}",
        path="action",
        suggestions=(near,) if near else tuple(offers)[: LIMITS.named_actions],
    )


async def await_widget_action(context: ToolContext[None], arguments: Mapping[str, Any]) -> Result:
    """Return `{"actions": [{"seq", "action", "payload", "at"}], "next", "status"}`.

    Raises:
        CallError: The id is not a render's (W2007).
    """
    render_id, after = arguments["render_id"], arguments["after"]
    # A made-up id did not expire.
    if not render_id.startswith(RENDER_PREFIX):
        raise no_render(render_id)
    if await context.rendering.hides_actions(render_id, context.caller):
        awaited = Awaited(status="expired", next=after)
    else:
        awaited = await context.store.actions.read(
            render_id, after=after, timeout_s=arguments["timeout_s"]
        )
    actions = [
        {
            "seq": action.seq,
            "action": action.action,
            "payload": action.payload,
            "at": action.at,
            **({"outcome": action.outcome} if action.outcome else {}),
        }
        for action in awaited.actions
    ]
    return structured_result({"actions": actions, "next": awaited.next, "status": awaited.status})


TOOLS = (
    BuiltinTool(
        name="widget_action",
        description="Take an action in a widget that is shown, because the user did.",
        input_schema=closed_object(
            {
                "render_id": SHOWN_ID,
                "action": argument("string", "The action's type, as the widget has it."),
                "payload": argument(
                    "object", "The action's payload, with the fields of its form.", default={}
                ),
                "state": argument("object", "The page's local state.", default={}),
                "idempotency_key": argument(
                    "string",
                    "New for each thing that the user does, the same when trying again. Without "
                    "it, the same action of the same version is the same thing.",
                    minLength=1,
                    maxLength=200,
                ),
                "version": argument("integer", "The version that is shown.", minimum=1),
                "press": PRESS,
                "token": argument(
                    "string", "The token of the question that the user agreed to.", maxLength=100
                ),
            },
            required=("render_id", "action"),
        ),
        handler=widget_action,
        reads=_with_object,
        scope=CALL,
        read_only=False,
        app_only=True,
    ),
    # Read-only although it discards: the same request gets the same answer again.
    BuiltinTool(
        name="await_widget_action",
        description="Wait for what the user does in a widget with buttons or fields. "
        "Ask again with `next` as `after`, which discards the actions that you received.",
        input_schema=closed_object(
            {
                "render_id": RENDER_ID,
                "after": argument(
                    "integer",
                    "The last answer's `next`, once its actions are dealt with.",
                    minimum=0,
                    default=0,
                ),
                "timeout_s": argument(
                    "number",
                    "How long to wait.",
                    minimum=0,
                    maximum=LIMITS.wait_s,
                    default=20,
                ),
            },
            required=("render_id",),
        ),
        handler=await_widget_action,
        scope=CALL,
        waits=True,
    ),
)
