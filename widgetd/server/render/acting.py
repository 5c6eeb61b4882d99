"""Runs actions of upstreams' tools: at most once, however often they are pressed.

    press -> operation -> confirmation -> claim -> (upstream) -> next version -> queue -> outcome

An operation is the effect of a press, under whichever key, view or replica the press arrives. The
claim on it is stored before the upstream is called and never released. If the process ends before
the outcome is stored, the operation may have been done, and is not done again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any, Literal

import anyio
import orjson

from widgetd.base.errors import CallError
from widgetd.core.schema.json_text import parse_json
from widgetd.core.schema.json_values import to_json
from widgetd.core.widget.bound_action import BoundAction
from widgetd.core.widget.summary import shorten_at_word
from widgetd.core.widget.widget import Widget
from widgetd.server.observe.observer import ActionRecord, Observer
from widgetd.server.render.action_callers import ActionAnswer, ActionCaller, DryRun, not_allowed
from widgetd.server.render.calls import Renderer
from widgetd.server.render.limits import LIMITS
from widgetd.server.render.questions import to_text, write_question
from widgetd.server.store import confirmations
from widgetd.server.store.contract import Origin, StoredRender, call_again
from widgetd.server.store.factory import Store

Status = Literal["done", "failed", "unsure"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Press:
    """A person's press, with an accepted payload.

    Attributes:
        render: The newest version of the render.
        widget: Its widget, as served now.
        generation: The generation of the present snapshot.
        hidden: Dotted paths of passwords in the payload.
        key: The client's idempotency key. Empty without one.
        version: The version shown to the person.
        token: The token of a confirmation. Empty without one.
    """

    render: StoredRender
    widget: Widget
    generation: str
    action: BoundAction
    payload: Mapping[str, Any]
    hidden: Sequence[str]
    key: str
    version: int
    token: str
    principal: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionOutcome:
    """The outcome of an operation.

    Attributes:
        note: A sentence for the user.
        code: The code of the error. Empty if it was done.
    """

    status: Status
    note: str
    code: str = ""


Answered = tuple[dict[str, Any], StoredRender | None]
"""The structured answer, and the render to show then. None keeps the shown render."""


def press_digest(render_id: str, version: int, action: str, payload: object) -> str:
    parts = [render_id, version, action, payload]
    text = orjson.dumps(parts, option=orjson.OPT_SORT_KEYS, default=dict)
    return blake2b(text, digest_size=16).hexdigest()


@dataclass(frozen=True, kw_only=True)
class ActionRunner:
    """Runs presses of bound actions."""

    store: Store
    rendering: Renderer
    caller: ActionCaller
    observers: Sequence[Observer] = ()

    async def press(self, press: Press) -> Answered:
        """Run a press: ask for confirmation, do it, or report its earlier outcome.

        Raises:
            CallError: The operator does not allow it (W5011), an expression cannot be evaluated
                (W5007), it would send something else than the shown version (W2406), the token is
                for something else (W5015), the shared store is away (W5017), or this process ends
                (W2405).
        """
        if isinstance(self.caller, DryRun):
            return await self._dry_run(press, self.caller)
        operation = await self._identify(press)
        if (outcome := await self.find_outcome(operation)) is not None:
            return await self._repeat(press, outcome)
        answers = self.store.idempotency
        claim = await answers.recall(_claim_key(operation))
        if claim is None:
            note = press.action.note
            clock = self.rendering.system.clock
            terms = self.caller.find_terms(note.upstream, note.tool)
            if terms is None:
                raise not_allowed(note.upstream, note.tool)
            request = _build_request(press)
            if terms.confirm and not press.token:
                return await self._ask(press, operation, request, terms.title), None
            if terms.confirm:
                await self._check_token(press, operation, request)
            until = clock.wall_s() + terms.patience_s + LIMITS.outcome_margin_s
            mine: Mapping[str, Any] = {"until": until}
            if await answers.claim(_claim_key(operation), mine, owner=press.render.owner):
                # The client may be gone before the upstream has answered.
                with anyio.CancelScope(shield=True):
                    return await self._execute(press, operation, request)
            claim = await answers.recall(_claim_key(operation)) or mine
        return await self._repeat(
            press, await self._await_outcome(press, operation, float(claim["until"]))
        )

    async def _repeat(self, press: Press, outcome: ActionOutcome) -> Answered:
        render = await self.store.renders.get(press.render.id)
        return repeat_answer(press.action.type, outcome, render), render

    async def find_earlier(self, render_id: str, key: str) -> ActionOutcome | None:
        record = await self.store.idempotency.recall(_key_of(render_id, key))
        return None if record is None else await self.find_outcome(str(record[_STORED]))

    async def find_outcome(self, operation: str) -> ActionOutcome | None:
        stored = await self.store.idempotency.recall(_outcome_key(operation))
        return None if stored is None else ActionOutcome(**stored)

    async def _identify(self, press: Press) -> str:
        render_id, key = press.render.id, press.key
        same = press_digest(render_id, press.version, press.action.type, press.payload)
        if not key:
            return same
        own = press_digest(render_id, 0, key, None) if press.action.note.repeat else same
        # A retry arrives when the render has a newer version, so the key comes first. All replicas
        # must agree on it, or two of them would take the same press for two operations.
        record = await self.store.idempotency.agree(
            _key_of(render_id, key), {_STORED: own}, owner=press.render.owner
        )
        return str(record[_STORED])

    async def _ask(
        self, press: Press, operation: str, request: Mapping[str, Any], title: str
    ) -> dict[str, Any]:
        # As text, for integers of any length.
        call = {_STORED: operation, "request": to_json(request).decode()}
        token = await confirmations.ask(self.store.idempotency, call, owner=press.principal)
        return {"status": "confirm", "text": _question(press, title), "token": token}

    async def _check_token(self, press: Press, operation: str, request: Mapping[str, Any]) -> None:
        """Check the person's consent to this very request."""
        # CallError: they agreed to another press (W5015) or to another request (W2406).
        answers = self.store.idempotency
        agreed = await confirmations.take(answers, press.token, owner=press.principal)
        if agreed is None or agreed.get(_STORED) != operation:
            if await answers.recall(_claim_key(operation)) is not None:
                return  # the token was used by this very press, sent twice
            problem = "the confirmation is for something else, was used, or has expired"
            raise CallError("W5015", f"{problem}; press again", recoverable=True)
        if parse_json(str(agreed.get("request", "null"))) != request:
            raise _change_error("it would send something else than the question showed")

    async def _execute(self, press: Press, operation: str, request: Mapping[str, Any]) -> Answered:
        clock = self.rendering.system.clock
        started_s, note, value = clock.steady_s(), press.action.note, None
        try:
            answer = await self.caller.call_action(
                note.upstream, note.tool, request, key=operation, principal=press.principal
            )
        except CallError as error:
            outcome = _describe_failure(error, note.upstream)
        else:
            outcome, value = _outcome_of(answer), answer.value
        render, outcome = await self._commit(press, operation, outcome, value)
        pressed = press.render
        origin = Origin(owner=pressed.owner, elevated=pressed.elevated, labels=pressed.labels)
        with suppress(CallError):  # a full queue must not hide the outcome from the user
            await self.store.actions.append(
                pressed.id,
                press.action.type,
                press.payload,
                idempotency_key=operation,
                origin=origin,
                outcome=outcome.status,
            )
        record = ActionRecord(
            widget=press.widget.tool,
            action=press.action.type,
            upstream=note.upstream,
            tool=note.tool,
            outcome=outcome.status,
            code=outcome.code,
            seconds=clock.steady_s() - started_s,
            principal=press.principal,
        )
        for observer in self.observers:
            observer.on_action(record)
        return _to_answer(press.action.type, outcome, render), render

    async def _commit(
        self, press: Press, operation: str, outcome: ActionOutcome, value: Any
    ) -> tuple[StoredRender | None, ActionOutcome]:
        """Store the outcome, then the next version of the render unless it is gone. Return both."""
        renders, is_stored = self.store.renders, False
        for _ in range(LIMITS.replace_tries):
            newest = await renders.get(press.render.id)
            standing = press.render if newest is None else newest
            change, outcome = await self._draw(press, standing, outcome, value)
            if not is_stored:
                kept = {"status": outcome.status, "note": outcome.note, "code": outcome.code}
                owner = press.render.owner
                await self.store.idempotency.remember(_outcome_key(operation), kept, owner=owner)
                is_stored = True
            if newest is None:
                break
            try:
                return await renders.replace(newest.id, change, after=newest.version), outcome
            except CallError as error:  # W2406: another was faster. W2201: there are too many
                await anyio.sleep(error.retry_after_s or 0)
        return None, outcome

    async def _draw(
        self, press: Press, newest: StoredRender, outcome: ActionOutcome, value: Any
    ) -> tuple[Callable[[StoredRender], StoredRender], ActionOutcome]:
        drawn = None
        if outcome.status == "done":
            try:
                arguments = press.action.merge(_arguments(newest), value)
                drawn = await self.rendering.compute(
                    press.widget, arguments, press.generation, owner=newest.owner, is_filled=True
                )
            except CallError:
                note = "It was done, but this widget cannot show what came of it."
                outcome = ActionOutcome(status="done", note=note, code="W5014")
        state: Literal["done", "failed"] = "done" if outcome.status == "done" else "failed"

        def change(standing: StoredRender) -> StoredRender:
            if drawn is not None:
                # It stays live: for following pages, its feed is asked with the same arguments.
                standing = replace(drawn, feed=standing.feed, request=standing.request)
            return replace(standing, follow=True, state=state, note=outcome.note)

        return change, outcome

    async def _await_outcome(self, press: Press, operation: str, until: float) -> ActionOutcome:
        renders, version = self.store.renders, press.render.version
        while (outcome := await self.find_outcome(operation)) is None:
            left_s = until - self.rendering.system.clock.wall_s()
            if left_s <= 0:
                outcome = _describe_failure(CallError("W5013", ""), press.action.note.upstream)
                await self._commit(press, operation, outcome, None)
                continue
            # Every outcome is a new version, and the store announces it.
            wait_s = min(left_s, LIMITS.outcome_poll_s)
            newer = await renders.wait_for_newer(press.render.id, after=version, timeout_s=wait_s)
            if isinstance(newer, StoredRender):
                version = newer.version
            elif newer == "draining":
                problem = "this process ends; try again with the same idempotency_key"
                raise CallError("W2405", problem, recoverable=True)
            elif newer == "expired":
                await anyio.sleep(wait_s)
        return outcome

    async def _dry_run(self, press: Press, dry: DryRun) -> Answered:
        note, render = press.action.note, press.render
        press.action.request(_arguments(render), press.payload, press.hidden)
        terms = dry.find_terms(note.upstream, note.tool)
        if terms.confirm and not press.token:
            question = _question(press, terms.title)
            return {"status": "confirm", "text": question, "token": "dry"}, None
        answer = dry.answer(note.upstream, note.tool)
        outcome = _outcome_of(answer)
        change, outcome = await self._draw(press, render, outcome, answer.value)
        result = replace(
            change(render), id=render.id, version=render.version + 1, press=render.press
        )
        dry.remember(result)
        return _to_answer(press.action.type, outcome, result), result


