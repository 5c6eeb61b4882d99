"""A definition, ready to be called: arguments in, widget tree out.

    arguments -> validate (coerce) -> fill defaults -> render -> tree

It knows one widget and nothing of folders, tools or time. A widget never changes;
each part is a pure function of the definition, made when it is first used. Before
a widget is served, all of them were made once, so that none can fail in a call;
what was made for the proof is then released, for most of many widgets are not called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

import orjson
from pydantic import BaseModel

from widgetd.errors import CallError, Finding, WidgetError
from widgetd.limits import AT_WORK, Limits
from widgetd.schema.json_text import FROM_JSX, is_jsx
from widgetd.schema.pydantic_model import build_signature, json_schema_to_pydantic, unwrap_models
from widgetd.schema.validator import Schema, ValidArguments, compile_schema, complete_root
from widgetd.template import Template, compile_template
from widgetd.text_search import compile_pattern
from widgetd.widget.action_checks import Checks, compile_checks
from widgetd.widget.components import chatkit_widgets, to_chatkit, tree, tree_and_json
from widgetd.widget.components.lucide import tool_icon
from widgetd.widget.definition import Definition, Names
from widgetd.widget.description import describe, sort_by_content
from widgetd.widget.export import Choice, Comparison, Source, choose, compared
from widgetd.widget.feed import Feed, compile_feed
from widgetd.widget.filling import Filler, compile_filler
from widgetd.widget.page_program import program_digest
from widgetd.widget.sidecar import SUFFIX
from widgetd.widget.summary import Summary, compile_summary

MOST_COMPILED = 1024
"""So many widgets keep their parts; a daemon that serves no more releases none."""

_BEGINNING = compile_pattern(r'\A\s*+\{\s*"type"\s*:\s*"([^"{\\]*)"')

CheckJsx = Callable[[str], None]
"""Raises `WidgetError` if parsing that JSX takes too much; blocks."""

if TYPE_CHECKING:
    from chatkit.widgets import DynamicWidgetRoot

    from widgetd.template.jsx import View


@dataclass(frozen=True, slots=True, kw_only=True)
class Render:
    """What one call came to.

    Attributes:
        tree: The widget root, `{"type": "Card", "children": [...]}`.
        json: The same as JSON.
        arguments: What the template saw: coerced, with defaults filled in.
        steps: How many the template took, of those that a render may take.
        coerced: What was coerced, as sentences; empty where the arguments were right.
    """

    tree: dict[str, Any]
    json: bytes
    arguments: Mapping[str, Any]
    steps: int
    coerced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """What is known of a proven widget; enough to list it without looking into its file.

    Attributes:
        names: What it is called.
        description: What the widget is for, in a sentence or two, for a model to choose by.
        listing: Identifies what a list of tools says of it.
        entry: How it stands in a list of tools, as JSON; empty where nobody has admitted it.
        source: What is drawn; empty where the file holds no JSX, so that there is no choice.
        program: The digest of its page's program; empty without one.
    """

    names: Names
    description: str
    listing: str
    program: str = ""
    entry: bytes = b""
    source: Source | Literal[""] = ""


class Widget:
    """One widget, as served.

    Attributes:
        definition: What the file and its sidecar say.

    Args:
        proof: What is known of it, if it was proven before.
        check_jsx: Called before unproven JSX is parsed in this process; None if nothing is to be.
    """

    def __init__(
        self,
        definition: Definition,
        *,
        limits: Limits,
        proof: Proof | None = None,
        check_jsx: CheckJsx | None = None,
    ) -> None:
        self.definition = definition
        self._limits = limits
        self._proof = proof
        self._check_jsx = check_jsx

    @cached_property
    def choice(self) -> Choice:
        """Which of the file's two sources is drawn, and why."""
        return choose(self)

    @property
    def source(self) -> Source | Literal[""]:
        """What is drawn; empty where the file holds no JSX, so that there is no choice."""
        return self.choice.source if self._proof is None else self._proof.source

    @cached_property
    def drawing(self) -> Template | View:
        """Makes the output from the arguments: the file's template, or its JSX."""
        return self.view if self.source == "view" else self.template

    @property
    def drawing_at(self) -> str:
        """Where in the file that stands, as a JSON pointer."""
        return self.definition.view_at if self.source == "view" else "/template"

    @cached_property
    def comparison(self) -> Comparison:
        """How the file's template and its JSX agree.

        Raises:
            WidgetError: One of the two cannot be compiled.
        """
        definition = self.definition
        assert definition.studio is not None  # noqa: S101 - only asked of a file that holds JSX
        _ = self.view
        return compared(definition.template, definition.studio, self.schema, self._limits)

    @cached_property
    def view(self) -> View:
        """The file's JSX, compiled."""
        from widgetd.template.jsx import compile_view  # noqa: PLC0415 - few files need it

        # The proof of a template says nothing of the JSX beside it.
        is_proven = self._proof is not None and self._proof.source == "view"
        with self._errors_within(self.definition.view_at):
            # A file that is nothing but JSX was checked before it was read.
            if not (self._check_jsx is None or is_proven or self.definition.is_jsx):
                self._check_jsx(self.definition.view)
            return compile_view(self.definition.view, limits=self._limits)

    @cached_property
    def template(self) -> Template:
        """The file's template, compiled."""
        with self._errors_within("/template"):
            return _template(self.definition.path, self.definition.template, self._limits)

    @cached_property
    def schema(self) -> Schema:
        """Decides which arguments are admitted."""
        written = self.definition.schema
        if written is None:  # an object with whatever is asked for
            try:
                names = self.template.names if self.definition.template.strip() else self.view.names
            except WidgetError:
                names = self.view.names
            written = {"type": "object", "properties": {name: {} for name in sorted(names)}}
        with self._errors_within("/jsonSchema"):
            text = repr(written)
            return _schema(_Written(self.definition.path, text, written), self._limits)

    @cached_property
    def summary(self) -> Summary:
        """What a model reads of a render."""
        schema = self.schema
        with self._errors_within(file=SUFFIX):
            return compile_summary(self.definition, schema, limits=self._limits)

    @cached_property
    def filler(self) -> Filler:
        """Fills in what calls need not say."""
        with self._errors_within(file=SUFFIX):
            return compile_filler(self.definition.sidecar, limits=self._limits)

    @cached_property
    def checks(self) -> Checks:
        """What is demanded of actions besides what their fields demand."""
        with self._errors_within(file=SUFFIX):
            return compile_checks(self.definition.sidecar, limits=self._limits)

    @cached_property
    def feed(self) -> Feed | None:
        """Where most of the arguments come from; None where the caller brings them all."""
        part, schema = self.definition.sidecar.feed, self.schema
        with self._errors_within(file=SUFFIX):
            return None if part is None else compile_feed(part, schema, limits=self._limits)

    @property
    def advertised(self) -> Mapping[str, Any]:
        """What a caller gives, as clients are told it: the author's schema, or its asked part.

        Where the file has a schema, and nothing fills the widget, nothing is compiled for this.
        """
        if self.definition.sidecar.feed is not None and self.feed is not None:
            return self.feed.asked.advertised
        written = None if "schema" in vars(self) else self.definition.schema
        return self.schema.advertised if written is None else complete_root(written)

    @property
    def description(self) -> str:
        """What the widget is for, in a sentence or two, for a model to choose by."""
        return self.prove().description

    @property
    def icon(self) -> str:
        """The icon of the tool, as a data URI; empty where what is drawn names none."""
        definition = self.definition
        return tool_icon(definition.view if self.source == "view" else definition.template)

    @property
    def listing(self) -> str:
        """Identifies what a list of tools says of this widget."""
        return self.prove().listing

    @property
    def program_digest(self) -> str:
        """The digest of its page's program; empty without one."""
        return self.prove().program

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
            self.compile()
            definition, schema = self.definition, self.schema
            schema = self.feed.asked if self.feed is not None else schema
            description = describe(definition, schema)
            said = (definition.title, description, schema.advertised, definition.tags)
            listed = (self.tool, *said, self.icon)
            listing = blake2b(orjson.dumps(listed), digest_size=8).hexdigest()
            self._proof = Proof(
                names=definition.names,
                description=description,
                listing=listing,
                program=program_digest(self),
                source=self.choice.source,
            )
        return self._proof

    def compile(self) -> None:
        """Have every part at hand, so that a call need make none.

        Raises:
            WidgetError: One cannot be made.
        """
        _ = self.drawing, self.schema, self.summary, self.filler, self.checks, self.feed

    def admitted(self, entry: bytes) -> None:
        """Keep how it stands in a list of tools, as whoever admitted it says."""
        self._proof = replace(self.prove(), entry=entry)

    def release(self) -> None:
        """Hold no part any more; each is made again when it is next used."""
        for name, made in vars(type(self)).items():
            if isinstance(made, cached_property):
                vars(self).pop(name, None)

    @contextmanager
    def _errors_within(self, pointer: str = "", *, file: str = "") -> Iterator[None]:
        """Say where an error raised within is: in the file, or in the one whose path goes on so."""
        try:
            yield
        except WidgetError as error:
            raise error.within(pointer).of(self.definition.path + file) from None

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
        """Arguments that this widget admits: the author's, else the smallest there are.

        The first that shows more than an empty state, else the first.
        """
        return self.schema.telling if self._authors is None else self._authors

    @property
    def call_example(self) -> Mapping[str, Any] | None:
        """Of the example, what a caller gives."""
        return self.example if self.feed is None else self.feed.example(self.example)

    @cached_property
    def _authors(self) -> Mapping[str, Any] | None:
        return next(iter(sort_by_content(self.examples)), None)

    @property
    def examples(self) -> tuple[Mapping[str, Any], ...]:
        """The author's arguments that this widget admits: the sidecar's, then Studio's sample."""
        studio = self.definition.studio
        given = [example.arguments for example in self.definition.sidecar.examples]
        given += [] if studio is None else [dict(studio.default_state)]
        return tuple(filter(self.schema.admits, given))

    def filled(self, arguments: Mapping[str, Any], identity: str = "") -> Mapping[str, Any]:
        """Arguments that the schema admits, as the template sees them.

        Args:
            arguments: By the schema's property names.
            identity: What ids are made of; by default the arguments themselves.
        """
        return self.filler.fill(self.schema.with_defaults(dict(arguments)), identity)

    def call(
        self, arguments: Mapping[str, Any], *, strict: bool = False, identity: str = ""
    ) -> Render:
        """Validate `arguments` and render them.

        Args:
            arguments: By the schema's property names.
            strict: Refuse arguments that would have to be coerced.
            identity: What ids are made of that the arguments leave out.

        Raises:
            CallError: The arguments do not fit, or the template fails on them.
        """
        return self.draw(self.check(arguments, strict=strict), identity=identity)

    def check(self, arguments: Mapping[str, Any], *, strict: bool = False) -> ValidArguments:
        """`arguments` as the author's schema admits them.

        Raises:
            CallError: They do not fit.
        """
        return self.schema.check(
            arguments if type(arguments) is dict else dict(arguments),
            strict=strict,
            sensitive=self.definition.sidecar.sensitive,
            example=lambda: self._authors,
        )

    def draw(self, checked: ValidArguments, *, identity: str = "") -> Render:
        """Render arguments that were checked.

        Raises:
            CallError: The template fails on them.
        """
        filled = self.filled(checked.arguments, identity)
        made = self.drawing.rendering(filled)
        try:
            root, json = tree_and_json(made.text)
        except WidgetError as error:
            # What is wrong is shown with the text around it, and with what was sent.
            shown = "" if self.definition.sidecar.sensitive else f": {error}"
            raise CallError("W2004", f"the template's output is no widget{shown}") from None
        return Render(
            tree=root, json=json, arguments=filled, steps=made.steps, coerced=checked.coerced
        )

    def tree(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """The tree that the template makes of `arguments`, which the schema admits.

        Raises:
            CallError: The template fails on them.
            WidgetError: Its output is no widget (W1305, W1306).
        """
        return tree(self.drawing.render(self.filled(arguments)))

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
        root: object = chatkit_widgets().DynamicWidgetRoot
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
            **{name: given.annotation for name, given in signature.parameters.items()},
            "return": returns,
        }
        return call


