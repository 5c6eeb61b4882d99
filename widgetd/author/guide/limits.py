"""Limits of the guide's tools: each answer must fit a model's context."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class GuideLimits:
    """Limits of one answer.

    Attributes:
        names: Pages or widgets of one request.
        components: Components of one request.
        drawn_components: Components of one request with a picture.
        parts_bytes: Size of all parts of widgets; the first one is always included.
        findings: Findings about a draft.
        traced_values: Values in the trace of a template.
        traced_chars: Length of one of them.
        users: Widgets that are named as users of a component.
        example_children: Children of each node in an example.
        example_depth: Levels of children in an example.
        example_chars: Length of a text in an example.
        snippet_chars: Length of a search result's text.
        diff_lines: Lines of a difference on the card that asks before a save.
        diff_line_chars: Length of one of them.
        drafts_at_once: Drafts and authors' questions that are worked on at the same time.
        searched_tests: Widgets whose test files a search for tests reads.
        searched_bytes: Their size; what is beyond is not searched.
        test_indexes: Audiences for which their index is kept.
        element_chars: Length of an element or test in a search result.
        tests_s: Time for the tests that are saved with a widget.
        test_output_bytes: End of what they print that is read for that.
        test_report_chars: End of their report that is returned if they fail.
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
