"""Answers of the toolset `sessions`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from widgetd.author.browser.keywords import KEYWORDS, Keyword, find_keyword
from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.pictures import image_block
from widgetd.author.browser.session_parts import PARTS, TRACE
from widgetd.author.browser.sessions import BrowserSessions, Session
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import ENDINGS
from widgetd.base.errors import CallError
from widgetd.core.schema.json_values import to_json
from widgetd.server.mcp.builtin.table import ToolContext
from widgetd.server.render.result import Result, error_result, structured_result, text_block


def _session(context: ToolContext[BrowserSessions], session_id: str) -> Session:
    return context.services.get(session_id, context.caller.principal.name)


async def start_session(
    context: ToolContext[BrowserSessions], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"sessionId", "widget", "generation", "screen", "expiresInS", "uris"}`.

    Raises:
        CallError: There is no such widget (W2001), render (W2007) or state (W4402), there are too
            many sessions (W4002), or the browser is missing (W3201), ends (W4003) or does not
            answer (W4004).
    """
    sessions = context.services
    show = KEYWORDS["show_widget"]
    names = ("widget", "render_id", "arguments", "state")
    chosen = {name: arguments[name] for name in names if arguments.get(name)}
    session = await sessions.start(
        context.caller,
        (show, show.parse(chosen)),
        theme=arguments["theme"],
        width=arguments["width"],
        locale=arguments["locale"],
        follow=arguments["follow"],
        trace=arguments["trace"],
    )
    screen = await sessions.read(session, "The screen", Stage.screen)
    uris = [f"{session.uri}/{part}" for part in PARTS if part != TRACE]
    return structured_result({**_summary(session, sessions), "screen": screen, "uris": uris})


def _summary(session: Session, sessions: BrowserSessions) -> dict[str, Any]:
    return {
        "sessionId": session.id,
        "widget": session.stage.subject,
        "generation": session.stage.caller.snapshot.generation,
        "expiresInS": round(sessions.left_s(session), 1),
    }


