"""A definition, ready to be called: arguments in, widget tree out.

    arguments -> validate (mend) -> fill defaults -> render -> tree

It knows one widget and nothing of folders, tools or time. A widget never changes;
each part is a pure function of the definition, made when it is first used. Before
a widget is served, all of them were made once, so that none can fail in a call;
what was made for the proof is then let go, for most of many widgets are not called.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import BaseModel

from widgetd.errors import CallError, WidgetError
from widgetd.limits import Limits
from widgetd.schema.pydantic_model import json_schema_to_pydantic, signature_of
from widgetd.schema.validator import Schema, advertised, compile_schema
from widgetd.template import Template, compile_template
from widgetd.widget.components import to_chatkit, tree
from widgetd.widget.definition import Definition, Names
from widgetd.widget.description import purpose
from widgetd.widget.summary import Facts, compile_facts

_BEGINNING = re.compile(r'\s*\{\s*"type"\s*:\s*"([^"{\\]*)"')

MOST_WARM = 16
"""So many files are being worked on at a time."""

if TYPE_CHECKING:
    from chatkit.widgets import DynamicWidgetRoot


@dataclass(frozen=True, slots=True, kw_only=True)
class Render:
    """What one call came to.

    Attributes:
        tree: The widget root, `{"type": "Card", "children": [...]}`.
        arguments: What the template saw: mended, with defaults filled in.
        size_bytes: The length of the template's output, which is about that of the tree.
        steps: How many the template took, of those that a render may take.
        mended: What was mended, as sentences; empty where the arguments were right.
    """

    tree: dict[str, Any]
    arguments: Mapping[str, Any]
    size_bytes: int
    steps: int
    mended: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of a proven widget; enough to list it without looking into its file.

    Attributes:
        names: What it is called.
        description: What the widget is for, in a sentence or two, for a model to choose by.
        listing: Identifies what a list of tools says of it.
        entry: How it stands in a list of tools, as JSON; empty where nobody has admitted it.
    """

    names: Names
    description: str
    listing: str
    entry: bytes = b""


