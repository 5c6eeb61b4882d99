"""The toolset `upstreams`: tools to show and call upstreams."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import orjson

from widgetd.base.errors import CallError, WidgetError
from widgetd.base.system import SYSTEM
from widgetd.core.schema.json_values import to_json
from widgetd.server.access.principal import OPERATE
from widgetd.server.mcp.builtin.table import (
    BuiltinTool,
    ConsentQuestion,
    ToolContext,
    closed_object,
)
from widgetd.server.render.result import Result, structured_result, text_block
from widgetd.server.wing import Services, Task

if TYPE_CHECKING:
    from widgetd.server.catalog.snapshot import Snapshot
    from widgetd.server.store.cache import Cache
    from widgetd.upstreams.answers import PagedAnswers, UpstreamAnswer
    from widgetd.upstreams.connection import Upstream, UpstreamObserver
    from widgetd.upstreams.feeds import UpstreamFeeds
    from widgetd.upstreams.live import LiveFeeds
    from widgetd.upstreams.upstreams import Upstreams

_COUNTS = {"hits": "kept", "misses": "call", "stale": "stale"}
"""Sources of answers, by the names that `get_upstreams` has for their counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamServices(Services):
    """The services behind these tools. Without an upstreams file there are none.

    Attributes:
        paged: Answers in pages.
        live: Keeps followed renders up to date. None where nothing does.
    """

    upstreams: Upstreams
    feeds: UpstreamFeeds
    paged: PagedAnswers
    live: LiveFeeds | None = None

    @classmethod
    def from_file(
        cls, path: Path, answers: Cache, observer: UpstreamObserver | None = None
    ) -> UpstreamServices:
        """Build the services for the upstreams of a file.

        Raises:
            ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
        """
        # Most daemons have no upstreams, and start sooner without these imports.
        from widgetd.upstreams.answers import PagedAnswers  # noqa: PLC0415
        from widgetd.upstreams.feeds import UpstreamFeeds  # noqa: PLC0415
        from widgetd.upstreams.upstreams import Upstreams  # noqa: PLC0415

        upstreams = Upstreams(path, observer=observer)
        feeds = UpstreamFeeds(upstreams, answers, observer=observer)
        return cls(upstreams=upstreams, feeds=feeds, paged=PagedAnswers(SYSTEM.clock.steady_s))

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            if self.live is not None:
                tasks.start_soon(self.live.run)
            await self.upstreams.run()

    def toolsets(self) -> Mapping[str, UpstreamServices]:
        return {"upstreams": self}

    def tasks(self) -> Sequence[Task]:
        return (self.run,)

    def reread(self) -> None:
        self.upstreams.check_file()