async def do_in_session(
    context: ToolContext[BrowserSessions], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"status", "steps", "failed"?, "ended"?, "screen", "events"}`.

    Each step has `{"keyword", "ms", "status", "target"?, "result"?}`: the candidate
    with an element. A failure adds a picture. `ended` says why the session is over.

    Raises:
        CallError: There is no such session (W4001) or keyword (W4101), the keyword's arguments do
            not fit (W4102), or a step fails: its target (W4201, W4202), its time (W4203), its
            expectation (W4301) or the browser (W4003, W4004).
    """
    session = _session(context, arguments["session_id"])
    steps = []
    for at, step in enumerate(arguments["steps"]):
        written = dict(step)
        try:
            keyword = find_keyword(str(written.pop("keyword", "")))
            steps.append((keyword, keyword.parse(written)))
        except CallError as error:
            raise CallError(
                error.code,
                error.message,
                path=f"steps[{at}].{error.path}".rstrip("."),
                suggestions=error.suggestions,
                invalid_arguments=error.invalid_arguments,
            ) from None
    return await _do(context, session, steps, arguments["timeout_s"])


async def _do(
    context: ToolContext[BrowserSessions],
    session: Session,
    steps: Sequence[tuple[Keyword, dict[str, Any]]],
    timeout_s: float,
    *,
    screen: bool = True,
) -> Result:
    sessions, stage, before = context.services, session.stage, session.stage.seq
    results = await sessions.do(session, steps, timeout_s, context.caller.report)
    error = ended = results[-1].error
    pictures = [result.result for result in results if isinstance(result.result, bytes)]
    view: dict[str, Any] = {}
    if error is None or error.code not in ENDINGS:
        try:
            if screen or error:
                view["screen"] = await sessions.read(session, "The screen", Stage.screen)
            if error:
                pictures.append(await sessions.read(session, "A picture", Stage.page_picture))
        except CallError as unanswered:
            ended = unanswered
            # A step has failed, too, if the page does not answer after it.
            if unanswered.code in ENDINGS:
                error = error or unanswered
    answer: dict[str, Any] = {
        "status": "failed" if error else "done",
        "steps": [
            {
                "keyword": result.keyword.name,
                "ms": result.ms,
                "status": "done" if result.error is None else "failed",
                **({"target": result.target} if result.target else {}),
                **({} if isinstance(result.result, bytes | None) else {"result": result.result}),
            }
            for result in results
        ],
    }
    if error is not None:
        answer["failed"] = {
            "index": len(results) - 1,
            "code": error.code,
            "message": error.message,
            "expected": getattr(error, "expected", None),
            "got": getattr(error, "got", None),
        }
    if ended is not None and ended.code in ENDINGS:
        answer["ended"] = {"code": ended.code, "message": ended.message}
    answer |= view
    answer["events"] = [event for event in stage.events if event["seq"] > before]
    structured = to_json(answer)
    blocks = orjson.loads(error_result(error, answer).content) if error else []
    blocks.append(text_block(structured.decode()))
    blocks += [image_block(picture) for picture in pictures]
    code = error.code if error else ""
    return Result(content=to_json(blocks), structured=structured, is_error=bool(error), code=code)


async def do_keyword(
    context: ToolContext[BrowserSessions], keyword: Keyword, arguments: Mapping[str, Any]
) -> Result:
    written = dict(arguments)
    session = _session(context, written.pop("session_id"))
    steps = [(keyword, keyword.parse(written))]
    # Reading changes nothing, so the caller has the screen already.
    return await _do(context, session, steps, LIMITS.step_s, screen=keyword.kind != "read")


async def end_session(
    context: ToolContext[BrowserSessions], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"events", "test"?, "trace"?, "traceWithheld"?}`: what happened, and its trace.

    Raises:
        CallError: There is no such session (W4001).
    """
    session = _session(context, arguments["session_id"])
    # What was typed into a secret field belongs into no file.
    test = {"test": _as_test(session)} if arguments["as_test"] and not session.stage.secret else {}
    traced = await context.services.end(session)
    trace = {"trace": f"{session.uri}/trace.zip"} if traced else {}
    if session.trace_withheld:
        trace = {"traceWithheld": session.trace_withheld}
    return structured_result({"events": session.stage.events, **test, **trace})


def _as_test(session: Session) -> str:
    lines = [f"widget: {session.stage.subject}", "tests:", "  - name: as in the session"]
    lines.append("    steps:")
    for keyword, arguments in session.steps:
        differing = {
            name: value
            for name, value in arguments.items()
            if value != keyword.schema["properties"].get(name, {}).get("default")
            and (name, value) != ("widget", session.stage.subject)
        }
        written = f": {to_json(differing).decode()}" if differing else ""
        lines.append(f"      - {keyword.name}{written}")
    return "\n".join(lines) + "\n"


async def list_sessions(
    context: ToolContext[BrowserSessions], _arguments: Mapping[str, Any]
) -> Result:
    """Return `{"items": [{"sessionId", "widget", "generation", "expiresInS"}]}` of the caller."""
    sessions = context.services
    own = sessions.owned_by(context.caller.principal.name)
    return structured_result({"items": [_summary(session, sessions) for session in own]})


async def read_part(context: ToolContext[BrowserSessions], value: str) -> str | bytes | None:
    session_id, _, part = value.partition("/")
    sessions = context.services
    if part == TRACE:
        return sessions.trace(session_id, context.caller.principal.name)
    try:
        session = _session(context, session_id)
    except CallError:
        return None
    if part == "screen":
        return await sessions.read(session, "The screen", Stage.screen)
    if part == "picture.png":
        return await sessions.read(session, "A picture", Stage.page_picture)
    entries = {"events": session.stage.events, "console": session.stage.console}.get(part)
    return None if entries is None else orjson.dumps(entries).decode()


async def read_keywords(_context: ToolContext[BrowserSessions], _value: str) -> str:
    rows = [
        {
            "name": word.name,
            "kind": word.kind,
            "says": word.summary,
            "schema": word.schema,
        }
        for word in KEYWORDS.values()
        if word.is_tool
    ]
    return orjson.dumps(rows).decode()
