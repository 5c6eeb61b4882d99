"""The toolset `sessions`: agents show a widget, act in it, and read the outcome.

Every start reads these rows for their names; what answers them is imported with the first call.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from widgetd.access.principal import AUTHOR
from widgetd.browser.limits import LIMITS
from widgetd.browser.pictures import LOCALE, THEME, WIDTH
from widgetd.mcp.builtin.table import BuiltinResource, BuiltinTool, ToolContext, closed_object

KEYWORD_PREFIX = "kw_"
"""Start of the name of a keyword's own tool."""

SLUGS = (
    *("show_widget", "show_tree", "set_theme", "set_width", "set_locale", "reload"),
    *(
        "press",
        "enter_text",
        "clear",
        "choose",
        "check",
        "uncheck",
        "pick_date",
        "press_key",
        "hover",
        "scroll_to",
        "submit",
    ),
    *(
        "expect_visible",
        "expect_hidden",
        "expect_text",
        "expect_value",
        "expect_enabled",
        "expect_count",
        "expect_action",
        "expect_message",
        "expect_link",
        "expect_tree",
        "expect_aria",
        "expect_picture",
        "expect_accessible",
        "expect_quiet",
    ),
    *("look", "picture", "read_text", "read_value"),
)
"""The keywords by name, as `widgetd.browser.keywords` has them."""

NAMES = frozenset(KEYWORD_PREFIX + slug for slug in SLUGS)
"""Names of all tools that keywords may be."""


def _answer(name: str) -> Any:
    async def answer(context: ToolContext, asked: Any) -> Any:
        from widgetd.browser import session_tools  # noqa: PLC0415 - most daemons have no sessions

        return await getattr(session_tools, name)(context, asked)

    return answer


TRACE = "trace.zip"
PARTS = {
    "screen": "text/plain",
    "picture.png": "image/png",
    "events": "application/json",
    "console": "application/json",
    TRACE: "application/zip",
}
"""Media types of the resources of a session."""

build_tool = partial(BuiltinTool, scope=AUTHOR, toolset="sessions")
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

SESSION_ID = {"type": "string", "description": "From start_session."}

TOOLS = (
    build_tool(
        name="start_session",
        description="Show a widget in a browser to act in it. Answers its screen, with refs.",
        input_schema=closed_object(
            {
                "widget": {"type": "string", "default": "", "description": "A tool."},
                "render_id": {"type": "string", "default": "", "description": "Or a render."},
                "arguments": {"type": "object", "default": {}},
                "state": {"type": "string", "default": "", "description": "As example-1."},
                "theme": THEME,
                "width": WIDTH,
                "locale": {"type": "string", "pattern": LOCALE, "default": "en-US"},
                "follow": {
                    "type": "boolean",
                    "default": False,
                    "description": "Go on with each new version.",
                },
                "trace": {
                    "type": "boolean",
                    "default": False,
                    "description": "Record all, for playwright show-trace.",
                },
            }
        ),
        handler=_answer("start_session"),
        cost=2,
        read_only=False,
    ),
    build_tool(
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
    build_tool(
        name="end_session",
        description="End a session and read its events, and its steps as a test if you like.",
        input_schema=closed_object(
            {
                "session_id": SESSION_ID,
                "as_test": {
                    "type": "boolean",
                    "default": False,
                    "description": "Return its steps as a test file, for tests of save_widget.",
                },
            },
            required=("session_id",),
        ),
        handler=_answer("end_session"),
        read_only=False,
    ),
    build_tool(
        name="list_sessions",
        description="List your open sessions.",
        input_schema=closed_object({}),
        handler=_answer("list_sessions"),
    ),
)
