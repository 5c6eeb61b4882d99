"""The toolset `sessions`: agents show a widget, act in it, and read the outcome.

Every start reads these rows for their names. What answers them is imported with the first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.pictures import LOCALE, THEME, WIDTH
from widgetd.author.browser.session_parts import PARTS
from widgetd.base.errors import CallError, ConfigError
from widgetd.core.schema.json_values import to_json
from widgetd.server.access.principal import AUTHOR
from widgetd.server.mcp.builtin.table import (
    BuiltinResource,
    BuiltinTool,
    ToolContext,
    argument,
    closed_object,
)
from widgetd.server.render.result import Result

if TYPE_CHECKING:
    from widgetd.author.browser.keywords import Keyword

KEYWORD_PREFIX = "kw_"
"""Start of the name of a keyword's own tool. No widget's name may begin so: a start knows no
keyword, whose modules take longer to import than all else."""


def _answer(name: str) -> Any:
    async def answer(context: ToolContext[Any], arguments: Any) -> Any:
        from widgetd.author.browser import session_tools  # noqa: PLC0415 - most daemons have no sessions

        return await getattr(session_tools, name)(context, arguments)

    return answer


_tool = partial(BuiltinTool, scope=AUTHOR, toolset="sessions")
_resource = partial(BuiltinResource, scope=AUTHOR, toolset="sessions")

RESOURCES = (
    _resource(
        uri="widgetd://keywords",
        name="keywords",
        description="The keywords of sessions, with their arguments.",
        mime_type="application/json",
        read=_answer("read_keywords"),
    ),
    _resource(
        uri="widgetd://sessions/{id}",
        name="session",
        description="ID/screen, ID/picture.png, ID/events or ID/console of a session of yours; "
        "ID/trace.zip of one that is over and was traced.",
        mime_type="text/plain",
        mime_types=PARTS,
        read=_answer("read_part"),
    ),
)

SESSION_ID = argument("string", "From start_session.")


def keyword_tools(chosen: Sequence[str]) -> tuple[BuiltinTool, ...]:
    """Return a tool for each chosen keyword.

    Args:
        chosen: Names of keywords, or `all`. A `-` before a name excludes it, alone from all.

    Raises:
        ConfigError: There is no such keyword (W0002).
    """
    if not chosen:
        return ()
    from widgetd.author.browser.keywords import KEYWORDS, find_keyword  # noqa: PLC0415 - see above

    names = {name.removeprefix("-"): name.startswith("-") for name in chosen if name != "all"}
    try:
        excluded = {find_keyword(name).slug for name, is_out in names.items() if is_out}
        included = {find_keyword(name).slug for name, is_out in names.items() if not is_out}
    except CallError as error:
        problem, _, advice = error.message.partition("; ")
        raise ConfigError("W0002", f"keyword_tools: {problem}", advice) from None
    tools = {slug: keyword for slug, keyword in KEYWORDS.items() if keyword.is_tool}
    if others := (included | excluded) - tools.keys():
        problem = f"keyword_tools: '{min(others)}' is for files of tests, and no tool"
        raise ConfigError("W0002", problem, "remove it")
    if "all" in chosen or not included:
        included = {*tools}
    return tuple(_keyword_tool(tools[slug]) for slug in tools if slug in included - excluded)


def _keyword_tool(keyword: Keyword) -> BuiltinTool:
    async def answer(context: ToolContext[Any], arguments: Mapping[str, Any]) -> Result:
        from widgetd.author.browser.session_tools import do_keyword  # noqa: PLC0415 - see above

        return await do_keyword(context, keyword, arguments)

    schema = keyword.schema
    return _tool(
        name=KEYWORD_PREFIX + keyword.slug,
        description=keyword.summary,
        input_schema={
            **schema,
            "properties": {"session_id": SESSION_ID, **schema["properties"]},
            "required": ["session_id", *schema.get("required", ())],
        },
        handler=answer,
        reads=_join_candidates,
        cost=2,
        read_only=keyword.kind in ("expect", "read"),
    )


def _join_candidates(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
    # The schema advertises a text, because some hosts refuse a schema of several types.
    target = arguments.get("target")
    return (
        {**arguments, "target": to_json(target).decode()} if isinstance(target, list) else arguments
    )


TOOLS = (
    _tool(
        name="start_session",
        description="Show a widget in a browser to act in it. Answers its screen, with refs.",
        input_schema=closed_object(
            {
                "widget": argument("string", "A tool.", default=""),
                "render_id": argument("string", "Or a render.", default=""),
                "arguments": {"type": "object", "default": {}},
                "state": argument("string", "As example-1.", default=""),
                "theme": THEME,
                "width": WIDTH,
                "locale": {"type": "string", "pattern": LOCALE, "default": "en-US"},
                "follow": argument("boolean", "Go on with each new version.", default=False),
                "trace": argument(
                    "boolean", "Record all, for playwright show-trace.", default=False
                ),
            }
        ),
        handler=_answer("start_session"),
        cost=2,
        read_only=False,
    ),
    _tool(
        name="do_in_session",
        description="Do steps in a session, as {keyword: Press, target: ref=f1e5}; the resource "
        "widgetd://keywords lists all. Stops at the first that fails.",
        input_schema=closed_object(
            {
                "session_id": SESSION_ID,
                "steps": {
                    "type": "array",
                    "minItems": 1,
                    "maxItems": LIMITS.steps,
                    "items": {
                        "type": "object",
                        "properties": {"keyword": {"type": "string"}},
                        "required": ["keyword"],
                    },
                },
                "timeout_s": {
                    "type": "number",
                    "minimum": 0,
                    "maximum": LIMITS.step_max_s,
                    "default": LIMITS.step_s,
                },
            },
            required=("session_id", "steps"),
        ),
        handler=_answer("do_in_session"),
        cost=2,
        read_only=False,
    ),
    _tool(
        name="end_session",
        description="End a session and read its events, and its steps as a test if you like.",
        input_schema=closed_object(
            {
                "session_id": SESSION_ID,
                "as_test": argument(
                    "boolean",
                    "Return its steps as a test file, for tests of save_widget.",
                    default=False,
                ),
            },
            required=("session_id",),
        ),
        handler=_answer("end_session"),
        read_only=False,
    ),
    _tool(
        name="list_sessions",
        description="List your open sessions.",
        input_schema=closed_object({}),
        handler=_answer("list_sessions"),
    ),
)
