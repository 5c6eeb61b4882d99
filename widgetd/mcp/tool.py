"""A widget becomes an MCP tool. Knows nothing of other widgets or of lists.

A tool's entry in a list is made here, once for each protocol era, and proven
to be one that the SDK will send: a single bad entry would break the whole list.

    Source: MCP specification, server/tools; `mcp_types.methods.serialize_server_result`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from weakref import ReferenceType, WeakKeyDictionary, ref

import orjson
from fastmcp.tools.base import Tool, ToolResult
from mcp.shared.inbound import find_invalid_x_mcp_header
from mcp_types import ToolAnnotations
from mcp_types.methods import serialize_server_result
from mcp_types.version import LATEST_HANDSHAKE_VERSION, LATEST_MODERN_VERSION
from pydantic import PrivateAttr, ValidationError

from widgetd.catalog.proof import Verdict
from widgetd.catalog.proof_cache import Verdicts
from widgetd.checks import findings
from widgetd.errors import CallError, Finding, WidgetError
from widgetd.files.source import Source
from widgetd.limits import Limits
from widgetd.mcp.calls import Rendering
from widgetd.mcp.error_result import error_result
from widgetd.mcp.paging import Era
from widgetd.widget.definition import define, digest, redefine
from widgetd.widget.widget import Widget, compile_widget

Entries = tuple[bytes, bytes]
"""A tool as it stands in a list, as JSON: for legacy clients, for modern ones."""

Told = Callable[[str, str], Verdict | None]
"""Path and digest of a file to its verdict, where somebody else has proven it."""

_VERSIONS: Mapping[Era, str] = {
    "legacy": LATEST_HANDSHAKE_VERSION,
    "modern": LATEST_MODERN_VERSION,
}
_ENVELOPES: Mapping[Era, Mapping[str, Any]] = {
    "legacy": {},
    "modern": {"ttlMs": 0, "cacheScope": "private", "resultType": "complete"},
}

_HEADER_ANNOTATION = b'"x-mcp-header"'

ANNOTATIONS = ToolAnnotations(
    read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False
)
"""Rendering a widget changes nothing and reaches nothing."""


class ListedTool(Tool):
    """A tool that knows its own entry in a list, in each era."""

    def entries(self) -> Entries:
        """This tool as it stands in `tools/list`: `{"name": ..., "inputSchema": {...}, ...}`.

        Raises:
            ValidationError: The SDK would not send a list with this tool in it.
        """
        wire = self.to_mcp_tool(name=self.name)
        entry = wire.model_dump(by_alias=True, mode="json", exclude_none=True)
        legacy, modern = _sent(entry, "legacy"), _sent(entry, "modern")
        text = _text(legacy)
        # Most often they differ in the order of keys alone.
        return text, text if modern == legacy else _text(modern)

    def get_meta(self) -> dict[str, Any]:
        """Our own metadata, without the bookkeeping that FastMCP would add."""
        return self.meta or {}


def _sent(entry: Mapping[str, Any], era: Era) -> Mapping[str, Any]:
    answer = {"tools": [entry], **_ENVELOPES[era]}
    sent = serialize_server_result("tools/list", _VERSIONS[era], answer)
    listed: Mapping[str, Any] = sent["tools"][0]
    return listed


def _text(entry: Mapping[str, Any]) -> bytes:
    # A copy, for what orjson hands over is as large as its buffer grew.
    return bytes(memoryview(orjson.dumps(entry)))


def of_era(entries: Entries, era: Era) -> bytes:
    """The entry of one era."""
    return entries[era == "modern"]


class WidgetTool(ListedTool):
    """One widget as a tool: the author's schema, verbatim, and a call that renders.

    It is kept for as long as its widget is, and so must not keep the widget. Whoever calls does:
    they hold the snapshot that it stands in.
    """

    _widget: ReferenceType[Widget] = PrivateAttr()
    _rendering: Rendering = PrivateAttr()
    _wants_headers: bool = PrivateAttr()

    def __init__(self, widget: Widget, rendering: Rendering, **fields: Any) -> None:
        super().__init__(**fields)
        self._widget = ref(widget)
        self._rendering = rendering
        self._wants_headers = _HEADER_ANNOTATION in orjson.dumps(self.parameters)

    @property
    def wants_headers(self) -> bool:
        """Whether the schema asks clients to repeat arguments in HTTP headers."""
        return self._wants_headers

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Validate, render, and shape the result for the caller; errors are results too."""
        widget = self._widget()
        if widget is None:
            gone = f"this '{self.name}' is not served any more; ask again"
            return error_result(CallError("W2001", gone))
        try:
            return await self._rendering.call(widget, arguments)
        except CallError as error:
            return error_result(error)