def compile_widget(
    definition: Definition, *, limits: Limits | None = None, check_jsx: CheckJsx | None = None
) -> Widget:
    """Prove that a definition can be served, and return its widget with all parts compiled.

    Raises:
        WidgetError: It cannot; the finding says where in the file and why.
    """
    widget = Widget(definition, limits=limits or Limits(), check_jsx=check_jsx)
    widget.prove()
    return widget


@dataclass(frozen=True, slots=True)
class _Written:
    """The schema of a file, and the text that it is known again by."""

    path: str
    text: str
    schema: Mapping[str, Any] = field(compare=False)


@lru_cache(maxsize=AT_WORK)
def _schema(written: _Written, limits: Limits) -> Schema:
    """The schema of a file, kept as its template is.

    Raises:
        WidgetError: It cannot be used.
    """
    return compile_schema(written.schema, limits=limits)


@lru_cache(maxsize=AT_WORK)
def _template(path: str, text: str, limits: Limits) -> Template:  # noqa: ARG001 - each file's own
    """The template of a file, kept for as long as a designer is at work on it.

    A save often changes something else in the file, and the first call follows upon it.

    Raises:
        WidgetError: Also where it begins with a root which is none, whatever the arguments, or
            is JSX.
    """
    if is_jsx(text):
        problem = "this is JSX, and not the template that Studio makes of it"
        raise WidgetError(Finding(code="W1305", problem=problem, advice=FROM_JSX))
    if begins := _BEGINNING.match(text):
        tree(orjson.dumps({"type": begins.group(1)}))
    return compile_template(text, limits=limits)


class CompiledCache:
    """The widgets that were called last; what is compiled of any other is released.

    A widget's parts are most of what it takes in memory, and are made when it is first called.
    Whoever calls it again has them made again.

    Args:
        most: How many widgets keep their parts.
    """

    def __init__(self, most: int = MOST_COMPILED) -> None:
        self._most = most
        self._called: WeakKeyDictionary[Widget, None] = WeakKeyDictionary()

    def called(self, widget: Widget) -> None:
        """Somebody calls `widget`; the one that was called longest ago may be released."""
        self._called.pop(widget, None)
        self._called[widget] = None
        if len(self._called) > self._most:
            oldest = next(iter(self._called))
            del self._called[oldest]
            oldest.release()
