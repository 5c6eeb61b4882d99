"""Name a widget: as a tool, as a title, as a response type.

A name is a pure function of the widget's own name and of its path, so it is the same on every
replica.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import PurePosixPath

from anyascii import anyascii

from widgetd.base.text_search import compile_pattern, read_tokens
from widgetd.core.widget.limits import LIMITS

DEFAULT_NAME = "Untitled widget"
"""Studio's name for a widget without one."""


WIDGET_SUFFIX = ".widget"
JSX_SUFFIX = f"{WIDGET_SUFFIX}.jsx"
"""A file that an author writes by hand, as Studio's editor shows it."""

TESTS_SUFFIX = ".test.yaml"

_BROWSER_SUFFIX = compile_pattern(r" \(\d+\)$")


_SEPARATOR = compile_pattern(r"[\s-]")
_NOT_OF_A_TOOL = compile_pattern(r"[^a-z0-9_]")
_WORD = compile_pattern(r"[a-z0-9]+")


def make_tool_name(name: str, path: str) -> str:
    """Make the tool's name of the widget called `name` in the file at `path`.

    Returns:
        `flight_tracker` for `Flight Tracker`. Made from the file's stem if the name is empty or
        Studio's default, and `widget_<hash of the path>` if the stem is empty, too.
    """
    own = "" if is_default(name) else slugify(name)
    digest = blake2b(path.encode(), digest_size=4).hexdigest()
    return own or slugify(stem(path)) or f"widget_{digest}"


def slugify(text: str) -> str:
    """Convert `text` to lower-case ASCII words joined by `_`, empty if no letter is left."""
    ascii_text = anyascii(text).lower()
    cleaned = _NOT_OF_A_TOOL.sub("", _SEPARATOR.sub("_", ascii_text))
    if not cleaned.strip("_"):
        return ""
    return ("_" + cleaned if cleaned[0].isdigit() else cleaned)[: LIMITS.tool_name_chars]


def is_default(name: str) -> bool:
    return name.strip().casefold() == DEFAULT_NAME.casefold()


def make_title(name: str, path: str) -> str:
    """Return the widget's name for people: its own, or else the file's stem."""
    own = " ".join(name.split())
    return stem(path) if not own or is_default(own) else own


def to_kebab_case(text: str) -> str:
    """Convert `text` to a response type: `flight_tracker` → `flight-tracker`."""
    return "-".join(word[0] for word in read_tokens(_WORD, anyascii(text).lower()))


def stem(path: str) -> str:
    """Return the file's name without its suffix: `travel/Ride Status.widget` → `Ride Status`."""
    return PurePosixPath(path).name.removesuffix(".jsx").removesuffix(WIDGET_SUFFIX)


def folders(path: str) -> tuple[str, ...]:
    """Return the subfolders of the file as its tags: `travel/x.widget` → `travel`."""
    return PurePosixPath(path).parent.parts


def sort_by_preference(paths: Iterable[str]) -> list[str]:
    """Sort the claimants of a tool name. The first gets it, in whatever order they come.

    A copy numbered by a browser, as in `name (1).widget`, never wins against its original.
    """
    return sorted(paths, key=lambda p: (_BROWSER_SUFFIX.search(stem(p)) is not None, len(p), p))


def tests_name(path: str) -> str:
    return path.removesuffix(JSX_SUFFIX).removesuffix(WIDGET_SUFFIX) + TESTS_SUFFIX