class Toolbox:
    """The tool of each widget, made when it is first called, and kept as long as the widget is.

    Args:
        rendering: Answers their calls.
        view_uri: The `ui://` resource that shows a widget; None where there is no view.
        verdicts: What was proven before; None to prove everything.
    """

    def __init__(
        self,
        rendering: Rendering,
        *,
        view_uri: Callable[[str], str] | None = None,
        verdicts: Verdicts | None = None,
    ) -> None:
        self._rendering = rendering
        self._view_uri = view_uri
        self._verdicts = verdicts
        self._told: Told = _nothing
        self._tools: WeakKeyDictionary[Widget, WidgetTool] = WeakKeyDictionary()
        self._entries: WeakKeyDictionary[Widget, Entries] = WeakKeyDictionary()

    @property
    def known(self) -> int:
        """How many files were proven before and not asked for yet."""
        return 0 if self._verdicts is None else len(self._verdicts)

    def of(self, widget: Widget) -> WidgetTool:
        """The tool of `widget`."""
        tool = self._tools.get(widget)
        if tool is None:
            tool = self._tools[widget] = self._make(widget)
        return tool

    def entry(self, widget: Widget, era: Era) -> bytes:
        """How `widget` stands in a list of tools, as JSON."""
        entries = self._entries.get(widget)
        if entries is None:
            entries = self._entries[widget] = self.admit(widget)
        return of_era(entries, era)

    def load(
        self, source: Source, sidecar: Source | None, *, limits: Limits, strict: bool
    ) -> Widget:
        """The widget that a file and its sidecar make, admitted.

        Args:
            source: The `.widget` file.
            sidecar: The `.widget.toml` beside it, if there is one.
            limits: What the widget may ask for.
            strict: Refuse a template that reads what its schema does not declare.

        Raises:
            WidgetError: There is none that could be served.
        """
        path, content, verdicts = source.path, digest(source, sidecar), self._verdicts
        verdict = None if verdicts is None else verdicts.take(path, content)
        if verdict is None:
            verdict = self._told(path, content) or self.prove(
                source, sidecar, limits=limits, strict=strict
            )
            if verdicts is not None:
                verdicts.add(path, content, verdict)
        definition = redefine(source, sidecar, verdict.names)
        widget = Widget(definition, limits=limits, proof=verdict.proof)
        self._entries[widget] = verdict.entries
        return widget

    @contextmanager
    def helped(self, told: Told | None) -> Iterator[None]:
        """Within the block, ask `told` before proving anything."""
        self._told = told or _nothing
        yield
        self._told = _nothing

    def prove(
        self, source: Source, sidecar: Source | None, *, limits: Limits, strict: bool
    ) -> Verdict:
        """What is known of a widget once everything was done with it that can fail.

        Args:
            source: As for `load`, all four.
            sidecar: The `.widget.toml` beside it, if there is one.
            limits: What the widget may ask for.
            strict: Refuse a template that reads what its schema does not declare.

        Raises:
            WidgetError: It failed.
        """
        definition = define(source, sidecar, limits=limits)
        widget = compile_widget(definition, limits=limits)
        entries = self.admit(widget)
        if strict:
            for finding in findings(widget, strict=True):
                if finding.level == "fault":
                    raise WidgetError(finding)
        return Verdict(names=definition.names, proof=widget.prove(), entries=entries)

    def admit(self, widget: Widget) -> Entries:
        """Prove that a list with this widget in it can be sent: its entry in each era.

        Raises:
            WidgetError: It cannot; every other widget would vanish with it (W1206).
        """
        problem = find_invalid_x_mcp_header(widget.advertised)
        if problem:
            raise _poison(widget, f"its header annotation is not one ({problem})")
        try:
            return self._make(widget).entries()
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise _poison(widget, f"MCP does not allow it at {place}") from None

    def _make(self, widget: Widget) -> WidgetTool:
        definition = widget.definition
        meta: dict[str, Any] = {}
        if self._view_uri is not None:
            meta["ui"] = {"resourceUri": self._view_uri(widget.tool)}
        return WidgetTool(
            widget,
            self._rendering,
            name=definition.tool,
            title=definition.title,
            description=widget.description,
            parameters=dict(widget.advertised),
            annotations=ANNOTATIONS,
            meta=meta,
        )


def _nothing(_path: str, _digest: str) -> None:
    """What nobody tells."""


def _poison(widget: Widget, problem: str) -> WidgetError:
    return WidgetError(
        Finding(
            code="W1206",
            path=widget.definition.path,
            at="/jsonSchema",
            problem=f"the schema cannot be sent in a tool list: {problem}",
            advice="describe the arguments as an object with properties",
        )
    )
