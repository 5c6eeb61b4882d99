"""Define a widget by its `.widget` file and its sidecar.

A daemon may serve ten thousand widgets, so a definition keeps the bytes of its file and its names.
Everything else is parsed from the bytes on demand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

from widgetd.base.errors import WidgetError
from widgetd.base.files.source import Source
from widgetd.base.limits import DEFAULTS, Limits
from widgetd.core.schema.pydantic_model import camel_case
from widgetd.core.widget.document import (
    VIEW,
    Studio,
    WidgetDocument,
    read_document,
    read_jsx,
    reparse_document,
    reparse_jsx,
)
from widgetd.core.widget.hidden_characters import strip_hidden
from widgetd.core.widget.images import find_literal_origins
from widgetd.core.widget.naming import (
    JSX_SUFFIX,
    folders,
    make_title,
    make_tool_name,
    stem,
    to_kebab_case,
)
from widgetd.core.widget.sidecar import Sidecar, read_sidecar


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetNames:
    """The names of a definition, enough to restore it without parsing its file.

    Attributes:
        name: As the file says it, without hidden characters.
        tool: The name of the MCP tool.
        title: The name for people.
        description: The sidecar's, else the file's, else the schema's, or empty.
    """

    name: str
    tool: str
    title: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition(WidgetNames):
    """The content of a file and its sidecar.

    Attributes:
        path: The file, relative to the widgets folder.
        digest: Identifies the content of both.
        sidecar: The sidecar's settings.
        content: The file's own text.
    """

    path: str
    digest: str
    sidecar: Sidecar
    content: bytes

    @property
    def names(self) -> WidgetNames:
        return WidgetNames(
            name=self.name, tool=self.tool, title=self.title, description=self.description
        )

    @property
    def document(self) -> WidgetDocument:
        if self.is_jsx:
            return reparse_jsx(self.content, stem(self.path))
        return reparse_document(self.content)

    @property
    def is_jsx(self) -> bool:
        """True if an author wrote the file by hand, as JSX."""
        return self.path.endswith(JSX_SUFFIX)

    @property
    def view_at(self) -> str:
        """The JSON pointer of the JSX in the file, empty if it is the whole file."""
        return "" if self.is_jsx else VIEW

    @property
    def format_version(self) -> str:
        return str(self.document.content["version"])

    @property
    def schema(self) -> Mapping[str, Any] | None:
        written = self.document.schema
        return self.sidecar.json_schema if written is None else written

    @property
    def template(self) -> str:
        return self.document.template

    @property
    def view(self) -> str:
        """Studio's JSX, the source of the template, or empty."""
        return self.document.view

    @property
    def studio(self) -> Studio | None:
        """Studio's own source of the widget, None if it is missing or not Studio's."""
        return self.document.studio

    @property
    def image_origins(self) -> frozenset[str]:
        """The origins of whole addresses of images in its source, and the sidecar's."""
        # Origins in arguments are unknown here. An operator may allow more.
        has_template = bool(self.template.strip())
        literal = find_literal_origins(self.template if has_template else self.view, has_template)
        return literal | frozenset(self.sidecar.image_origins)

    @property
    def ui_type(self) -> str:
        return self.sidecar.ui_type or to_kebab_case(self.tool)

    @property
    def component(self) -> str:
        return camel_case(self.tool)

    @property
    def tags(self) -> tuple[str, ...]:
        """The sidecar's tags, and the file's subfolders."""
        return tuple(dict.fromkeys(self.sidecar.tags + folders(self.path)))


def define(
    source: Source, sidecar: Source | None = None, *, limits: Limits = DEFAULTS
) -> Definition:
    """Check the shape of a file and its sidecar.

    Raises:
        WidgetError: Either cannot be used. The finding says where.
    """
    try:
        if source.path.endswith(JSX_SUFFIX):
            document = read_jsx(source.content, stem(source.path), limits)
        else:
            document = read_document(source.content, limits)
        tool = make_tool_name(document.name, source.path)
    except WidgetError as error:
        raise error.of(source.path) from None
    settings = read_sidecar(sidecar)
    name, file = strip_hidden(document.name), document.content
    schema = file.get("jsonSchema") or settings.json_schema or {}
    texts = (settings.description, file.get("description"), schema.get("description"))
    written = (
        strip_hidden(text).strip() for text in texts if isinstance(text, str) and text.strip()
    )
    names = WidgetNames(
        name=name,
        tool=tool,
        title=strip_hidden(settings.title or make_title(name, source.path)),
        description=next(written, ""),
    )
    return redefine(source, sidecar, names, settings)


def redefine(
    source: Source, sidecar: Source | None, names: WidgetNames, settings: Sidecar | None = None
) -> Definition:
    """Restore a definition made by `define` of the same file, at the same path."""
    return Definition(
        name=names.name,
        tool=names.tool,
        title=names.title,
        description=names.description,
        path=source.path,
        digest=compute_digest(source, sidecar),
        sidecar=settings or read_sidecar(sidecar),
        content=source.content,
    )


def compute_digest(source: Source, sidecar: Source | None) -> str:
    return join_digests(source.digest, "" if sidecar is None else sidecar.digest)


def join_digests(source: str, sidecar: str) -> str:
    """Return the digest of a file and its sidecar together, empty without a file's."""
    if not sidecar:
        return source
    return blake2b(f"{source}+{sidecar}".encode(), digest_size=16).hexdigest()