def repeat_answer(
    action: str, outcome: ActionOutcome, render: StoredRender | None
) -> dict[str, Any]:
    return {**_to_answer(action, outcome, render), "repeated": True}


def _build_request(press: Press) -> dict[str, Any]:
    """Return the request of a press, after checking that the person saw the same request.

    Raises:
        CallError: The shown version sends something else (W2406), or an expression cannot be
            evaluated (W5007).
    """
    action, render = press.action, press.render
    newest = _arguments(render)
    request = action.request(newest, press.payload, press.hidden)
    mapped = render.mapped_at(press.version)
    if mapped is None:
        raise _change_error("it was changed many times since")
    # Most versions send the same.
    if mapped != render.mapped_at(render.version):
        displayed = dict(parse_json(mapped))
        if action.request(displayed, press.payload, press.hidden) != request:
            raise _change_error(_describe_change(press, displayed, newest))
        texts = [
            action.question(arguments, press.payload, press.hidden)
            for arguments in (displayed, newest)
        ]
        if texts[0] != texts[1]:
            raise _change_error(f"the question is now: {texts[1]}")
    return request


def _describe_change(press: Press, displayed: Mapping[str, Any], newest: Mapping[str, Any]) -> str:
    before, after = (
        press.action.request(arguments, press.payload, press.hidden, is_shown=True)
        for arguments in (displayed, newest)
    )
    changes = [
        f"{name} is {to_text(after.get(name))} instead of {to_text(before.get(name))}"
        for name in {**before, **after}
        if before.get(name) != after.get(name)
    ]
    return ", ".join(changes) or "what it sends is different"


