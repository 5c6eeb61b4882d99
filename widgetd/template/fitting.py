"""What filters and methods do to fit text into a width: pad, indent, cut and wrap it.

Whatever they add is paid for before it is made.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from widgetd.template.budget import Failure
from widgetd.template.text import text
from widgetd.template.textual import paid, whole

if TYPE_CHECKING:
    from widgetd.template.budget import Budget
    from widgetd.template.values import Value


def center(budget: Budget, value: Value, width: Value = 80) -> str:
    """In the middle of `width` characters."""
    return _filled(budget, value, width).center(whole(width, "width"))


def ljust(budget: Budget, value: Value, width: Value) -> str:
    """At the left of `width` characters."""
    return _filled(budget, value, width).ljust(whole(width, "width"))


def rjust(budget: Budget, value: Value, width: Value) -> str:
    """At the right of `width` characters."""
    return _filled(budget, value, width).rjust(whole(width, "width"))


def zfill(budget: Budget, value: Value, width: Value) -> str:
    """With zeros in front, up to `width` characters."""
    return _filled(budget, value, width).zfill(whole(width, "width"))


def _filled(budget: Budget, value: Value, width: Value) -> str:
    shown = text(budget, value)
    budget.text(max(whole(width, "width"), len(shown)))
    return shown


def indent(
    budget: Budget, value: Value, width: Value = 4, first: Value = False, blank: Value = False
) -> str:
    """Each line but the first moved right by `width` spaces, or by the text `width`."""
    shown = text(budget, value)
    size = len(width) if isinstance(width, str) else max(0, whole(width, "width"))
    lines = len(shown) + 1 if "\n" not in shown else shown.count("\n") + 2
    budget.scan(len(shown))
    budget.text(len(shown) + size * min(lines, len(shown) + 1))
    margin = width if isinstance(width, str) else " " * size
    indented = _indented((shown + "\n").splitlines(), margin, blank=bool(blank))
    return margin + indented if first else indented


def _indented(lines: list[str], margin: str, *, blank: bool) -> str:
    head, *rest = lines
    return "\n".join([head, *(margin + line if line or blank else line for line in rest)])


def truncate(  # noqa: PLR0917 - the filter takes them by position
    budget: Budget,
    value: Value,
    length: Value = 255,
    killwords: Value = False,
    end: Value = "...",
    leeway: Value = 5,
) -> str:
    """At most `length` characters (and `leeway` more), cut at a word, with `end` in place."""
    shown = paid(budget, value)
    most, end, slack = whole(length, "length"), text(budget, end), 5 if leeway is None else leeway
    if most < len(end) or whole(slack, "leeway") < 0:
        raise Failure("truncate needs a length at least as long as its ending")
    if len(shown) <= most + slack:
        return shown
    kept = shown[: most - len(end)]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + end


def wordwrap(  # noqa: PLR0917 - the filter takes them by position
    budget: Budget,
    value: Value,
    width: Value = 79,
    break_long_words: Value = True,
    wrapstring: Value = None,
    break_on_hyphens: Value = True,
) -> str:
    """In lines of at most `width` characters, with `wrapstring` between them."""
    shown = text(budget, value)
    between = "\n" if wrapstring is None else text(budget, wrapstring)
    budget.step(len(shown))
    # textwrap copies what is left of a long word for every piece that it breaks off.
    for word in shown.split():
        budget.scan(len(word) ** 2 // max(1, whole(width, "width")))
    lines = [
        wrapped
        for line in shown.splitlines()
        for wrapped in textwrap.wrap(
            line,
            width=whole(width, "width"),
            expand_tabs=False,
            replace_whitespace=False,
            break_long_words=bool(break_long_words),
            break_on_hyphens=bool(break_on_hyphens),
        )
        or [""]
    ]
    budget.text(sum(map(len, lines)) + len(lines) * len(between))
    return between.join(lines)
