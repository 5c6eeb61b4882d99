"""One table of the tools that are always there: what they take, and what a call needs.

A file beside this one holds the rows of one subject as `TOOLS`; the rows of a later room
stand in its own `toolset.py`, and are handed to the server at assembly.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

import orjson

from widgetd.access.principal import READ
from widgetd.errors import CallError, ConfigError
from widgetd.limits import Limits
from widgetd.render.entry import READ_ONLY, entry
from widgetd.render.result import Result, error_result
from widgetd.schema.validator import compile_schema

if TYPE_CHECKING:  # whoever asks for no more than the names needs none of these
    from widgetd.access.principal import Caller
    from widgetd.render.calls import Rendering
    from widgetd.search.search import Search
    from widgetd.store.contract import Store
    from widgetd.widget.widget import Widget

CORE = "core"
"""The toolset that every server has."""

Service = TypeVar("Service")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """What a handler may use.

    Attributes:
        caller: Who calls, and the snapshot that the call is answered from.
        rendering: Renders widgets.
        store: What outlives a call.
        search: Finds widgets.
        schema: A widget to what its caller gives, as a list says it.
        services: What the rows of some toolsets need besides, by its type.
    """

    caller: Caller
    rendering: Rendering
    store: Store
    search: Search
    schema: Callable[[Widget], Mapping[str, Any]]
    services: Mapping[type, object] = field(default_factory=lambda: MappingProxyType({}))

    def use(self, service: type[Service]) -> Service:
        """The one of this type; whoever switches a toolset on hands in what its rows need."""
        return cast("Service", self.services[service])


Handler = Callable[[ToolContext, Mapping[str, Any]], Awaitable[Result]]
"""Answers a call whose arguments fit and are complete; raises `CallError` where it cannot."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool:
    """A tool that is no widget.

    Attributes:
        name: No widget may take it.
        description: For the model.
        input_schema: An object's, closed.
        handler: Answers.
        reads: How arguments are read before they are held to the schema.
        scope: What the caller's token must grant.
        cost: Of the caller's rate.
        waits: Whether it waits for somebody, and so holds no slot meanwhile.
        asks: What the user is asked before it is done, where their client can ask; empty for
            nothing. It needs `waits`.
        toolset: Which setting switches it on.
        read_only: Whether calling it changes nothing.
        destructive: Whether it may take the place of what is there.
        app_only: Whether it is for the page that shows a widget, and hidden from the model.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    handler: Handler
    reads: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    scope: str = READ
    cost: int = 1
    waits: bool = False
    asks: Callable[[ToolContext, Mapping[str, Any]], str] | None = None
    toolset: str = CORE
    read_only: bool = True
    destructive: bool = False
    app_only: bool = False

    @property
    def said(self) -> dict[str, Any]:
        """What a list says of it, by its name there: a default that is nothing goes unsaid.

        Source: MCP Apps 2026-01-26, "Tool visibility".
        """
        properties = {
            name: {key: value for key, value in held_to.items() if key != "default" or value}
            for name, held_to in self.input_schema["properties"].items()
        }
        changes = {"destructiveHint": True, "idempotentHint": False} if self.destructive else {}
        return {
            "name": self.name,
            "title": self.name.replace("_", " ").capitalize(),
            "description": self.description,
            "inputSchema": {**self.input_schema, "properties": properties},
            "annotations": {**READ_ONLY, "readOnlyHint": self.read_only, **changes},
            "_meta": {"ui": {"visibility": ["app"]}} if self.app_only else {},
        }

    def entry(self) -> bytes:
        """This tool as it stands in `tools/list`."""
        return entry(self.said)


Reader = Callable[[ToolContext, str], Awaitable[str | bytes | None]]
"""What is read at a value of a resource's variable, empty where it has none; None for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinResource:
    """What a toolset has to read, besides its tools.

    Attributes:
        uri: Where, as `widgetd://keywords`; a variable at its end, as `widgetd://guide/{name}`,
            makes it a template.
        name: For programs.
        description: For the model.
        mime_type: Of what is read.
        read: Reads.
        values: Of the variable, which the list names; the template leads to all others.
        scope: What the caller's token must grant.
        toolset: Which setting switches it on.
    """

    uri: str
    name: str
    description: str
    mime_type: str
    read: Reader
    values: tuple[str, ...] = ()
    scope: str
    toolset: str

    @property
    def stem(self) -> str:
        """The address without the variable."""
        return self.uri.partition("{")[0]

    @property
    def is_template(self) -> bool:
        """Whether it leads to more than one thing."""
        return "{" in self.uri

    @property
    def listed(self) -> tuple[str, ...]:
        """The addresses that a list names."""
        return (
            tuple(self.stem + value for value in self.values) if self.is_template else (self.uri,)
        )

    def value_of(self, uri: str) -> str | None:
        """What stands in the variable's place in `uri`; None where that leads elsewhere."""
        if not self.is_template:
            return "" if uri == self.uri else None
        return uri.removeprefix(self.stem) if uri.startswith(self.stem) else None


