"""The table of rules for widgets, with their codes and inputs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import orjson

from widgetd.base.errors import Finding
from widgetd.core.checks import images, page, renders, schemas, texts
from widgetd.core.checks.declared_paths import DeclaredPaths
from widgetd.core.schema.json_text import decode
from widgetd.core.schema.validator import Schema
from widgetd.core.studio import findings
from widgetd.core.widget.actions import WidgetAction
from widgetd.core.widget.actions.widget_actions import VARIANTS, collect_actions
from widgetd.core.widget.definition import Definition
from widgetd.core.widget.feed import Feed
from widgetd.core.widget.samples import GENERATED
from widgetd.core.widget.theme import NO_THEME, Theme
from widgetd.core.widget.widget import Widget

Upstreams = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class Rule:
    """A check of a subject.

    Attributes:
        codes: Codes of its findings.
        needs: Attributes of a `Subject` to pass. The rule is skipped if any is None.
        function: Yields the findings.
    """

    codes: tuple[str, ...]
    needs: tuple[str, ...]
    function: Callable[..., Iterable[Finding]]


RULES = (
    Rule(("W1114",), ("file",), texts.check_key_spelling),
    Rule(("W1110",), ("definition",), texts.check_package),
    Rule(("W1115",), ("file", "definition"), texts.check_hidden_characters),
    Rule(("W1116", "W1117"), ("definition",), texts.check_description),
    Rule(
        ("W1307", "W1308", "W1309", "W1325", "W1326"),
        ("widget", "trees"),
        findings.check_template_source,
    ),
    Rule(("W1324",), ("template",), findings.check_wrapped_data),
    Rule(("W1328",), ("widget",), findings.check_other_readers),
    Rule(("W1332",), ("widget",), page.check_page_program),
    Rule(("W1215",), ("widget",), schemas.check_schema_exists),
    Rule(("W1320", "W1321"), ("widget", "declared_paths", "strict"), schemas.check_template_reads),
    Rule(("W1212",), ("schema",), schemas.check_portability),
    Rule(("W1210",), ("widget", "declared_paths", "outcomes"), schemas.check_unused_fields),
    Rule(("W1119", "W1213"), ("definition", "declared_paths"), schemas.check_sidecar_fields),
    Rule(("W1119", "W1213", "W1613"), ("widget", "declared_paths"), schemas.check_sidecar_reads),
    Rule(("W1614",), ("widget",), schemas.check_state_is_read),
    Rule(("W1211",), ("schema",), schemas.check_defaults),
    Rule(("W1211",), ("widget",), schemas.check_samples),
    Rule(("W1305", "W1306", "W1310", "W1322"), ("outcomes",), renders.check_failures),
    Rule(
        tuple(f"W140{n}" for n in range(1, 8)),
        ("widget", "outcomes"),
        renders.check_vocabulary,
    ),
    Rule(("W1123",), ("widget", "outcomes"), renders.check_repeated_keys),
    Rule(("W1323",), ("widget",), renders.check_preview),
    Rule(("W1331",), ("widget", "outcomes"), images.check_sentences),
    Rule(("W1408",), ("widget", "actions"), renders.check_field_collisions),
    Rule(("W1410",), ("widget", "outcomes", "image_origins"), images.check_image_origins),
    Rule(("W1330", "W1411", "W1415", "W1416"), ("widget", "outcomes", "theme"), images.check_parts),
    Rule(("W1214", "W1615"), ("definition", "actions"), texts.check_described_actions),
    Rule(("W1601",), ("feed", "definition", "upstreams"), texts.check_upstream),
    Rule(("W1603",), ("feed", "definition"), texts.check_feed_fields),
    Rule(("W1605",), ("definition", "upstreams"), texts.check_bound_actions),
    Rule(("W1608",), ("schema", "definition"), texts.check_result_fields),
)
"""All rules, in the order of the parts of a file."""


CAUSES: Mapping[str, frozenset[str]] = {
    "W1215": frozenset({"W1114"}),
    "W1210": frozenset({"W1320", "W1321"}),
    "W1211": frozenset({"W1320", "W1321"}),
    "W1323": frozenset({"W1211", "W1326"}),
    "W1326": frozenset({"W1401"}),
    "W1331": frozenset({"W1320", "W1321", "W1407"}),
    "W1401": frozenset({"W1123"}),
    "W1407": frozenset({"W1320", "W1321"}),
    "W1410": frozenset({"W1211"}),
}
"""Codes of findings that follow from another finding, and are left out beside it.

