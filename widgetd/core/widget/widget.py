"""Make a definition callable: arguments in, widget tree out.

    arguments -> validate (coerce) -> fill defaults -> render -> tree

A widget knows nothing of folders, tools or time, and never changes: each part is a pure function of
the definition, made on first use. Before a widget is served, the proof makes every part once, so
none can fail in a call. The parts are then released, because most of many widgets are never
called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import orjson
from pydantic import BaseModel

from widgetd.base.errors import CallError, Finding, WidgetError
from widgetd.base.limits import AT_WORK, Limits
from widgetd.base.text_search import compile_pattern
from widgetd.core import template as templates
from widgetd.core.schema.json_text import FROM_JSX, is_jsx
from widgetd.core.schema.pydantic_model import (
    build_signature,
    json_schema_to_pydantic,
    unwrap_models,
)
from widgetd.core.schema.validator import Schema, ValidArguments, compile_schema, complete_root
from widgetd.core.widget.action_checks import Checks, compile_checks
from widgetd.core.widget.bound_action import BoundAction, compile_bound_actions
from widgetd.core.widget.components import load_chatkit_widgets, parse_tree, to_chatkit, tree
from widgetd.core.widget.components.lucide import make_tool_icon
from widgetd.core.widget.definition import Definition, WidgetNames
from widgetd.core.widget.description import describe, sort_by_content
from widgetd.core.widget.feed import Feed, compile_feed
from widgetd.core.widget.filling import Filler, compile_filler
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.local_state import LocalState, compile_local_state
from widgetd.core.widget.page_program import page_digest
from widgetd.core.widget.sidecar import SUFFIX
from widgetd.core.widget.sources import Choice, Drawing, Source
from widgetd.core.widget.summary import Summary, compile_summary

_BEGINNING = compile_pattern(r'\A\s*+\{\s*"type"\s*:\s*"([^"{\\]*)"')

CheckJsx = Callable[[str], None]
"""Raises `WidgetError` if parsing that JSX exceeds its limits; blocks."""

Choose = Callable[["Widget"], Choice]
"""Chooses the source of a widget to render; raises `WidgetError` if none can be compiled."""

if TYPE_CHECKING:
    from chatkit.widgets import DynamicWidgetRoot

    from widgetd.core.template import Template
    from widgetd.core.template.jsx import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Render:
    """The result of a call.

    Attributes:
        tree: The widget root, `{"type": "Card", "children": [...]}`.
        json: The same as JSON.
        arguments: The template's arguments: coerced, with defaults filled in, and the state.
        steps: The steps of the template.
        coerced: A sentence for each coerced value.
        valid: The arguments after validation, before anything was filled in. None if no
            call drew the tree.
    """

    tree: dict[str, Any]
    json: bytes
    arguments: Mapping[str, Any]
    steps: int
    coerced: tuple[str, ...] = ()
    valid: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """The results of proving a widget, enough to list it without parsing its file.

    Attributes:
        names: The names of its definition.
        description: Its purpose in a sentence or two, for a model to choose by.
        listing: Identifies the content of its entry in a list of tools.
        entry: Its entry in a list of tools, as JSON, empty if it was not admitted.
        source: The drawn source, empty if the file has no JSX, so there is no choice.
        page: The digest of its page.
    """

    names: WidgetNames
    description: str
    listing: str
    page: str = ""
    entry: bytes = b""
    source: Source | Literal[""] = ""


class Widget:
    """A widget, as served.

    Attributes:
        definition: The content of the file and its sidecar.
        limits: The limits of its renders.
        folder: The folder of its file, where a program loaded it.

    Args:
        choose: Chooses the source to render, `widgetd.core.studio.choose` in all of widgetd.
        proof: The results of an earlier proof, if there was one.
        check_jsx: Called before unproven JSX is parsed in this process. None: no check.
    """

    def __init__(
        self,
        definition: Definition,
        *,
        choose: Choose,
        limits: Limits,
        proof: Proof | None = None,
        check_jsx: CheckJsx | None = None,
    ) -> None:
        self.definition = definition
        self.limits = limits
        self.folder = Path()
        self._choose = choose
        self._proof = proof
        self._check_jsx = check_jsx

    @cached_property
    def choice(self) -> Choice:
        """The file's drawn source, and the reason."""
        return self._choose(self)

    @property
    def source(self) -> Source | Literal[""]:
        """The drawn source, empty if the file has no JSX, so there is no choice."""
        return self.choice.source if self._proof is None else self._proof.source

    @cached_property
    def drawing(self) -> Drawing:
        """The compiled source of the output: the file's template or its JSX."""
        return self.view if self.source == "view" else self.template

    @property
    def drawing_at(self) -> str:
        return self.definition.view_at if self.source == "view" else "/template"

    @cached_property
    def view(self) -> View:
        from widgetd.core.template.jsx import View  # noqa: PLC0415 - few files need it

        # The proof of a template proves nothing about the JSX beside it.
        is_proven = self._proof is not None and self._proof.source == "view"
        with self._errors_within(self.definition.view_at):
            # A file in JSX was checked before it was read.
            if not (self._check_jsx is None or is_proven or self.definition.is_jsx):
                self._check_jsx(self.definition.view)
            return View(self.definition.view, self.limits)

    @cached_property
    def template(self) -> Template:
        with self._errors_within("/template"):
            return _compile_template(self.definition.path, self.definition.template, self.limits)

    @cached_property
    def schema(self) -> Schema:
        written = self.definition.schema
        if written is None:  # an object with the template's properties
            try:
                names = self.template.names if self.definition.template.strip() else self.view.names
            except WidgetError:
                names = self.view.names
            names -= self.definition.sidecar.state.keys()
            written = {"type": "object", "properties": {name: {} for name in sorted(names)}}
        with self._errors_within("/jsonSchema"):
            text = repr(written)
            return _compile_schema(_SchemaSource(self.definition.path, text, written), self.limits)

    @cached_property
    def summary(self) -> Summary:
        schema = self.schema
        with self._errors_within(file=SUFFIX):
            return compile_summary(self.definition, schema, limits=self.limits)

    @cached_property
    def filler(self) -> Filler:
        with self._errors_within(file=SUFFIX):
            return compile_filler(self.definition.sidecar, limits=self.limits)

    @cached_property
    def checks(self) -> Checks:
        with self._errors_within(file=SUFFIX):
            return compile_checks(self.definition.sidecar, limits=self.limits)

    @cached_property
    def bound_actions(self) -> Mapping[str, BoundAction]:
        with self._errors_within(file=SUFFIX):
            return compile_bound_actions(self.definition.sidecar, limits=self.limits)

    @cached_property
    def local(self) -> LocalState:
        properties = self.schema.advertised["properties"]
        with self._errors_within(file=SUFFIX):
            return compile_local_state(self.definition.sidecar, properties, limits=self.limits)

    @cached_property
    def feed(self) -> Feed | None:
        """The compiled feed, None if the caller brings all arguments."""
        parts, schema = self.definition.sidecar.feeds, self.schema
        with self._errors_within(file=SUFFIX):
            return compile_feed(parts, schema, limits=self.limits) if parts else None

    @property
    def input_schema(self) -> Mapping[str, Any]:
        """The input schema for clients: the author's schema, or its asked part.

        If the file has a schema and no feed, this compiles nothing.
        """
        if self.definition.sidecar.feeds and self.feed is not None:
            return self.feed.request_schema.advertised
        written = None if "schema" in vars(self) else self.definition.schema
        return self.schema.advertised if written is None else complete_root(written)

    @property
    def description(self) -> str:
        """The widget's purpose in a sentence or two, for a model to choose by."""
        return self.prove().description

    @property
    def icon(self) -> str:
        """The icon of the tool, as a data URI, empty if the drawn source names none."""
        definition = self.definition
        return make_tool_icon(definition.view if self.source == "view" else definition.template)

    @property
    def listing(self) -> str:
        """A digest of the content of its entry in a list of tools."""
        return self.prove().listing

    @property
    def page_digest(self) -> str:
        return self.prove().page

    @property
    def entry(self) -> bytes:
        """Its entry in a list of tools, as JSON, empty if it was not admitted."""
        return self.prove().entry

    def prove(self) -> Proof:
        """Compile every part, so none can fail later, and return the proof, cached.

        Raises:
            WidgetError: A part fails. The finding says where in the file and why.
        """
        if self._proof is None:
            self.compile()
            definition = self.definition
            schema = self.schema if self.feed is None else self.feed.request_schema
            description = describe(definition, schema)
            texts = (definition.title, description, schema.advertised, definition.tags)
            content = orjson.dumps((self.tool, *texts, self.icon))
            listing = blake2b(content, digest_size=8).hexdigest()
            self._proof = Proof(
                names=definition.names,
                description=description,
                listing=listing,
                page=page_digest(self),
                source=self.choice.source,
            )
        return self._proof

    def compile(self) -> None:
        """Make every part, so a call need not.

        Raises:
            WidgetError: A part cannot be made.
        """
        _ = self.drawing, self.schema, self.summary, self.filler, self.checks, self.local
        _ = self.feed, self.bound_actions

    def set_entry(self, entry: bytes) -> None:
        self._proof = replace(self.prove(), entry=entry)

    def release(self) -> None:
        """Drop all parts. Each is made again on its next use."""
        for name, attribute in vars(type(self)).items():
            if isinstance(attribute, cached_property):
                vars(self).pop(name, None)

    @contextmanager
    def _errors_within(self, pointer: str = "", *, file: str = "") -> Iterator[None]:
        """Add the place to errors raised inside: in the file, or in the file with this suffix."""
        try:
            yield
        except WidgetError as error:
            raise error.within(pointer).of(self.definition.path + file) from None

    # What the definitions of mcp-chatkit-widget have: its users change the import alone.
    name = property(attrgetter("definition.name"))
    version = property(attrgetter("definition.format_version"))
    json_schema = property(attrgetter("definition.schema"))
    preview = output_json_preview = property(attrgetter("definition.document.preview"))
    encoded = encoded_widget = property(attrgetter("definition.document.encoded_studio"))
    file_path = property(lambda widget: widget.folder / widget.definition.path)

    def __repr__(self) -> str:
        return f"<Widget {self.tool!r} from {self.definition.path!r}>"

    @property
    def tool(self) -> str:
        return self.definition.tool

    @property
    def key(self) -> str:
        return self.definition.digest

    @property
    def example(self) -> Mapping[str, Any]:
        """Valid arguments: the author's, else the smallest, empty if none are known.

        The first example with more than an empty state, else the first.
        """
        return self.known_example or {}

    @cached_property
    def known_example(self) -> Mapping[str, Any] | None:
        """The value of `example`, None if no valid arguments are known."""
        return self.schema.telling if self._authors is None else self._authors

    @property
    def call_example(self) -> Mapping[str, Any] | None:
        """The caller's part of the example."""
        return self.known_example if self.feed is None else self.feed.example(self.example)

    @cached_property
    def _authors(self) -> Mapping[str, Any] | None:
        return next(iter(sort_by_content(self.examples)), None)

    @property
    def examples(self) -> tuple[Mapping[str, Any], ...]:
        """The author's valid arguments: the sidecar's, then Studio's sample."""
        studio = self.definition.studio
        arguments = [example.arguments for example in self.definition.sidecar.examples]
        arguments += [] if studio is None else [dict(studio.default_state)]
        return tuple(filter(self.schema.admits, arguments))

    def fill(
        self,
        arguments: Mapping[str, Any],
        identity: str = "",
        state: Mapping[str, Any] | None = None,
    ) -> Mapping[str, Any]:
        """Fill in defaults, ids, derived arguments and the local state.

        Args:
            arguments: Valid arguments, by property.
            identity: The source of ids, by default the arguments themselves.
            state: The complete local state, None for the initial state.
        """
        state = self.definition.sidecar.state if state is None else state
        return self.filler.fill(self.schema.with_defaults(dict(arguments)), identity, state)

    def call(
        self, arguments: Mapping[str, Any], *, strict: bool = False, identity: str = ""
    ) -> Render:
        """Validate `arguments` and render them.

        Args:
            arguments: The arguments, by property.
            strict: Do not coerce.
            identity: The source of ids absent from the arguments.

        Raises:
            CallError: The arguments are invalid, or the template fails on them.
        """
        return self.draw(self.check(arguments, strict=strict), identity=identity)

    def check(self, arguments: Mapping[str, Any], *, strict: bool = False) -> ValidArguments:
        """Validate `arguments` against the author's schema, with coercion.

        Raises:
            CallError: They are invalid.
        """
        return self.schema.check(
            arguments if type(arguments) is dict else dict(arguments),
            strict=strict,
            sensitive=self.definition.sidecar.sensitive,
            example=lambda: self._authors,
        )

    def draw(
        self,
        checked: ValidArguments,
        *,
        identity: str = "",
        state: Mapping[str, Any] | None = None,
    ) -> Render:
        """Render valid arguments.

        Args:
            checked: The arguments.
            identity: The source of ids absent from the arguments.
            state: The complete local state, None for the initial state.

        Raises:
            CallError: The template fails on them.
        """
        filled = self.fill(checked.arguments, identity, state)
        output = self.drawing.rendering(filled)
        try:
            root, json = parse_tree(output.text)
        except WidgetError as error:
            # The error quotes the output around it, perhaps with sensitive arguments.
            reason = "" if self.definition.sidecar.sensitive else f": {error}"
            raise CallError("W2004", f"the template's output is no widget{reason}") from None
        return Render(
            tree=root,
            json=json,
            arguments=filled,
            steps=output.steps,
            coerced=checked.coerced,
            valid=checked.arguments,
        )

    def tree(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Render valid `arguments` to a tree.

        Raises:
            CallError: The template fails on them.
            WidgetError: Its output is no widget (W1305, W1306).
        """
        return tree(self.drawing.render(self.fill(arguments)))

    @cached_property
    def Arguments(self) -> type[BaseModel]:  # noqa: N802 - it is a class, and named as one
        """The arguments as a pydantic model, equivalent to the schema."""
        name = self.definition.component
        return json_schema_to_pydantic(self.schema.advertised, f"{name}Model", f"{name}Arguments")

    @cached_property
    def render(self) -> Callable[..., dict[str, Any]]:
        """Render keyword arguments to a tree, `{"type": "Card", "children": [...]}`.

        Its signature has an annotated keyword parameter for each property with a possible name.
        Pass the others as `**{"a-b": ...}`.

        Raises:
            CallError: The arguments are invalid, or the template fails on them.
        """
        return self._keyword_call(lambda tree: tree, dict[str, Any])

    @cached_property
    def build(self) -> Callable[..., DynamicWidgetRoot]:
        """Render keyword arguments to a root for a ChatKit server to stream.

        Raises:
            CallError: The arguments are invalid, or the template fails on them.
        """
        root: object = load_chatkit_widgets().DynamicWidgetRoot
        return self._keyword_call(to_chatkit, root)

    def _keyword_call(
        self, convert: Callable[[dict[str, Any]], Any], returns: object
    ) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            return convert(self.call(unwrap_models(arguments)).tree)

        call.__name__ = self.definition.component
        call.__doc__ = self.description
        signature = build_signature(self.Arguments).replace(return_annotation=returns)
        call.__signature__ = signature  # type: ignore[attr-defined]  # functions take any attribute
        call.__annotations__ = {
            **{name: parameter.annotation for name, parameter in signature.parameters.items()},
            "return": returns,
        }
        return call


@dataclass(frozen=True, slots=True)
class _SchemaSource:
    """The schema of a file, and its text as a key in a cache."""

    path: str
    text: str
    schema: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=AT_WORK)
def _compile_schema(written: _SchemaSource, limits: Limits) -> Schema:
    return compile_schema(written.schema, limits=limits)


@lru_cache(maxsize=AT_WORK)
def _compile_template(path: str, text: str, limits: Limits) -> Template:  # noqa: ARG001 - each file's own
    """Compile a file's template, cached while a designer works on the file.

    A save often changes another part of the file, and the first call follows soon.
    """
    if is_jsx(text):
        problem = "this is JSX, and not the template that Studio makes of it"
        raise WidgetError(Finding(code="W1305", problem=problem, advice=FROM_JSX))
    if begins := _BEGINNING.match(text):
        tree(orjson.dumps({"type": begins.group(1)}))
    return templates.compile_template(text, limits=limits)


class CompiledCache:
    """The most recently called widgets with compiled parts. Others release them.

    The parts take most of a widget's memory, and are made again by the next call.
    """

    def __init__(self, most: int = LIMITS.compiled_widgets) -> None:
        self._most = most
        self._by_last_call: WeakKeyDictionary[Widget, None] = WeakKeyDictionary()

    def touch(self, widget: Widget) -> None:
        """Record a call of `widget`, and release the widget with the oldest last call."""
        self._by_last_call.pop(widget, None)
        self._by_last_call[widget] = None
        if len(self._by_last_call) > self._most:
            oldest = next(iter(self._by_last_call))
            del self._by_last_call[oldest]
            oldest.release()