class Widget:
    """One widget, as served.

    Attributes:
        definition: What the file and its sidecar say.
    """

    def __init__(
        self, definition: Definition, *, limits: Limits, proof: Proof | None = None
    ) -> None:
        self.definition = definition
        self._limits = limits
        self._proof = proof

    @cached_property
    def template(self) -> Template:
        """Makes the output from the arguments."""
        with self._placed("/template"):
            return _template(self.definition.path, self.definition.template, self._limits)

    @cached_property
    def schema(self) -> Schema:
        """Decides which arguments are admitted."""
        written = self.definition.schema
        if written is None:
            written = _open_object(self.template.names)
        with self._placed("/jsonSchema"):
            return compile_schema(written, limits=self._limits)

    @cached_property
    def facts(self) -> Facts:
        """What a model is told of a render."""
        return compile_facts(self.definition, self.schema, limits=self._limits)

    @property
    def advertised(self) -> Mapping[str, Any]:
        """The schema as clients are told it; where the file has one, nothing is compiled."""
        written = None if "schema" in vars(self) else self.definition.schema
        return self.schema.advertised if written is None else advertised(written)

    @property
    def description(self) -> str:
        """What the widget is for, in a sentence or two, for a model to choose by."""
        return self.prove().description

    @property
    def listing(self) -> str:
        """Identifies what a list of tools says of this widget."""
        return self.prove().listing

    @property
    def entry(self) -> bytes:
        """How it stands in a list of tools, as JSON; empty where nobody has admitted it."""
        return self.prove().entry

    def prove(self) -> Proof:
        """Compile every part, so that none can fail later; once, if nobody did before.

        Raises:
            WidgetError: One does; the finding says where in the file and why.
        """
        if self._proof is None:
            _ = self.template, self.schema, self.facts
            description = purpose(self.definition, self.schema)
            self._proof = Proof(
                names=self.definition.names,
                description=description,
                listing=self._listing(description),
            )
        return self._proof

    def admitted(self, entry: bytes) -> None:
        """Keep how it stands in a list of tools, as whoever admitted it says."""
        self._proof = replace(self.prove(), entry=entry)

    def let_go(self) -> None:
        """Hold no part any more; each is made again when it is next used."""
        for name, made in vars(type(self)).items():
            if isinstance(made, cached_property):
                vars(self).pop(name, None)

    def _listing(self, description: str) -> str:
        definition = self.definition
        said = (
            self.tool,
            definition.title,
            description,
            self.schema.advertised,
            definition.tags,
        )
        return blake2b(orjson.dumps(said), digest_size=8).hexdigest()

    @contextmanager
    def _placed(self, pointer: str) -> Iterator[None]:
        """Say of which file, and where in it, an error is that is raised within."""
        try:
            yield
        except WidgetError as error:
            raise error.within(pointer).of(self.definition.path) from None

    def __repr__(self) -> str:
        return f"<Widget {self.tool!r} from {self.definition.path!r}>"

    @property
    def tool(self) -> str:
        """The name of the MCP tool."""
        return self.definition.tool

    @property
    def key(self) -> str:
        """Identifies the content that this widget was compiled from."""
        return self.definition.digest

    @cached_property
    def example(self) -> Mapping[str, Any] | None:
        """Arguments that this widget admits: the author's first example, else the smallest."""
        for example in self.definition.sidecar.examples:
            if self.schema.admits(example.arguments):
                return example.arguments
        return self.schema.smallest

    def call(self, arguments: Mapping[str, Any], *, strict: bool = False) -> Render:
        """Validate `arguments` and render them.

        Args:
            arguments: By the schema's property names.
            strict: Refuse arguments that would have to be mended.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        sensitive = self.definition.sidecar.sensitive
        checked = self.schema.check(dict(arguments), strict=strict, sensitive=sensitive)
        filled = self.schema.with_defaults(checked.arguments)
        made = self.template.rendering(filled)
        try:
            root = tree(made.text)
        except WidgetError as error:
            # What is wrong is shown with the text around it, and with what was sent.
            told = "" if sensitive else f": {error}"
            raise CallError("W2004", f"the template's output is no widget{told}") from None
        return Render(
            tree=root,
            arguments=filled,
            size_bytes=len(made.text),
            steps=made.steps,
            mended=checked.mended,
        )

    @cached_property
    def Arguments(self) -> type[BaseModel]:  # noqa: N802 - it is a class, and named as one
        """The arguments as a pydantic model; it admits what the schema admits."""
        name = self.definition.component
        return json_schema_to_pydantic(self.schema.advertised, f"{name}Model", f"{name}Arguments")

    @cached_property
    def render(self) -> Callable[..., dict[str, Any]]:
        """Render keyword arguments to a tree, `{"type": "Card", "children": [...]}`.

        Its signature has one annotated keyword parameter for each property that can be one; the
        others are given as `**{"a-b": ...}`.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        return self._keyword_call(lambda tree: tree, dict[str, Any])

    @cached_property
    def build(self) -> Callable[..., DynamicWidgetRoot]:
        """Render keyword arguments to a root that a ChatKit server can stream.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        return self._keyword_call(to_chatkit, "DynamicWidgetRoot")

    def _keyword_call(
        self, convert: Callable[[dict[str, Any]], Any], returns: object
    ) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            return convert(self.call(_plain(arguments)).tree)

        call.__name__ = self.definition.component
        call.__doc__ = self.description
        signature = signature_of(self.Arguments).replace(return_annotation=returns)
        call.__signature__ = signature  # type: ignore[attr-defined]  # functions take any attribute
        return call


def _plain(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments as JSON values: parts may be given as the models of `Widget.Arguments`."""
    return {name: _dumped(value) for name, value in arguments.items()}


def _dumped(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return value.model_dump(by_alias=True, exclude_unset=True)
    if isinstance(value, list):
        return [_dumped(element) for element in value]
    return value


def compile_widget(definition: Definition, *, limits: Limits | None = None) -> Widget:
    """Prove that a definition can be served, and make it ready.

    Raises:
        WidgetError: It cannot; the finding says where in the file and why.
    """
    widget = Widget(definition, limits=limits or Limits())
    widget.prove()
    return widget


@lru_cache(maxsize=MOST_WARM)
def _template(path: str, text: str, limits: Limits) -> Template:  # noqa: ARG001 - each file's own
    """The template of a file, kept for as long as a designer is at work on it.

    A save often changes something else in the file, and the first call follows upon it.
    """
    _demand_root(text)
    return compile_template(text, limits=limits)


def _demand_root(template: str) -> None:
    """Refuse a template that begins with a root which is none, whatever the arguments."""
    if begins := _BEGINNING.match(template):
        tree(orjson.dumps({"type": begins.group(1)}))


def _open_object(names: frozenset[str]) -> Mapping[str, Any]:
    """The schema of a file that has none: an object with whatever the template asks for."""
    return {"type": "object", "properties": {name: {} for name in sorted(names)}}
