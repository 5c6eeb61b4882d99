"""The settings that the wing `author` reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorOptions:
    """The settings of this wing."""

    toolset: Sequence[str]
    keyword_tools: Sequence[str]
    gallery: bool
    chat: bool
    sample_images: bool
    image_origin: tuple[str, ...]
    session_most: int
    session_idle_s: float
    browser_at_once: int
    allow_upload: bool
    strict: bool
