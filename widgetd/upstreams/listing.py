"""An upstream's list of tools, reduced to what widgetd accepts before any library reads it.

A list is as untrusted as a dropped file. Its schemas may hold patterns that take milliseconds
and megabytes each to compile. Its texts may hold characters for models alone. Its output schemas
would be applied to every answer by the SDK with Python's backtracking `re`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import compile_pattern
from widgetd.core.schema.json_values import is_too_deep
from widgetd.core.schema.phrase import shorten
from widgetd.core.schema.validator import Schema, compile_schema
from widgetd.core.widget.document import READ_BY_MODELS
from widgetd.core.widget.hidden_characters import strip_hidden, strip_hidden_within
from widgetd.upstreams.limits import LIMITS

_NAME = compile_pattern(r"[A-Za-z0-9_./-]{1,128}")
_WILDCARDS = frozenset("*?[")
_HEADER = b'"x-mcp-header"'


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamTool:
    """A callable tool of an upstream.

    Attributes:
        schema_json: Its input schema. As JSON it takes a tenth of the memory of objects, and most
            tools of an upstream are never called.
        is_read_only: Whether a call changes nothing, by the upstream's word.
        title: Its name for people.
    """

    name: str
    description: str
    schema_json: bytes
    is_read_only: bool
    title: str = ""

    @property
    def input_schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = orjson.loads(self.schema_json)
        return schema

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "description": self.description,
            "readOnly": self.is_read_only,
            "inputSchema": self.input_schema,
        }


class ToolListing:
    """A listing of an upstream's tools in pages.

    Attributes:
        tools: The accepted tools, by name.
        dropped: How many tools were left out, by reason: `name`, `duplicate`, `shape` (not a tool
            as MCP defines it), `schema` (too large, too deep, not JSON, or of no object), `excess`
            (beyond the limits); `pages` is 1 where further pages were not read.
        unmarked: How many tools were left out because they may change something.
    """

    def __init__(self, patterns: Sequence[str], actions: Collection[str] = ()) -> None:
        """Begin a listing.

        Args:
            patterns: Names of callable tools, with wildcards. None for all read-only tools.
            actions: Names of the tools for actions of users.
        """
        self.tools: dict[str, UpstreamTool] = {}
        self.dropped: dict[str, int] = {}
        self.unmarked = 0
        self._patterns = patterns
        self._actions = actions
        named = {pattern for pattern in patterns if not _WILDCARDS & set(pattern)}
        self._named = {*named, *actions}
        self._schemas_bytes = 0
        self._reduced: list[dict[str, Any]] | None = None

    def reduce(self, page: dict[str, Any]) -> None:
        """Accept the tools of a `tools/list` result, and leave in it only what the SDK needs.

        Takes up to seconds for 8 MiB, so call it in a worker thread.

        Args:
            page: The result as parsed JSON. Its `tools` are replaced.
        """
        entries = page.get("tools")
        if self._reduced is not None and entries == self._reduced:
            return  # by the transport, before the session
        accepted = []
        for entry in entries if isinstance(entries, list) else ():
            tool = self._accept(entry)
            if isinstance(tool, str):
                self.drop(tool)
            elif tool is not None:
                self.tools[tool.name] = tool
                self._schemas_bytes += len(tool.schema_json)
                # What the SDK refuses costs the whole list, and it reads a schema only for the
                # arguments repeated in headers.
                is_read = _HEADER in tool.schema_json
                properties = entry["inputSchema"]["properties"] if is_read else {}
                schema = {"type": "object", "properties": properties}
                accepted.append({"name": tool.name, "inputSchema": schema})
        page["tools"] = self._reduced = accepted

    def drop(self, reason: str) -> None:
        self.dropped[reason] = self.dropped.get(reason, 0) + 1

    def _accept(self, entry: Any) -> UpstreamTool | str | None:
        if not isinstance(entry, dict) or not isinstance(name := entry.get("name"), str):
            return "shape"
        if not _NAME.fullmatch(name):
            return "name"
        annotations = entry.get("annotations")
        is_read_only = isinstance(annotations, dict) and annotations.get("readOnlyHint") is True
        if not (name in self._actions or self.is_callable(name, is_read_only)):
            self.unmarked += not self._patterns
            return None
        if name in self.tools:
            return "duplicate"
        if len(self.tools) >= LIMITS.tools and name not in self._named:
            return "excess"
        if not isinstance(schema := entry.get("inputSchema"), dict):
            return "shape"
        schema_json = _schema_json(schema)
        if schema_json is None or _is_header_invalid(schema, schema_json):
            return "schema"
        if self._schemas_bytes + len(schema_json) > LIMITS.schemas_bytes:
            return "excess"
        description, title = entry.get("description"), entry.get("title")
        return UpstreamTool(
            name=name,
            description=_description(description) if isinstance(description, str) else "",
            schema_json=schema_json,
            is_read_only=is_read_only,
            title=_description(title) if isinstance(title, str) else "",
        )

    def is_callable(self, name: str, is_read_only: bool) -> bool:
        """Return whether a tool may be called for reasons other than an action of a user."""
        if not self._patterns:
            return is_read_only
        return any(fnmatchcase(name, pattern) for pattern in self._patterns)


@dataclass(eq=False)
class ToolSchemas:
    """The compiled schemas of the tools called last.

    Compiled at the first call, not when the tools are listed: a list may hold minutes of work and
    gigabytes of patterns in unused tools.
    """

    _compiled: OrderedDict[bytes, Schema | None] = field(default_factory=OrderedDict)

    async def check(
        self,
        upstream: str,
        name: str,
        tools: Mapping[str, UpstreamTool],
        arguments: Mapping[str, Any],
    ) -> dict[str, Any]:
        """Hold arguments to the tool's schema, since servers and FastMCP may not.

        Raises:
            CallError: There is no such tool (W5004), or it does not take these (W5005).
        """
        tool = tools.get(name)
        if tool is None:
            problem = f"the upstream '{upstream}' has no tool '{name[:80]}' that may be called"
            names = ", ".join(sorted(tools)[:20])
            raise CallError("W5004", f"{problem}; it has {names or 'none'}", path="tool")
        key = tool.schema_json
        if key not in self._compiled:
            self._compiled[key] = await SYSTEM.threads.run_blocking(_compile, key)
        schema = self._compiled[key]
        self._compiled.move_to_end(key)
        if len(self._compiled) > LIMITS.compiled_schemas:
            self._compiled.popitem(last=False)
        if schema is None:
            return dict(arguments)
        try:
            return schema.check(dict(arguments)).arguments
        except CallError as error:
            problem = f"the tool '{name}' of the upstream '{upstream}' takes other arguments"
            wrong = error.invalid_arguments
            message = f"{problem}: {'; '.join(map(str, wrong)) or error.message}"
            raise CallError("W5005", message, path=error.path, invalid_arguments=wrong) from None


def _compile(schema_json: bytes) -> Schema | None:
    with suppress(WidgetError):
        return compile_schema(orjson.loads(schema_json))
    return None


def _description(text: str) -> str:
    longest = LIMITS.description_chars
    return shorten(strip_hidden(text[: longest + 1]), longest)


def _schema_json(schema: dict[str, Any]) -> bytes | None:
    if schema.get("type", "object") != "object" or is_too_deep(schema, Limits().json_depth):
        return None
    try:
        size = len(orjson.dumps(schema))
        if size > LIMITS.schema_bytes:
            return None
        return orjson.dumps(strip_hidden_within(schema, READ_BY_MODELS))
    except TypeError:  # half a character, or a number beyond 64 bits
        return None


def _is_header_invalid(schema: dict[str, Any], schema_json: bytes) -> bool:
    if _HEADER not in schema_json:
        return False
    from mcp.shared.inbound import find_invalid_x_mcp_header  # noqa: PLC0415 - see `connection.import_client`

    properties = schema.get("properties")
    is_object = isinstance(properties, dict) and all(
        isinstance(p, dict) for p in properties.values()
    )
    return not is_object or find_invalid_x_mcp_header(schema) is not None
