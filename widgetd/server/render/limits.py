"""Limits and times of renders, bound actions and inline images."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderLimits:
    """Limits and times of the path of a call.

    Attributes:
        threaded_values: Values from which arguments are validated and rendered in a worker thread.
        outcome_margin_s: Time beyond an upstream's own timeout until the process of a press counts
            as ended, and the outcome as unknown.
        outcome_poll_s: Interval between two looks for the outcome of another replica's press.
        replace_tries: Attempts to replace a render against concurrent replacements.
        dry_renders: Remembered renders in the dry runs of a page or session.
        question_chars: Size of a question to a person. A longer question is refused.
        line_chars: Length of the line about an action, for the model.
        page_results: Cached results for pages. Other pages follow the same render.
        images: Fetched images of a result.
        image_bytes: Size of an image.
        images_bytes: Size of all images of a result, as `data:` URIs.
        images_s: Time to fetch the images of a result. Late images are left out.
        cached_images: Cached images.
        cached_image_s: Time for which an image, or its failure, is cached.
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
