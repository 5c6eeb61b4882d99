"""The two sources of a file, and the choice between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from widgetd.base.errors import Finding

if TYPE_CHECKING:
    from widgetd.core.template.ir import Program
    from widgetd.core.template.references import Read
    from widgetd.core.template.template import Rendering

Source = Literal["template", "view"]
"""The Jinja text, or Studio's JSX."""

Difference = tuple[str, Any, Any]
"""A JSON pointer, the value there, and the expected value."""

Reason = Literal["", "asked", "missing", "faulty", "lost", "edited", "refused"]


class Drawing(Protocol):
    """The compiled source of a widget: a template or a view."""

    @property
    def reads(self) -> tuple[Read, ...]:
        """Return the reads of arguments."""

    @property
    def names(self) -> frozenset[str]:
        """Return the names of its arguments."""

    def render(self, arguments: Mapping[str, Any]) -> str:
        """Return the JSON of the tree for `arguments`."""

    def rendering(self, arguments: Mapping[str, Any]) -> Rendering:
        """Return the JSON, and what it cost."""

    def program(self) -> Program:
        """Return the program."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The rendered source of a file, and the reason.

    Attributes:
        source: The source, empty if the file holds no JSX, so there is no choice.
        reason: Why: the sidecar asks for it, there is no template, the template cannot be
            compiled, the exporter lost some of the JSX, the template was edited, or the JSX
            cannot be compiled. Empty if the two agree as far as was compared.
        fault: The compile error of the other source.
        edits: The first differences of the template from the exporter's result of the JSX.
        losses: The first differences of the exporter's result of the JSX from the JSX.
        blame: The source changed after the export, as far as the preview tells.
    """

    source: Source | Literal[""]
    reason: Reason = ""
    fault: Finding | None = None
    edits: tuple[Difference, ...] = ()
    losses: tuple[Difference, ...] = ()
    blame: Literal["template", "view", ""] = ""