async def get_upstreams(
    context: ToolContext[UpstreamServices | None], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"items": [{"name", "kind", "state", "reason"?, "advice"?, "tools", ...}]}`.

    Those asked for by name have `toolDetails`: `[{"name", "description", "readOnly",
    "inputSchema"}]`.
    """
    services, names = context.services, arguments["names"]
    if services is None:
        return structured_result({"items": []})
    upstreams, counts = services.upstreams, services.feeds.counts
    items = []
    for name in names or upstreams.all:
        item = _describe(upstreams[name], counts.get(name), context.caller.snapshot)
        if names:
            tools = upstreams[name].tools
            item["toolDetails"] = [tools[tool].to_json() for tool in item["tools"]]
        items.append(item)
    fault = {} if upstreams.fault is None else {"fault": str(upstreams.fault)}
    return structured_result({"items": items, **fault})


def _describe(
    upstream: Upstream, counts: Mapping[str, int] | None, snapshot: Snapshot
) -> dict[str, Any]:
    p50_ms, p95_ms = upstream.percentiles_ms() or (None, None)
    is_down = upstream.state in {"failed", "failing"}
    item = {
        **upstream.describe(),
        "kind": upstream.declaration.kind.name,
        "since": _timestamp(upstream.since),
        "lastOk": None if upstream.last_ok is None else _timestamp(upstream.last_ok),
        "tools": sorted(upstream.tools),
        "dropped": upstream.dropped or None,
        "protocol": upstream.protocol or None,
        "calls": upstream.calls,
        "errors": upstream.errors,
        "p50Ms": p50_ms,
        "p95Ms": p95_ms,
        "kept": counts and {key: counts[source] for key, source in _COUNTS.items()},
        "retryInS": upstream.retry_in_s() if is_down else None,
        "usedBy": sorted(
            tool
            for tool, widget in snapshot.widgets.items()
            if any(part.upstream == upstream.name for part in widget.definition.sidecar.feeds)
        ),
    }
    return {key: value for key, value in item.items() if value is not None}


def _timestamp(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%dT%H:%M:%SZ}"


async def call_upstream(
    context: ToolContext[UpstreamServices | None], arguments: Mapping[str, Any]
) -> Result:
    """Return `{"kind", "bytes", "page", "next"?}`. The pages put together are the answer.

    Raises:
        CallError: The call fails (W5001 to W5020), an expression cannot be used (W5007), or the
            answer is not kept any more (W5009).
    """
    from widgetd.upstreams.answers import PagedAnswer, encode_page  # noqa: PLC0415 - see above

    services, owner = context.services, context.caller.principal.name
    if services is None:
        problem = "there are no upstreams; start widgetd with --upstreams FILE"
        raise CallError("W5001", problem, path="name")
    name, start, paged = "", 0, None
    if arguments["after"]:
        name, _, at = arguments["after"].rpartition(".")
        paged = services.paged.get(name, owner)
        answer = paged.answer
        start = min(int(at), len(answer.content)) if at.isdecimal() and len(at) < 9 else 0
    else:
        upstream = services.upstreams[arguments["name"]]
        try:
            answer = await upstream.call(arguments["tool"], arguments["arguments"])
        except CallError as error:
            raise error.for_operators() from None
    if arguments["select"]:
        # In a thread, as all reading of whole answers: 8 MiB take seconds.
        select = partial(_select, answer, arguments["select"], arguments["name"])
        name, start, paged, answer = "", 0, None, await SYSTEM.threads.run_blocking(select)
    most_bytes, size = arguments["most_bytes"], len(answer.content)
    page = answer.content
    if size > most_bytes or paged is not None:
        if paged is None:
            paged = await SYSTEM.threads.run_blocking(PagedAnswer.build, answer)
            name = services.paged.add(paged, owner)
        page = paged.page(start, most_bytes)
    content: dict[str, Any] = {
        "kind": answer.kind,
        "bytes": size,
        "page": encode_page(page, answer.kind),
    }
    if answer.mime_type:
        content["mimeType"] = answer.mime_type
    if start + len(page) < size:
        content["next"] = f"{name}.{start + len(page)}"
    structured = orjson.dumps(content)
    return Result(content=to_json([text_block(structured.decode())]), structured=structured)


def _select(answer: UpstreamAnswer, expression: str, upstream: str) -> UpstreamAnswer:
    from widgetd.core.widget.query import compile_query  # noqa: PLC0415 - likewise
    from widgetd.upstreams.answers import UpstreamAnswer  # noqa: PLC0415 - see above

    try:
        query = compile_query(expression)
    except WidgetError as error:
        raise CallError("W5007", str(error), path="select") from None
    return UpstreamAnswer(kind="json", content=to_json(query.find(answer.value(upstream))))


def _ask(
    context: ToolContext[UpstreamServices | None], arguments: Mapping[str, Any]
) -> ConsentQuestion | None:
    upstreams = {} if context.services is None else context.services.upstreams.all
    upstream = upstreams.get(str(arguments.get("name")))
    tool = None if upstream is None else upstream.tools.get(str(arguments.get("tool")))
    if upstream is None or tool is None or tool.is_read_only:
        return None
    return ConsentQuestion(
        text=f"Let '{upstream.name}' run '{tool.name}'?", hidden=("name", "tool")
    )


_tool = partial(BuiltinTool, scope=OPERATE, toolset="upstreams")

TOOLS = (
    _tool(
        name="get_upstreams",
        description="Return the state and tools of servers that fill widgets; of those named, with "
        "each tool's description and schema.",
        input_schema=closed_object(
            {"names": {"type": "array", "items": {"type": "string"}, "default": []}}
        ),
        handler=get_upstreams,
    ),
    _tool(
        name="call_upstream",
        description="Call a tool of another server, to see what a feed would get. A large answer "
        "comes in pages: ask again with `next` as `after`.",
        input_schema=closed_object(
            {
                "name": {"type": "string", "default": "", "description": "The upstream."},
                "tool": {"type": "string", "default": ""},
                "arguments": {"type": "object", "default": {}},
                "select": {
                    "type": "string",
                    "default": "",
                    "description": "JMESPath, over the whole answer.",
                },
                "after": {"type": "string", "default": ""},
                "most_bytes": {
                    "type": "integer",
                    "minimum": 16,
                    "maximum": 1_048_576,
                    "default": 16_384,
                },
            }
        ),
        handler=call_upstream,
        cost=2,
        asks=_ask,
        read_only=False,
        destructive=True,
    ),
)
