"""The toolset `upstreams`: what whoever writes feeds asks other servers, and how those are."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio.to_thread
import orjson

from widgetd.access.principal import OPERATE
from widgetd.errors import CallError, WidgetError
from widgetd.mcp.builtin.table import BuiltinTool, ToolContext, closed_object
from widgetd.render.result import Result, structured_result, text_block
from widgetd.schema.json_values import to_json

if TYPE_CHECKING:
    from widgetd.catalog.snapshot import Snapshot
    from widgetd.store.contract import Answers
    from widgetd.upstreams.answers import Answer, KeptAnswers
    from widgetd.upstreams.connection import Observer, Upstream
    from widgetd.upstreams.feeds import UpstreamFeeds
    from widgetd.upstreams.upstreams import Upstreams


@dataclass(frozen=True, slots=True, kw_only=True)
class Feeding:
    """What these tools use; nothing of it where no file of upstreams was named.

    Attributes:
        kept: Answers that are being read page by page.
    """

    upstreams: Upstreams | None = None
    feeds: UpstreamFeeds | None = None
    kept: KeptAnswers | None = None

    @classmethod
    def of(cls, path: Path | None, answers: Answers, observer: Observer | None = None) -> Feeding:
        """What fills widgets from the upstreams of a file; nothing where there is none.

        Raises:
            ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
        """
        if path is None:
            return cls()
        # Most daemons have no upstreams, and start sooner without.
        from widgetd.upstreams.answers import KeptAnswers  # noqa: PLC0415
        from widgetd.upstreams.feeds import UpstreamFeeds  # noqa: PLC0415
        from widgetd.upstreams.upstreams import Upstreams  # noqa: PLC0415

        upstreams = Upstreams(path, observer=observer)
        feeds = UpstreamFeeds(upstreams, answers, observer=observer)
        return cls(upstreams=upstreams, feeds=feeds, kept=KeptAnswers(time.monotonic))

    async def run(self) -> None:
        """Keep all upstreams connected, until cancelled."""
        if self.upstreams is not None:
            await self.upstreams.run()

    def look(self) -> None:
        """Look at their file now."""
        if self.upstreams is not None:
            self.upstreams.look()


async def get_upstreams(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"items": [{"name", "kind", "state", "reason"?, "since", "tools", ...}]}`."""
    feeding, names = context.use(Feeding), arguments["names"]
    upstreams = feeding.upstreams
    if upstreams is None:
        return structured_result({"items": []})
    counts = feeding.feeds.counts if feeding.feeds else {}
    items = [
        described(upstreams[name], counts.get(name), context.caller.snapshot)
        for name in names or upstreams.all
    ]
    fault = {} if upstreams.fault is None else {"fault": str(upstreams.fault)}
    return structured_result({"items": items, **fault})


def described(
    one: Upstream, counts: Mapping[str, int] | None, snapshot: Snapshot
) -> dict[str, Any]:
    """How an upstream is, and who of `snapshot` uses it; nothing of where it is.

    `counts` says how often widgets were filled from where.
    """
    percentiles = one.percentiles() or (None, None)
    feeds = {tool: widget.definition.sidecar.feed for tool, widget in snapshot.widgets.items()}
    said = {
        "name": one.name,
        "kind": one.declaration.kind,
        "state": one.state,
        "reason": one.reason or None,
        "since": _time(one.since),
        "lastOk": None if one.last_ok is None else _time(one.last_ok),
        "tools": sorted(one.tools),
        "dropped": one.dropped or None,
        "protocol": one.protocol or None,
        "calls": one.calls,
        "errors": one.errors,
        "p50Ms": percentiles[0],
        "p95Ms": percentiles[1],
        "kept": counts and {key: counts[source] for key, source in _KEPT.items()},
        "retryInS": one.retry_in_s() if one.state in {"failed", "failing"} else None,
        "usedBy": sorted(
            tool for tool, feed in feeds.items() if feed and feed.upstream == one.name
        ),
    }
    return {key: value for key, value in said.items() if value is not None}


_KEPT = {"hits": "kept", "misses": "call", "stale": "stale"}


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


async def call_upstream(context: ToolContext, arguments: Mapping[str, Any]) -> Result:
    """`{"kind", "bytes", "page", "next"?}`; the pages put together are the answer.

    Raises:
        CallError: The call fails (W5001 to W5010), an expression cannot be used (W5007), or the
            answer is not kept any more (W5009).
    """
    # Not without a file of upstreams.
    from widgetd.upstreams.answers import PagedAnswer, shown  # noqa: PLC0415

    feeding, owner = context.use(Feeding), context.caller.principal.name
    if feeding.upstreams is None or feeding.kept is None:
        problem = "there are no upstreams; start widgetd with --upstreams FILE"
        raise CallError("W5001", problem, path="name")
    name, start, paged = "", 0, None
    if arguments["after"]:
        name, _, at = arguments["after"].rpartition(".")
        paged = feeding.kept.get(name, owner)
        answer = paged.answer
        start = min(int(at), len(answer.content)) if at.isdecimal() and len(at) < 9 else 0
    else:
        upstream = feeding.upstreams[arguments["name"]]
        answer = await upstream.call(arguments["tool"], arguments["arguments"])
    if arguments["select"]:
        # In a thread, as all that reads a whole answer: 8 MiB take seconds.
        select = partial(_selected, answer, arguments["select"], arguments["name"])
        name, start, paged, answer = "", 0, None, await anyio.to_thread.run_sync(select)
    most, size = arguments["most_bytes"], len(answer.content)
    page = answer.content
    if size > most or paged is not None:
        if paged is None:
            paged = await anyio.to_thread.run_sync(PagedAnswer.of, answer)
            name = feeding.kept.keep(paged, owner)
        page = paged.page(start, most)
    upto = start + len(page)
    said: dict[str, Any] = {"kind": answer.kind, "bytes": size, "page": shown(page, answer.kind)}
    if answer.mime_type:
        said["mimeType"] = answer.mime_type
    if upto < size:
        said["next"] = f"{name}.{upto}"
    structured = orjson.dumps(said)
    return Result(content=to_json([text_block(structured.decode())]), structured=structured)


def _selected(answer: Answer, select: str, upstream: str) -> Answer:
    # Not without a file of upstreams.
    from widgetd.upstreams.answers import Answer  # noqa: PLC0415
    from widgetd.widget.query import compile_query  # noqa: PLC0415 - as above

    try:
        query = compile_query(select)
    except WidgetError as error:
        raise CallError("W5007", str(error), path="select") from None
    return Answer(kind="json", content=to_json(query.find(answer.value(upstream))))


_tool = partial(BuiltinTool, scope=OPERATE, toolset="upstreams")

TOOLS = (
    _tool(
        name="get_upstreams",
        description="Say how servers that fill widgets are, all or the named, and what they do.",
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
        read_only=False,
    ),
)
