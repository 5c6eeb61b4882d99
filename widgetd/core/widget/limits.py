"""Limits of a widget's texts, queries, samples, programs and trees."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetLimits:
    """Limits of this room.

    Attributes:
        tool_name_chars: A tool's name: hosts prefix their server's, and some allow 64 in all.
        description_chars: A generated description: every list of tools pays for it.
        described_parts: Choices or fields in the note on a field.
        question_chars: A question before an action.
        summary_chars: A summary. The model reads it again in every later turn.
        summary_fact_chars: The fact `summary`: 25 tokens.
        summary_fields: Fields in a generated summary.
        key_parts: Parts of a dotted key: `tomllib` needs time and memory in proportion to their
            square.
        derived_steps: Steps charged for each evaluation of a derived argument.
        state_bytes: The local state of a page, as JSON.
        feeds: Upstreams of a widget.
        query_chars: A JMESPath expression.
        query_depth: Nested levels of an expression.
        query_values: Steps of an evaluation, and values in its result.
        many_elements: Elements of a list in the state `many`.
        varied_texts: Texts of a sample to vary, each validated by itself.
        compiled_widgets: Widgets with compiled parts.
        action_tokens: Tokens of all actions in a template. Beyond it only types are read.
        tried_forms: Forms tried with the same action and the same payload.
        nested_forms: Nested forms, forbidden in HTML.
        cached_findings: Cached findings per type of component.
        listed_values: Values listed in a finding. Of more it names the nearest.
        program_bytes: The program of a page, as JSON.
        program_depth: Levels of a schema described in a program.
        program_schemas: Parts of a schema described in a program.
        tree_depth: Levels of a tree. orjson can write them, and pydantic all but the last.
        tree_icons: Icons of a tree.
        tool_icon_chars: The data URI of a tool's icon.
    """

    tool_name_chars: int = 40
    description_chars: int = 500
    described_parts: int = 5
    question_chars: int = 300
    summary_chars: int = 300
    summary_fact_chars: int = 100
    summary_fields: int = 4
    key_parts: int = 16
    derived_steps: int = 50
    state_bytes: int = 16 * 1024
    feeds: int = 8
    query_chars: int = 4096
    query_depth: int = 64
    query_values: int = 50_000
    many_elements: int = 20
    varied_texts: int = 200
    compiled_widgets: int = 1024
    action_tokens: int = 20_000
    tried_forms: int = 50
    nested_forms: int = 4
    cached_findings: int = 512
    listed_values: int = 10
    program_bytes: int = 16 * 1024
    program_depth: int = 16
    program_schemas: int = 2_000
    tree_depth: int = 254
    tree_icons: int = 64
    tool_icon_chars: int = 1024


LIMITS = WidgetLimits()
