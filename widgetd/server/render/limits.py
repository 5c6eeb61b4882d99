"""Limits and times of renders, bound actions and images that results bring along."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderLimits:
    """Limits and times of the path of a call.

    Attributes:
        threaded_values: Values from which arguments are validated and rendered in a worker thread.
        outcome_margin_s: Time beyond an upstream's own timeout after which the process that took
            a press counts as ended, so that the outcome is unknown.
        outcome_poll_s: Interval between two looks for the outcome of another replica's press.
        replace_tries: Attempts to replace a render that others replace at the same time.
        dry_renders: Renders that the dry runs of one page or session remember.
        question_chars: A request that a person is asked about; a longer one is refused.
        line_chars: The line about an action that a model reads.
        page_results: Results for pages that are kept for others that follow the same render.
        images: Images of one result that are fetched.
        image_bytes: Size of one of them.
        images_bytes: Size of all of them in one result, as `data:` URIs.
        images_s: Time to fetch those of one result; later ones are left out.
        cached_images: Images that are not fetched again.
        cached_image_s: Time for which one, or that it cannot be had, is kept.
    """

    threaded_values: int = 4_000
    outcome_margin_s: float = 5.0
    outcome_poll_s: float = 0.5
    replace_tries: int = 20
    dry_renders: int = 64
    question_chars: int = 32_000
    line_chars: int = 300
    page_results: int = 4
    images: int = 16
    image_bytes: int = 256 * 1024
    images_bytes: int = 1024 * 1024
    images_s: float = 5.0
    cached_images: int = 32
    cached_image_s: float = 600.0


LIMITS = RenderLimits()
