"""The toolset `author`: tools for agents as authors of widgets.

Every start reads these rows for their names. Their handlers are imported with the first call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from widgetd.author.guide.guide import KINDS, ORDER, pages
from widgetd.server.access.principal import AUTHOR, WRITE
from widgetd.server.mcp.builtin.table import (
    BuiltinResource,
    BuiltinTool,
    ConsentQuestion,
    Handler,
    ToolContext,
    argument,
    closed_object,
)
from widgetd.server.render.parts import PARTS
from widgetd.server.render.result import Result

OWN_PARTS = ("sidecar", "dependencies", "history", "feed", "tests")
"""Parts that `read_widget` reads besides those that are resources."""


def _confirmation(
    context: ToolContext[Any], arguments: Mapping[str, Any]
) -> ConsentQuestion | None:
    from widgetd.author.guide.answers import save_confirmation  # noqa: PLC0415 - see below

    return save_confirmation(context, arguments)


def _names(description: str, **more: Any) -> Mapping[str, Any]:
    return argument("array", description, **{"items": {"type": "string"}, "default": [], **more})


async def _page(_context: ToolContext[Any], name: str) -> str | None:
    page = pages().get(name)
    return None if page is None else page.text


RESOURCES = (
    BuiltinResource(
        uri="widgetd://guide/{name}",
        name="guide",
        description="A page of the guide on how widgets are written.",
        mime_type="text/markdown",
        read=_page,
        values=ORDER,
        scope=AUTHOR,
        toolset="author",
    ),
)

_JSX = argument("string", "In place of widget: the text of a .widget.jsx; see get_guide, page jsx.")

_SIDECAR = argument("string", "The sidecar, as TOML.", default="")


def _tool(
    name: str, properties: Mapping[str, Any], required: Sequence[str] = (), **more: Any
) -> BuiltinTool:
    async def answer(context: ToolContext[Any], arguments: Mapping[str, Any]) -> Result:
        # Most daemons have no author, and start sooner without the handlers.
        from widgetd.author.guide import answers  # noqa: PLC0415

        handler: Handler = getattr(answers, name)
        return await handler(context, arguments)

    row = {"scope": AUTHOR, "toolset": "author", "handler": answer, **more}
    return BuiltinTool(name=name, input_schema=closed_object(properties, required=required), **row)


TOOLS = (
    _tool(
        "get_guide",
        {"names": _names("Pages.")},
        description="Read how widgets are written. Without names: which pages there are.",
    ),
    _tool(
        "search_reference",
        {
            "query": {"type": "string"},
            "kinds": _names(f"Of {', '.join(KINDS)}; all by default."),
            "limit": {"type": "integer", "minimum": 1, "maximum": 50, "default": 10},
        },
        ("query",),
        description="Search all that helps to write widgets.",
    ),
    _tool(
        "get_component_details",
        {
            "names": _names("As Button, Button.variant, colors, sizes or icons."),
            "picture": argument("boolean", "Draw them in each of their values."),
        },
        description="Read what a component is for and what it may say. Without names: all in a "
        "line each.",
    ),
    _tool(
        "read_widget",
        {
            "names": _names("Tools."),
            "parts": _names(
                f"Of {', '.join((*PARTS, *OWN_PARTS))}.", default=["template", "schema"]
            ),
        },
        ("names",),
        description="Read the parts of widgets that are served.",
    ),
    _tool(
        "try_widget",
        {
            "widget": argument("object", "The file: name, template, jsonSchema; see get_guide."),
            "jsx": _JSX,
            "sidecar": _SIDECAR,
            "arguments": argument("object", "To draw it with; else its example."),
            "take": {
                "type": "array",
                "items": closed_object(
                    {"action": {"type": "string"}, "payload": {}}, required=("action",)
                ),
                "default": [],
                "description": "Local actions to take before it is drawn.",
            },
            "trace": argument("boolean", "Tell each value that the template wrote."),
            "picture": {"type": "boolean"},
            "theme": {"type": "string", "enum": ["light", "dark"]},
            "width": {"type": "integer"},
        },
        description="Try a draft: what is wrong with it and how to mend that, and what it draws. "
        "Nothing is kept.",
    ),
    _tool(
        "save_widget",
        {
            "file": argument("string", "As 'Loop Card'."),
            "widget": argument("object", "As try_widget took it."),
            "jsx": _JSX,
            "sidecar": _SIDECAR,
            "tests": argument(
                "string", "A test file, which must pass; end_session writes one.", default=""
            ),
            "replaces": argument(
                "string", "The digest of what it replaces, from read_widget.", default=""
            ),
        },
        ("file",),
        description="Put a widget into the folder that is served. Try it first.",
        scope=WRITE,
        read_only=False,
        destructive=True,
        waits=True,
        asks=_confirmation,
    ),
)