A schema under a misspelt key does not count as a schema. A second `type` names no component. A
field renamed in the schema alone is undeclared, its new name is unused, and the sample does not
fit. An undeclared value is null, so a component loses its properties. A sample that does not fit
is not rendered, and shows no images. An edit differs from the preview. A missing component is a
difference from the JSX.
"""

LOSS = {code: frozenset({"W1307"}) for code in ("W1323", "W1406", "W1407")}
"""Consequences of a loss of the exporter, as long as the template is rendered."""


@dataclass(frozen=True, kw_only=True)
class Subject:
    """A widget with the inputs of rules. An input is None where it does not exist.

    Attributes:
        widget: The compiled widget, or a definition for the rules before compilation.
        strict: Whether reading an undeclared argument is a fault.
        image_origins: Origins of images allowed in every widget.
        upstreams: The tools for actions, by declared upstream, None if unknown.
        theme: The theme of the folder.
    """

    widget: Widget | None
    definition: Definition
    strict: bool = False
    image_origins: Collection[str] = ()
    upstreams: Upstreams | None = None
    theme: Theme = NO_THEME

    @cached_property
    def file(self) -> Mapping[str, Any]:
        if self.definition.is_jsx:
            return self.definition.document.content
        file: Mapping[str, Any] = orjson.loads(decode(self.definition.content))
        return file

    @property
    def template(self) -> str | None:
        """Return the template text, unless the JSX is rendered."""
        if self.widget is None or self.widget.source == "view":
            return None
        return self.definition.template

    @property
    def schema(self) -> Schema | None:
        if self.widget is None or self.definition.schema is None:
            return None
        return self.widget.schema

    @property
    def feed(self) -> Feed | None:
        return None if self.widget is None else self.widget.feed

    @cached_property
    def declared_paths(self) -> DeclaredPaths | None:
        state = self.definition.sidecar.state
        return None if self.schema is None else DeclaredPaths(self.schema.document, state)

    @cached_property
    def outcomes(self) -> tuple[renders.Outcome, ...] | None:
        return None if self.widget is None else tuple(renders.render_samples(self.widget))

    @property
    def trees(self) -> findings.Trees | None:
        """Pair the arguments that render with their trees."""
        if self.outcomes is None:
            return None
        drawn = ((outcome.sample.arguments, outcome.tree) for outcome in self.outcomes)
        return [(arguments, tree) for arguments, tree in drawn if tree is not None]

    @cached_property
    def actions(self) -> tuple[WidgetAction, ...] | None:
        if self.outcomes is None:
            return None
        names = {GENERATED[variant] for variant in VARIANTS}
        rendered = [
            outcome.tree
            for outcome in self.outcomes
            if outcome.tree is not None
            and (outcome.sample.authored or outcome.sample.name in names)
        ]
        return collect_actions(self.definition, rendered)


def check_widget(
    widget: Widget | Definition,
    *,
    strict: bool = False,
    image_origins: Collection[str] = (),
    upstreams: Upstreams | None = None,
    theme: Theme = NO_THEME,
) -> tuple[Finding, ...]:
    """Return all findings about `widget`, in the order of its file's parts.

    Definitions only get the checks of texts. The other arguments are those of `Subject`.
    """
    subject = Subject(
        widget=widget if isinstance(widget, Widget) else None,
        definition=widget if isinstance(widget, Definition) else widget.definition,
        strict=strict,
        image_origins=image_origins,
        upstreams=upstreams,
        theme=theme,
    )
    findings: list[Finding] = []
    for rule in RULES:
        needed = [getattr(subject, name) for name in rule.needs]
        if all(need is not None for need in needed):
            findings.extend(rule.function(*needed))
    path = subject.definition.path
    codes = {finding.code for finding in findings}
    losses = LOSS if subject.template is not None else {}
    causes = {code: [*CAUSES.get(code, ()), *losses.get(code, ())] for code in codes}
    return tuple(
        dict.fromkeys(
            finding if finding.path else replace(finding, path=path)
            for finding in findings
            if codes.isdisjoint(causes[finding.code])
        )
    )
