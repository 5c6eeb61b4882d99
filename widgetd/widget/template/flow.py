"""Follow the JSON that a template writes, to know what surrounds each output."""

from __future__ import annotations

from dataclasses import dataclass

from widgetd.widget.template.parse import nodes


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """What was found out about a template's outputs, by the identity of their nodes.

    Attributes:
        in_strings: The expressions whose value stands inside a JSON string.
        stripping: The set-blocks that are only there to lose their leading comma.
        stripped: The outputs that only write such a set-block.
    """

    in_strings: frozenset[int] = frozenset()
    stripping: frozenset[int] = frozenset()
    stripped: frozenset[int] = frozenset()

    def within_string(self, node: nodes.Node) -> bool:
        """Whether what `node` writes stands inside a JSON string."""
        return id(node) in self.in_strings
