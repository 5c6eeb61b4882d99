"""Limits of one widget; settings may change them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

AT_WORK = 16
"""Number of files under edit for which caches keep intermediate results until the next save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Limits of a file and of one render.

    Attributes:
        file_bytes: Size of a file.
        json_depth: Nesting depth of the file's JSON and of a call's arguments.
        schema_nodes: Subschemas of the argument schema, with references expanded.
        template_bytes: Length of the template in UTF-8.
        template_nodes: Nodes of the template's syntax tree.
        output_bytes: Text that one render produces, intermediate values included.
        steps: Loop iterations, calls and list elements of one render.
    """

    file_bytes: int = 256 * 1024
    json_depth: int = 64
    schema_nodes: int = 2_000
    template_bytes: int = 64 * 1024
    template_nodes: int = 5_000
    output_bytes: int = 1024 * 1024
    steps: int = 100_000


DEFAULTS: Final = Limits()
"""The limits without settings; made once, because each call needs them several times."""