def _change_error(problem: str) -> CallError:
    hint = "look at it as it is now, and press again"
    problem = shorten_at_word(f"this widget has changed: {problem}", LIMITS.line_chars)
    return call_again("W2406", problem, hint)


def _question(press: Press, title: str) -> str:
    action, arguments = press.action, _arguments(press.render)
    question = action.question(arguments, press.payload, press.hidden) or f"{title}?"
    request = action.request(arguments, press.payload, press.hidden, is_shown=True)
    return write_question(question, request)


def _to_answer(action: str, outcome: ActionOutcome, render: StoredRender | None) -> dict[str, Any]:
    words = {"done": "was done", "failed": "failed", "unsure": "may have been done"}
    line = f"The user's action {action} {words[outcome.status]}."
    if outcome.status != "done":
        line = f"{line} {outcome.note}"
    elif render is not None:
        line = f"{line} {render.text}"
    line = shorten_at_word(line, LIMITS.line_chars)
    return {"status": outcome.status, "note": outcome.note, "line": line}


def _outcome_of(answer: ActionAnswer) -> ActionOutcome:
    if answer.is_done:
        return ActionOutcome(status="done", note=answer.words or "Done.")
    return ActionOutcome(
        status="failed", note=answer.words or "It could not be done.", code="W5010"
    )


def _describe_failure(error: CallError, upstream: str) -> ActionOutcome:
    if error.code == "W5013":
        note = (
            f"This may have been done: {upstream} did not answer. Look there before you try again."
        )
        return ActionOutcome(status="unsure", note=note, code=error.code)
    note = f"Nothing was done: {upstream} cannot be reached. Try again later."
    if not error.recoverable:
        note = f"Nothing was done: {upstream} does not take this."
    return ActionOutcome(status="failed", note=note, code=error.code)


def _arguments(render: StoredRender) -> dict[str, Any]:
    return dict(parse_json(render.arguments or b"{}"))


def _key_of(render_id: str, key: str) -> str:
    return f"press {render_id} {key}"


# The stored name of earlier releases. Replicas of both must agree on a press.
_STORED = "deed"


def _claim_key(operation: str) -> str:
    return f"claim {operation}"


def _outcome_key(operation: str) -> str:
    return f"outcome {operation}"
