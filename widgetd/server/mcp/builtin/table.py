"""The table of built-in tools: arguments, handler, scope and cost of each.

A module beside this one holds the rows of a subject as `TOOLS`. The rows of a later room are in its
own `toolset.py` and reach the server at assembly.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import orjson

from widgetd.base.errors import CallError, ConfigError
from widgetd.base.limits import Limits
from widgetd.core.schema.validator import compile_schema
from widgetd.server.access.principal import READ
from widgetd.server.render.entry import READ_ONLY, entry
from widgetd.server.render.result import Result, error_result

if TYPE_CHECKING:  # commands that only need the names skip these imports
    from widgetd.core.widget.widget import Widget
    from widgetd.server.access.principal import Caller
    from widgetd.server.observe.observer import Observer
    from widgetd.server.render.action_callers import ActionCaller
    from widgetd.server.render.calls import Renderer
    from widgetd.server.search.search import Search
    from widgetd.server.store.factory import Store

CORE = "core"
"""The toolset of every server."""

Services = TypeVar("Services")


@dataclass(frozen=True, kw_only=True)
class ToolContext(Generic[Services]):
    """The caller and the services of a call of a built-in tool.

    Attributes:
        caller: The calling client, with the snapshot for its answer.
        schema: Returns the input schema of a widget, as it is listed.
        services: The services of the tool's toolset. None for those of `core`.
        consent: The tools of every toolset that ask a person first.
        toolsets: The services of each active toolset.
    """

    caller: Caller
    rendering: Renderer
    store: Store
    search: Search
    schema: Callable[[Widget], Mapping[str, Any]]
    services: Services
    consent: BuiltinTools
    toolsets: Mapping[str, Any]
    actions: ActionCaller
    observers: Sequence[Observer] = ()

    def of(self, toolset: str) -> ToolContext[Any]:
        services: Any = self.toolsets.get(toolset)
        return replace(self, services=services)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsentQuestion:
    """The question to a person before a call.

    Attributes:
        draw: Returns components about the coming changes. It runs in a worker thread.
        hidden: Arguments better shown by `draw` than by their values.
    """

    text: str
    draw: Callable[[], Sequence[Mapping[str, Any]]] = tuple
    hidden: Sequence[str] = ()

    def select(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        return {name: arguments[name] for name in arguments if name not in self.hidden}


Handler = Callable[[ToolContext[Any], Mapping[str, Any]], Awaitable[Result]]
"""Answers a call with checked, complete arguments, or raises `CallError`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinTool:
    """A built-in tool: a row of the table.

    Attributes:
        name: The tool's name. No widget may take it.
        input_schema: The schema of a closed object.
        reads: Normalises arguments before validation.
        example: Returns arguments for the end of an error. None for the smallest valid arguments.
        cost: Units of the caller's rate limit.
        waits: Whether it mostly waits and so takes no concurrency slot.
        asks: Returns the question to the user before the call, for clients with elicitation or
            cards. None to ask nothing.
        read_only: Whether calling it changes nothing.
        destructive: Whether it may replace existing data.
        app_only: Whether it is for the page of a widget and hidden from the model.
        listed: Whether clients list it. False where it can only fail.
        widget_argument: The argument with the name of a widget to call with `arguments`. Empty for
            none.
    """

    name: str
    description: str
    input_schema: Mapping[str, Any]
    handler: Handler
    reads: Callable[[Mapping[str, Any]], Mapping[str, Any]] = dict
    example: Callable[[ToolContext[Any]], Mapping[str, Any] | None] | None = None
    scope: str = READ
    cost: int = 1
    waits: bool = False
    asks: Callable[[ToolContext[Any], Mapping[str, Any]], ConsentQuestion | None] | None = None
    toolset: str = CORE
    read_only: bool = True
    destructive: bool = False
    app_only: bool = False
    listed: bool = True
    widget_argument: str = ""

    @property
    def entry_fields(self) -> dict[str, Any]:
        """Return the fields of its list entry. Empty defaults are left out to save tokens.

        Source: MCP Apps 2026-01-26, "Tool visibility".
        """
        properties = {
            name: {key: value for key, value in constraints.items() if key != "default" or value}
            for name, constraints in self.input_schema["properties"].items()
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
        return entry(self.entry_fields)


Reader = Callable[[ToolContext[Any], str], Awaitable[str | bytes | None]]
"""Reads a resource for a value of its variable ("" without a variable), or returns None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuiltinResource:
    """A resource, or resource template, of a toolset.

    Attributes:
        uri: Its address, as `widgetd://keywords`. A variable at the end, as
            `widgetd://guide/{name}`, makes it a template.
        mime_types: Other media types, by the last part of the variable's value.
        values: Listed values of the variable.
    """

    uri: str
    name: str
    description: str
    mime_type: str
    mime_types: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    read: Reader
    values: tuple[str, ...] = ()
    scope: str
    toolset: str

    @property
    def stem(self) -> str:
        return self.uri.partition("{")[0]

    @property
    def is_template(self) -> bool:
        return "{" in self.uri

    @property
    def listed_uris(self) -> tuple[str, ...]:
        return (
            tuple(self.stem + value for value in self.values) if self.is_template else (self.uri,)
        )

    def mime_type_of(self, value: str) -> str:
        return self.mime_types.get(value.rpartition("/")[2], self.mime_type)

    def value_of(self, uri: str) -> str | None:
        """Return the variable's value in `uri`, "" without a variable, None for other addresses."""
        if not self.is_template:
            return "" if uri == self.uri else None
        return uri.removeprefix(self.stem) if uri.startswith(self.stem) else None


class BuiltinTools(Mapping[str, BuiltinTool]):
    """The tools of the active toolsets, by name.

    Attributes:
        reserved: The names of all rows. A setting must never rename a widget.

    Raises:
        ConfigError: Two have the same name (W0031).
    """

    def __init__(self, rows: Iterable[BuiltinTool], toolsets: Iterable[str] = ()) -> None:
        self._listed: dict[tuple[frozenset[str], bool], frozenset[str]] = {}
        self._toolsets = frozenset((CORE, *toolsets))
        named: dict[str, BuiltinTool] = {}
        for tool in rows:
            other = named.setdefault(tool.name, tool)
            if other is not tool:
                handlers = (getattr(row.handler, "func", row.handler) for row in (other, tool))
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

    def listed_for(self, scopes: frozenset[str], *, apps: bool) -> frozenset[str]:
        """Return the tools listed for a caller with these scopes, always with those of `core`.

        Tools for pages are listed only with `apps`.
        """
        names = self._listed.get((scopes, apps))
        if names is None:
            names = self._listed[scopes, apps] = frozenset(
                name
                for name, tool in self._tools.items()
                if (tool.toolset == CORE or (tool.scope in scopes and tool.listed))
                and (apps or not tool.app_only)
            )
        return names

    def entries(self, names: frozenset[str]) -> Mapping[str, bytes]:
        return {name: self._entries[name] for name in self._tools if name in names}

    def target_of(self, params: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
        """Return the name and the arguments of the widget of a call, as they were sent."""
        name, arguments = params.get("name"), params.get("arguments")
        row = self._tools.get(name) if isinstance(name, str) else None
        if row is not None and row.widget_argument and isinstance(arguments, Mapping):
            read = row.reads(arguments)
            name, arguments = read.get(row.widget_argument), read.get("arguments")
        return (
            name if isinstance(name, str) else "",
            arguments if isinstance(arguments, Mapping) else {},
        )

    def check(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext[Any]
    ) -> Mapping[str, Any]:
        """Return the arguments of a call for the tool's handler.

        Raises:
            CallError: They do not fit the schema (W2002), or nest too deeply (W2003).
        """
        tool, schema = self._tools[name], self._schemas[name]
        properties = tool.input_schema["properties"]
        # Models write lists of strings in several ways.
        read = {
            key: strings(value) if properties.get(key, {}).get("type") == "array" else value
            for key, value in tool.reads(arguments).items()
        }
        example = tool.example
        checked = schema.check(read, example=example and partial(example, context))
        return schema.with_defaults(checked.arguments)

    async def call(
        self, name: str, arguments: Mapping[str, Any], context: ToolContext[Any]
    ) -> Result:
        tool = self._tools[name]
        try:
            checked = self.check(name, arguments, context)
            return await tool.handler(context.of(tool.toolset), checked)
        except CallError as error:
            return error_result(error)


class ReservedNames(Container[str]):
    """Names of tools, forbidden for widgets, whether or not a setting is on.

    A setting, or a keyword of a later release, must never rename a widget.
    """

    def __init__(self, rows: Iterable[BuiltinTool], prefixes: Iterable[str] = ()) -> None:
        self._names = frozenset(row.name for row in rows)
        self._prefixes = tuple(prefix for prefix in prefixes if prefix)

    def __contains__(self, name: object) -> bool:
        return name in self._names or (isinstance(name, str) and name.startswith(self._prefixes))


def closed_object(
    properties: Mapping[str, Any], *, required: Sequence[str] = ()
) -> Mapping[str, Any]:
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed, "additionalProperties": False}


def argument(kind: str, description: str, **constraints: Any) -> Mapping[str, Any]:
    return {"type": kind, "description": description, **constraints}


def strings(value: object) -> object:
    """Read a list of strings from an array, a JSON text, a comma list, one string or null."""
    if value is None:
        return []
    if not isinstance(value, str):
        return value  # the schema refuses it
    if value.lstrip().startswith("["):
        try:
            return orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return [part for part in (part.strip() for part in value.split(",")) if part]