class BuiltinTools(Mapping[str, BuiltinTool]):
    """The tools of the toolsets that are switched on, by name.

    Args:
        rows: Of all toolsets.
        toolsets: Those that are switched on besides `core`.
        unlisted: Names of tools that would only say why they cannot be used here.

    Attributes:
        reserved: The names of all of them, so that a setting never renames a widget.

    Raises:
        ConfigError: Two have the same name (W0031).
    """

    def __init__(
        self,
        rows: Iterable[BuiltinTool],
        toolsets: Iterable[str] = (),
        unlisted: Iterable[str] = (),
    ) -> None:
        self._unlisted = frozenset(unlisted)
        self._listed: dict[tuple[frozenset[str], bool], frozenset[str]] = {}
        self._toolsets = frozenset((CORE, *toolsets))
        named: dict[str, BuiltinTool] = {}
        for tool in rows:
            other = named.setdefault(tool.name, tool)
            if other is not tool:
                handlers = (getattr(one.handler, "func", one.handler) for one in (other, tool))
                owners = " and ".join(handler.__module__ for handler in handlers)
                problem = f"two built-in tools are called '{tool.name}': in {owners}"
                raise ConfigError("W0031", problem, "rename one of them")
        self.reserved = frozenset(named)
        self._tools = MappingProxyType(
            {name: tool for name, tool in named.items() if tool.toolset in self._toolsets}
        )
        self._schemas = {
            name: compile_schema(tool.input_schema, limits=Limits())
            for name, tool in self._tools.items()
        }
        self._entries = {name: tool.entry() for name, tool in self._tools.items()}

    def __getitem__(self, name: str) -> BuiltinTool:
        return self._tools[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tools)

    def __len__(self) -> int:
        return len(self._tools)

    def listed_for(self, scopes: frozenset[str], *, apps: bool = True) -> frozenset[str]:
        """The tools that a caller with these scopes is told of, those of `core` in any case.

        Args:
            scopes: What they may do.
            apps: Whether their client has pages, which alone have use for some tools.
        """
        names = self._listed.get((scopes, apps))
        if names is None:
            names = self._listed[scopes, apps] = frozenset(
                name
                for name, tool in self._tools.items()
                if (tool.toolset == CORE or (tool.scope in scopes and name not in self._unlisted))
                and (apps or not tool.app_only)
            )
        return names

    def entries(self, names: frozenset[str]) -> Mapping[str, bytes]:
        """How these tools stand in a list, as JSON."""
        return {name: self._entries[name] for name in self._tools if name in names}

    async def call(self, name: str, arguments: Mapping[str, Any], context: ToolContext) -> Result:
        """Check the arguments and answer; errors are results too."""
        tool, schema = self._tools[name], self._schemas[name]
        properties = tool.input_schema["properties"]
        try:
            # Whatever a caller wrote for a list of strings is made one.
            read = {
                key: strings(value) if properties.get(key, {}).get("type") == "array" else value
                for key, value in tool.reads(arguments).items()
            }
            checked = schema.check(read)
            return await tool.handler(context, schema.with_defaults(checked.arguments))
        except CallError as error:
            return error_result(error)


def closed_object(
    properties: Mapping[str, Any], *, required: Sequence[str] = ()
) -> Mapping[str, Any]:
    """The schema of an object that has these properties, and no others."""
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def argument(kind: str, description: str, **held_to: Any) -> Mapping[str, Any]:
    """The schema of an argument of this type, with what the model should know of it."""
    return {"type": kind, "description": description, **held_to}


def strings(value: object) -> object:
    """A list of strings from an array, a JSON text, a comma list, one string or nothing.

    Anything else comes back as it is, for the schema to refuse.
    """
    if value is None:
        return []
    if not isinstance(value, str):
        return value
    if value.lstrip().startswith("["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return [part for part in (part.strip() for part in value.split(",")) if part]
