"""How much one widget may ask for. Knows only numbers; `widgetd.settings` may change them."""

from __future__ import annotations

from dataclasses import dataclass

AT_WORK = 16
"""So many files are worked on at a time; what was made of them last is kept for the next save."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a file may hold and a render may spend.

    Attributes:
        file_bytes: The size of a file.
        json_depth: How deep the file's JSON, and a call's arguments, may nest.
        schema_nodes: How many subschemas the argument schema expands to, references followed.
        template_bytes: The length of the template, as UTF-8.
        template_nodes: How many nodes the template's syntax tree has.
        output_bytes: How much text one render may make, everything intermediate included.
        steps: How many loop turns, calls and list elements one render may take.
    """

    file_bytes: int = 256 * 1024
    json_depth: int = 64
    schema_nodes: int = 2_000
    template_bytes: int = 64 * 1024
    template_nodes: int = 5_000
    output_bytes: int = 1024 * 1024
    steps: int = 100_000
