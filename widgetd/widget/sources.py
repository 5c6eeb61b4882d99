"""The two sources of a file, and the choice between them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from widgetd.errors import Finding

Source = Literal["template", "view"]
"""The Jinja text, or Studio's JSX."""

Difference = tuple[str, Any, Any]
"""A JSON pointer, the value there, and the expected value."""

Reason = Literal["", "asked", "missing", "faulty", "lost", "edited", "refused"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """The source of a file that is rendered, and the reason.

    Attributes:
        source: The source; empty if the file holds no JSX, so that there is no choice.
        reason: Why: the sidecar asks for it, there is no template, the template cannot be
            compiled, the exporter lost some of the JSX, the template was edited, or the JSX
            cannot be compiled; empty if the two agree as far as was compared.
        fault: The fault of the source that cannot be compiled.
        differences: The first differences of the template from the JSX, if they were compared.
    """

    source: Source | Literal[""]
    reason: Reason = ""
    fault: Finding | None = None
    differences: tuple[Difference, ...] = ()
