"""A source whose shape was checked: what a `.widget` file says, and its sidecar.

A widget may be one of ten thousand, so what is held of a file are its bytes, and what
names it; all else is read from those bytes when somebody asks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from widgetd.errors import WidgetError
from widgetd.files.source import Source
from widgetd.limits import Limits
from widgetd.schema.pydantic_model import camel_case
from widgetd.widget.document import Export, opened, read_export
from widgetd.widget.hidden_characters import visible
from widgetd.widget.naming import (
    folders,
    kebab_case,
    title,
    tool_name,
)
from widgetd.widget.sidecar import Sidecar, read_sidecar
from widgetd.widget.studio import Studio

DEFAULTS = Limits()


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """What a definition holds of its file; enough to have the definition again without reading it.

    Attributes:
        name: As the file says it, without the characters that nobody sees.
        tool: The name of the MCP tool.
        title: What people call the widget.
        description: The sidecar's, else the file's, else the schema's; empty where none has one.
    """

    name: str
    tool: str
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """What one file and its sidecar say.

    Attributes:
        path: The file, relative to the widgets folder.
        digest: Identifies the content of both.
        names: What it is called.
        sidecar: What the sidecar says.
        content: The file's own text.
    """

    path: str
    digest: str
    names: Names
    sidecar: Sidecar
    content: bytes

    @property
    def name(self) -> str:
        """The name that the file gives, without the characters that nobody sees."""
        return self.names.name

    @property
    def tool(self) -> str:
        """The name of the MCP tool."""
        return self.names.tool

    @property
    def title(self) -> str:
        """What people call the widget."""
        return self.names.title

    @property
    def description(self) -> str:
        """What its authors say of it; empty where they say nothing."""
        return self.names.description

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The argument schema, verbatim but for characters that nobody sees; None without one."""
        return opened(self.content).schema

    @property
    def template(self) -> str:
        """The Jinja text."""
        return opened(self.content).template

    @property
    def preview(self) -> Mapping[str, Any] | None:
        """The tree that Studio made of its own sample."""
        return opened(self.content).preview

    @property
    def encoded(self) -> str | None:
        """Studio's package, as it stands."""
        return opened(self.content).encoded

    @property
    def studio(self) -> Studio | None:
        """The same, decoded; None where it is missing or not Studio's."""
        return opened(self.content).studio

    @property
    def extra(self) -> Mapping[str, Any]:
        """The keys of the file that nothing here knows."""
        return opened(self.content).extra

    @property
    def ui_type(self) -> str:
        """The type of response, in kebab-case."""
        return self.sidecar.ui_type or kebab_case(self.tool)

    @property
    def component(self) -> str:
        """The name of the widget as a class: `FlightTracker`."""
        return camel_case(self.tool)

    @property
    def tags(self) -> tuple[str, ...]:
        """The sidecar's tags, and the subfolders that the file lies in."""
        return tuple(dict.fromkeys(self.sidecar.tags + folders(self.path)))


def define(
    source: Source, sidecar: Source | None = None, *, limits: Limits = DEFAULTS
) -> Definition:
    """Check the shape of a file and its sidecar.

    Raises:
        WidgetError: One of the two cannot be used as it stands; the finding says which, and where.
    """
    try:
        export = read_export(source.content, limits)
        tool = tool_name(export.name, source.path)
    except WidgetError as error:
        raise error.of(source.path) from None
    said = read_sidecar(sidecar)
    name = visible(export.name)
    names = Names(
        name=name,
        tool=tool,
        title=visible(said.title or title(name, source.path)),
        description=_description(said, export),
    )
    return _definition(source, sidecar, said, names)


def redefine(source: Source, sidecar: Source | None, names: Names) -> Definition:
    """The definition that `define` made of the same file, at the same path, before."""
    return _definition(source, sidecar, read_sidecar(sidecar), names)


def _definition(source: Source, sidecar: Source | None, said: Sidecar, names: Names) -> Definition:
    return Definition(
        path=source.path,
        digest=digest(source, sidecar),
        names=names,
        sidecar=said,
        content=source.content,
    )


def digest(source: Source, sidecar: Source | None) -> str:
    """Identifies the content of a file and its sidecar."""
    if sidecar is None:
        return source.digest
    return blake2b(f"{source.digest}+{sidecar.digest}".encode(), digest_size=16).hexdigest()


def _description(said: Sidecar, export: Export) -> str:
    schema = export.said.get("jsonSchema") or {}
    for told in (said.description, export.said.get("description"), schema.get("description")):
        if isinstance(told, str) and told.strip():
            return visible(told).strip()
    return ""
