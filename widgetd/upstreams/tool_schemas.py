"""Input schemas of an upstream's tools, to which arguments are held before a call."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio.to_thread
import orjson

from widgetd.errors import CallError, WidgetError
from widgetd.schema.validator import Schema, compile_schema
from widgetd.upstreams.limits import LIMITS
from widgetd.upstreams.listing import UpstreamTool


@dataclass(eq=False)
class ToolSchemas:
    """The compiled schemas of the tools that were called last.

    Compiled at the first call, not when the tools are listed: a list may hold minutes of work and
    gigabytes of patterns in tools that no feed uses.
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
            self._compiled[key] = await anyio.to_thread.run_sync(_compile, key)
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
    """Compile a schema; None if it cannot be used."""
    with suppress(WidgetError):
        return compile_schema(orjson.loads(schema_json))
    return None
