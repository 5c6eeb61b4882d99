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
from widgetd.widget.document import (
    VIEW,
    Document,
    Studio,
    jsx_again,
    parsed_again,
    read_document,
    read_jsx,
)
from widgetd.widget.hidden_characters import visible
from widgetd.widget.naming import JSX_SUFFIX, folders, kebab_case, stem, title, tool_name
from widgetd.widget.sidecar import Sidecar, read_sidecar

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
class Definition(Names):
    """What one file and its sidecar say.

    Attributes:
        path: The file, relative to the widgets folder.
        digest: Identifies the content of both.
        sidecar: What the sidecar says.
        content: The file's own text.
    """

    path: str
    digest: str
    sidecar: Sidecar
    content: bytes

    @property
    def names(self) -> Names:
        """What it is called, by itself."""
        return Names(name=self.name, tool=self.tool, title=self.title, description=self.description)

    @property
    def document(self) -> Document:
        """All that the file says."""
        if self.is_jsx:
            return jsx_again(self.content, stem(self.path))
        return parsed_again(self.content)

    @property
    def is_jsx(self) -> bool:
        """Whether an author wrote the file as JSX, by hand."""
        return self.path.endswith(JSX_SUFFIX)

    @property
    def view_at(self) -> str:
        """Where in the file the JSX stands, as a JSON pointer; empty where it is the file."""
        return "" if self.is_jsx else VIEW

    @property
    def format_version(self) -> str:
        """The version of Studio's format that the file says it is in."""
        version: str = self.document.content["version"]
        return version

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The argument schema, verbatim but for characters that nobody sees; None without one."""
        written = self.document.schema
        return self.sidecar.json_schema if written is None else written

    @property
    def template(self) -> str:
        """The Jinja text; empty where there is none."""
        return self.document.template

    @property
    def view(self) -> str:
        """Studio's JSX, which the template was made of; empty where there is none."""
        return self.document.view

    @property
    def studio(self) -> Studio | None:
        """Studio's own source of the widget; None where it is missing or not Studio's."""
        return self.document.studio

    @property
    def image_origins(self) -> frozenset[str]:
        """The origins that its images may come from: those in its template, and its author's."""
        return self.document.origins | frozenset(self.sidecar.image_origins)

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
        if source.path.endswith(JSX_SUFFIX):
            document = read_jsx(source.content, stem(source.path), limits)
        else:
            document = read_document(source.content, limits)
        tool = tool_name(document.name, source.path)
    except WidgetError as error:
        raise error.of(source.path) from None
    settings = read_sidecar(sidecar)
    name, file = visible(document.name), document.content
    schema = file.get("jsonSchema") or settings.json_schema or {}
    texts = (settings.description, file.get("description"), schema.get("description"))
    written = (visible(text).strip() for text in texts if isinstance(text, str) and text.strip())
    names = Names(
        name=name,
        tool=tool,
        title=visible(settings.title or title(name, source.path)),
        description=next(written, ""),
    )
    return redefine(source, sidecar, names, settings)


def redefine(
    source: Source, sidecar: Source | None, names: Names, settings: Sidecar | None = None
) -> Definition:
    """The definition that `define` made of the same file, at the same path, before."""
    return Definition(
        name=names.name,
        tool=names.tool,
        title=names.title,
        description=names.description,
        path=source.path,
        digest=digest(source, sidecar),
        sidecar=settings or read_sidecar(sidecar),
        content=source.content,
    )


def digest(source: Source, sidecar: Source | None) -> str:
    """Identifies the content of a file and its sidecar."""
    if sidecar is None:
        return source.digest
    return blake2b(f"{source.digest}+{sidecar.digest}".encode(), digest_size=16).hexdigest()
