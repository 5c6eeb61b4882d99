"""Summarise a render for a model: a short text, and a few values as data.

Both come from the sidecar's expressions over the arguments, or else from the required fields.
Sensitive values are removed from the arguments before either sees them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from widgetd.base.errors import CallError
from widgetd.base.limits import DEFAULTS, Limits
from widgetd.core import template as templates
from widgetd.core.schema.json_values import path_names
from widgetd.core.schema.validator import Schema
from widgetd.core.template.budget import Budget
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.expressions import compile_expressions, errors_at
from widgetd.core.widget.limits import LIMITS
from widgetd.core.widget.query import Query, compile_queries

if TYPE_CHECKING:
    from widgetd.core.template import Expression, Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """The compiled summary and data of a widget.

    Attributes:
        definition: The author's words.
        expressions: Values of the data, by name.
        queries: The same in JMESPath.
        template: The author's summary, if any.
        required: The arguments in a generated summary.
    """

    definition: Definition
    expressions: Mapping[str, Expression]
    queries: Mapping[str, Query]
    template: Template | None
    required: tuple[str, ...]

    def text(self, arguments: Mapping[str, Any]) -> str:
        title = self.definition.title
        public = remove_paths(arguments, self.definition.sidecar.sensitive)
        text = ""
        if self.template is not None:
            with suppress(CallError):
                text = " ".join(self.template.render(public).split())
        if not text:
            values = [
                f"{name} {_to_text(public[name])}"
                for name in self.required
                if isinstance(public.get(name), (str, int, float, bool))
            ]
            listed = ", ".join(values[: LIMITS.summary_fields])
            text = f"{title}: {listed}" if listed else title
        if len(text) <= LIMITS.summary_chars:
            return text
        return text[: LIMITS.summary_chars - 1].rstrip() + "…"

    def facts(self, arguments: Mapping[str, Any], text: str) -> dict[str, Any]:
        """Return a short `summary` and the sidecar's facts, without absent values.

        Hosts that put structured content before the model hide `text` from it.

        Args:
            arguments: The arguments of the render.
            text: The text for the model, shortened to the fact `summary` unless the sidecar
                has a fact of this name.
        """
        public = remove_paths(arguments, self.definition.sidecar.sensitive)
        values: dict[str, Any] = {}
        for path in self.definition.sidecar.summary_fields:
            value: Any = public
            for name in path.split("."):
                value = value.get(name) if isinstance(value, Mapping) else None
            values[path] = value
        budget = Budget(DEFAULTS)  # of all together
        for name, expression in self.expressions.items():
            with suppress(CallError):
                values[name] = expression.evaluate(public, budget)
        for name, query in self.queries.items():
            with suppress(CallError):
                values[name] = query.find(public)
        facts = {"summary": text} | {n: value for n, value in values.items() if value is not None}
        if isinstance(facts["summary"], str):
            facts["summary"] = shorten_at_word(facts["summary"], LIMITS.summary_fact_chars)
        return facts


def shorten_at_word(text: str, longest: int) -> str:
    """Return at most `longest` characters of `text`, cut after a whole word."""
    words = " ".join(text.split())
    if len(words) <= longest:
        return words
    head = words[: longest - 1]
    # A text without spaces, as in Chinese, has no better place.
    whole = head if words[longest - 1] == " " else head.rpartition(" ")[0] or head
    return whole.rstrip(" ,;:") + "…"


def compile_summary(definition: Definition, schema: Schema, *, limits: Limits) -> Summary:
    sidecar = definition.sidecar
    texts, required = sidecar.summary_data, schema.advertised.get("required")
    written = {name: value for name, value in texts.items() if isinstance(value, str)}
    paths = {name: value.jmespath for name, value in texts.items() if not isinstance(value, str)}
    with errors_at("/summary"):
        text = sidecar.summary
        template = None if text is None else templates.compile_text(text, limits=limits)
    return Summary(
        definition=definition,
        expressions=compile_expressions(written, "/summary_data", limits),
        queries=compile_queries(paths, "/summary_data"),
        template=template,
        required=tuple(required) if isinstance(required, (list, tuple)) else (),
    )


def remove_paths(arguments: Mapping[str, Any], paths: Iterable[str]) -> Mapping[str, Any]:
    """Remove the values at `paths` from the arguments, in lists and nested lists, too."""
    cuts: dict[str, Any] = {}
    for path in paths:
        *around, last = path_names(path)
        within = cuts
        for name in around:
            within = within.setdefault(name, {})
            if within is _ALL:
                break
        else:
            within[last] = _ALL
    public: Mapping[str, Any] = _cut(arguments, cuts) if cuts else arguments
    return public


_ALL: Final[Mapping[str, Any]] = MappingProxyType({})
"""Marks a value that is removed as a whole."""


def _cut(value: Any, cuts: Mapping[str, Any]) -> Any:
    if isinstance(value, list):
        return [_cut(element, cuts) for element in value]
    if not isinstance(value, Mapping) or cuts.keys().isdisjoint(value):
        return value
    parts = {}
    for name, inner in value.items():
        cut = cuts.get(name)
        if cut is not _ALL:
            parts[name] = inner if cut is None else _cut(inner, cut)
    return parts


def _to_text(value: str | float) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return " ".join(str(value).split())
