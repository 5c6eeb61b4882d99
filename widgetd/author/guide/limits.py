"""Limits of the guide's tools: each answer must fit a model's context."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideLimits:
    """Limits of an answer.

    Attributes:
        names: Pages or widgets of a request.
        components: Components of a request.
        drawn_components: Components of a request with a picture.
        parts_bytes: Size of all parts of widgets. The first is always included.
        findings: Findings about a draft.
        traced_values: Values in the trace of a template.
        traced_chars: Length of each.
        users: Widgets named as users of a component.
        example_children: Children of each node in an example.
        example_depth: Levels of children in an example.
        example_chars: Length of a text in an example.
        snippet_chars: Length of a search result's text.
        diff_lines: Lines of a difference on the card before a save.
        diff_line_chars: Length of each.
        drafts_at_once: Drafts and authors' questions at the same time.
        searched_tests: Widgets with test files read by a search.
        searched_bytes: Searched size of those files.
        test_indexes: Audiences with a kept index.
        element_chars: Length of an element or test in a search result.
        tests_s: Time for the tests saved with a widget.
        test_output_bytes: End of their output to read.
        test_report_chars: End of their report to return if they fail.
    """

    names: int = 8
    drafts_at_once: int = 1
    components: int = 50
    drawn_components: int = 8
    parts_bytes: int = 64 * 1024
    findings: int = 50
    traced_values: int = 200
    traced_chars: int = 400
    users: int = 3
    example_children: int = 2
    example_depth: int = 3
    example_chars: int = 80
    snippet_chars: int = 400
    diff_lines: int = 40
    diff_line_chars: int = 160
    searched_tests: int = 500
    searched_bytes: int = 1 << 20
    test_indexes: int = 4
    element_chars: int = 1_200
    tests_s: float = 120.0
    test_output_bytes: int = 64 * 1024
    test_report_chars: int = 1_500


LIMITS = GuideLimits()
