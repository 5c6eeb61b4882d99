"""Every rule that a widget is held to, with its codes and what it needs to know."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from widgetd.checks import exporter, images, renders, schemas, texts
from widgetd.checks.declared_paths import DeclaredPaths
from widgetd.errors import Finding
from widgetd.schema.json_text import decode
from widgetd.schema.validator import Schema
from widgetd.widget.actions import WidgetAction
from widgetd.widget.actions.widget_actions import VARIANTS, actions_in
from widgetd.widget.definition import Definition
from widgetd.widget.document import Studio
from widgetd.widget.feed import Feed
from widgetd.widget.samples import GENERATED, Sample, list_examples, list_studio_samples
from widgetd.widget.widget import Widget


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing to look for.

    Attributes:
        codes: What its findings are called.
        needs: Attributes of a `Subject`, which it is called with; where one is None, it is not.
        function: Finds it.
    """

    codes: tuple[str, ...]
    needs: tuple[str, ...]
    function: Callable[..., Iterable[Finding]]


RULES = (
    Rule(("W1114",), ("file",), texts.misspelt_keys),
    Rule(("W1110",), ("definition",), texts.unreadable_package),
    Rule(("W1115",), ("file", "definition"), texts.hidden_characters),
    Rule(("W1116", "W1117"), ("definition",), texts.description),
    Rule(
        ("W1307", "W1308", "W1309", "W1325", "W1326"),
        ("widget", "outcomes"),
        exporter.template_warnings,
    ),
    Rule(("W1324",), ("template",), exporter.wrapped_data),
    Rule(("W1328",), ("widget", "schema"), exporter.read_otherwise),
    Rule(("W1215",), ("widget",), schemas.guessed),
    Rule(("W1320", "W1321"), ("widget", "declared", "strict"), schemas.undeclared),
    Rule(("W1212",), ("schema",), schemas.portability),
    Rule(("W1210",), ("widget", "declared", "outcomes"), schemas.unused),
    Rule(("W1213",), ("definition", "declared"), schemas.unknown_sidecar_fields),
    Rule(("W1213",), ("widget", "declared"), schemas.undeclared_by_sidecar),
    Rule(("W1211",), ("schema",), schemas.unfit_defaults),
    Rule(("W1211",), ("widget", "authored"), schemas.unfit_samples),
    Rule(("W1305", "W1306", "W1310", "W1322"), ("outcomes",), renders.failures),
    Rule(tuple(f"W140{n}" for n in range(1, 8)), ("outcomes", "texts"), renders.unknown_words),
    Rule(("W1323",), ("widget", "studio", "preview"), renders.preview_differences),
    Rule(("W1408",), ("actions",), renders.hidden_fields),
    Rule(("W1410",), ("definition", "outcomes", "image_origins"), images.unloadable),
    Rule(("W1214",), ("definition", "actions"), texts.described_in_vain),
    Rule(("W1601",), ("feed", "definition", "upstreams"), texts.unknown_upstream),
    Rule(("W1603",), ("feed", "definition"), texts.unknown_feed_fields),
)
"""In the order of what they are about in a file."""


CAUSES: Mapping[str, frozenset[str]] = {
    "W1215": frozenset({"W1114"}),
    "W1407": frozenset({"W1320", "W1321"}),
    "W1410": frozenset({"W1211"}),
}
"""Codes of what may be there only because of something else, and is not said beside that.

A schema under a misspelt key is none. What is read and not declared is null, and a component
loses its properties that are null. A sample that does not fit is not drawn, and shows no images.
"""


class Subject:
    """A widget, and what rules need to know of it; None where there is no such thing.

    Args:
        widget: Compiled; of a mere definition only what needs no compiling is known.
        strict: Whether it is a fault that a template reads what its schema does not declare.
        image_origins: Origins that images may come from in every widget.
        upstreams: The names of those that are declared; None where nobody says.
    """

    def __init__(
        self,
        widget: Widget | Definition,
        *,
        strict: bool,
        image_origins: Collection[str] = (),
        upstreams: Collection[str] | None = None,
    ) -> None:
        self.upstreams = upstreams
        self.widget = widget if isinstance(widget, Widget) else None
        self.definition = widget if isinstance(widget, Definition) else widget.definition
        self.strict = strict
        self.image_origins = image_origins

    @cached_property
    def file(self) -> Mapping[str, Any]:
        """All that the file says, to the letter."""
        if self.definition.is_jsx:
            return self.definition.document.content
        file: Mapping[str, Any] = orjson.loads(decode(self.definition.content))
        return file

    @property
    def template(self) -> str | None:
        """The Jinja text, which was compiled and is drawn."""
        if self.widget is None or self.widget.source == "view":
            return None
        return self.definition.template

    @property
    def texts(self) -> tuple[str, ...]:
        """What the author wrote that a tree is made by: the Jinja text, and the JSX."""
        view = () if self.studio is None else (self.studio.view,)
        return (self.definition.template, *view)

    @property
    def studio(self) -> Studio | None:
        """Studio's own source of the widget."""
        return self.definition.studio

    @property
    def preview(self) -> Mapping[str, Any] | None:
        """The tree that Studio made of its own sample."""
        return self.definition.document.preview

    @property
    def schema(self) -> Schema | None:
        """The author's schema."""
        written = self.widget is not None and self.definition.schema is not None
        return self.widget.schema if self.widget is not None and written else None

    @property
    def feed(self) -> Feed | None:
        """What fills it."""
        return None if self.widget is None else self.widget.feed

    @cached_property
    def declared(self) -> DeclaredPaths | None:
        """The paths that the author's schema declares."""
        return None if self.schema is None else DeclaredPaths(self.schema.document)

    @cached_property
    def authored(self) -> tuple[Sample, ...]:
        """Every sample that the author gives."""
        return (*list_studio_samples(self.definition), *list_examples(self.definition))

    @cached_property
    def outcomes(self) -> tuple[renders.Outcome, ...] | None:
        """What drawing it came to, with arguments of its author and with generated ones."""
        return None if self.widget is None else tuple(renders.attempts(self.widget))

    @cached_property
    def actions(self) -> tuple[WidgetAction, ...] | None:
        """Every action that it can trigger."""
        if self.outcomes is None:
            return None
        names = {GENERATED[variant] for variant in VARIANTS}
        rendered = [
            one.tree
            for one in self.outcomes
            if one.tree is not None and (one.sample.authored or one.sample.name in names)
        ]
        return actions_in(self.definition, rendered)


def findings(
    widget: Widget | Definition,
    *,
    strict: bool = False,
    image_origins: Collection[str] = (),
    upstreams: Collection[str] | None = None,
) -> tuple[Finding, ...]:
    """Everything that can be said about `widget`, in the order of its file's parts.

    Of a mere definition only its texts are looked at. The other arguments are those of `Subject`.
    """
    subject = Subject(widget, strict=strict, image_origins=image_origins, upstreams=upstreams)
    found: list[Finding] = []
    for rule in RULES:
        needed = [getattr(subject, name) for name in rule.needs]
        if all(one is not None for one in needed):
            found.extend(rule.function(*needed))
    path = subject.definition.path
    codes = {one.code for one in found}
    return tuple(
        dict.fromkeys(
            one if one.path else replace(one, path=path)
            for one in found
            if codes.isdisjoint(CAUSES.get(one.code, ()))
        )
    )
