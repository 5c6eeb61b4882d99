"""What a widget is called: as a tool, as a class, as a response type.

A name is a pure function of the widget's own name and of its path, so that it
is the same on every replica. Knows nothing of what a widget does.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b
from pathlib import PurePosixPath

from anyascii import anyascii

from widgetd.text_search import compile_pattern

DEFAULT_NAME = "Untitled widget"
"""What Studio calls a widget that nobody has named."""

LONGEST_TOOL = 40
"""Hosts put their server's name before a tool's, and some end at 64 characters."""

WIDGET_SUFFIX = ".widget"
JSX_SUFFIX = f"{WIDGET_SUFFIX}.jsx"
"""A file that an author writes by hand, as Studio's editor shows it."""

TESTS_SUFFIX = ".test.yaml"

_BROWSER_SUFFIX = compile_pattern(r" \(\d+\)$")


_SEPARATOR = compile_pattern(r"[\s-]")
_NOT_OF_A_TOOL = compile_pattern(r"[^a-z0-9_]")
_WORD = compile_pattern(r"[a-z0-9]+")


def tool_name(name: str, path: str) -> str:
    """The tool of the widget that is called `name` in the file at `path`.

    Returns:
        `flight_tracker` for `Flight Tracker`; made from the file's stem where the name says
        nothing, and `widget_<hash of the path>` where that says nothing either.
    """
    own = "" if is_default(name) else slug(name)
    digest = blake2b(path.encode(), digest_size=4).hexdigest()
    return own or slug(stem(path)) or f"widget_{digest}"


def slug(text: str) -> str:
    """`text` in lower-case ASCII, words joined by `_`; empty where no letter or digit is left."""
    ascii_text = anyascii(text).lower()
    kept = _NOT_OF_A_TOOL.sub("", _SEPARATOR.sub("_", ascii_text))
    if not kept.strip("_"):
        return ""
    return ("_" + kept if kept[0].isdigit() else kept)[:LONGEST_TOOL]


def is_default(name: str) -> bool:
    """Whether `name` is the one that Studio gives, and so tells one widget from no other."""
    return name.strip().casefold() == DEFAULT_NAME.casefold()


def title(name: str, path: str) -> str:
    """What people call the widget: its name, or the file's stem where it has none of its own."""
    own = " ".join(name.split())
    return stem(path) if not own or is_default(own) else own


def kebab_case(text: str) -> str:
    """`text` as a response type: `flight_tracker` → `flight-tracker`."""
    return "-".join(_WORD.findall(anyascii(text).lower()))


def stem(path: str) -> str:
    """The file's name without its suffix: `travel/Ride Status.widget` → `Ride Status`."""
    return PurePosixPath(path).name.removesuffix(".jsx").removesuffix(WIDGET_SUFFIX)


def folders(path: str) -> tuple[str, ...]:
    """The subfolders that the file lies in, which are its tags: `travel/x.widget` → `travel`."""
    return PurePosixPath(path).parent.parts


def by_preference(paths: Iterable[str]) -> list[str]:
    """The files that claim one tool name; the first has it, whatever order they come in.

    A copy that a browser has numbered, as in `name (1).widget`, never wins against its original.
    """
    return sorted(paths, key=lambda p: (_BROWSER_SUFFIX.search(stem(p)) is not None, len(p), p))
