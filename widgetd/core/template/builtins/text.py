"""Filters and methods of text: change, search, fill and fit it.

A value other than a text is converted as it would print. Every function takes the budget first and
the text second, so filters and methods share them. Their table charges for reading, and they
charge for their results. Jinja's own functions are used for texts and numbers. The functions here
replace those with `Markup`, or with work beyond every price.
"""

from __future__ import annotations

import html
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final
from urllib.parse import quote as _quote
from urllib.parse import quote_plus as _quote_plus

from jinja2.filters import do_indent, do_wordwrap

from widgetd.base.text_search import Match, compile_pattern, read_tokens
from widgetd.core.template.budget import RenderError
from widgetd.core.template.serialise import text, to_indented_json, tojson
from widgetd.core.template.values import (
    Value,
    elements,
    is_nothing,
    is_number,
    kind,
    require_computable,
    sublist,
    whole,
)

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

# About this many lines are split or indented in the time of a step.
LINES_PER_STEP: Final = 8

_WORD_STARTS: Final = compile_pattern(r"([-\s({\[<]+)")
_WORDS: Final = compile_pattern(r"\w+")
_TAGS: Final = compile_pattern(r"<[^<>]*>")
_ENTITIES: Final = (("&", "&amp;"), (">", "&gt;"), ("<", "&lt;"), ("'", "&#39;"), ('"', "&#34;"))


string = text
"""As it prints."""


def charge_text(budget: Budget, value: Value, growth: int = 1) -> str:
    string = text(budget, value)
    budget.text(growth * len(string))
    return string


def _changing(change: Callable[[str], str]) -> Callable[[Budget, Value], str]:
    return lambda budget, value: change(charge_text(budget, value, GROWTH))


GROWTH: Final = 3
"""The factor by which a change of each character lengthens a text at most ("ß", "ﬃ")."""

upper: Final = _changing(str.upper)
lower: Final = _changing(str.lower)
capitalize: Final = _changing(str.capitalize)
str_title: Final = _changing(str.title)
"""The method `title`, which begins a word where the filter of that name does not."""


def title(budget: Budget, value: Value) -> str:
    parts = _WORD_STARTS.split(charge_text(budget, value, GROWTH))
    budget.step(len(parts))
    return "".join(part[0].upper() + part[1:].lower() for part in parts if part)


def _stripping(strip: Callable[[str, str | None], str]) -> Callable[..., str]:
    def apply(budget: Budget, value: Value, chars: Value = None) -> str:
        string, gone = charge_text(budget, value), None
        if not is_nothing(chars):
            gone = text(budget, chars)
            budget.scan(len(string) * len(gone))  # Python looks each character up among all of them
        return strip(string, gone)

    return apply


trim: Final = _stripping(str.strip)
lstrip: Final = _stripping(str.lstrip)
rstrip: Final = _stripping(str.rstrip)


def replace(budget: Budget, value: Value, old: Value, new: Value, count: Value = None) -> str:
    string, old, new = text(budget, value), text(budget, old), text(budget, new)
    budget.search(len(string), len(old))
    matches = string.count(old)
    most = -1 if count is None else whole(count, "count")
    turns = matches if most < 0 else min(matches, most)
    budget.text(len(string) + turns * max(0, len(new) - len(old)))
    return string.replace(old, new, most)


def wordcount(budget: Budget, value: Value) -> int:
    string = text(budget, value)
    budget.scan(8 * len(string))
    return sum(1 for _ in read_tokens(_WORDS, string))


def striptags(budget: Budget, value: Value) -> str:
    """Remove HTML tags and comments, decode entities, and collapse white space."""
    string = charge_text(budget, value, 2)
    budget.scan(8 * len(string))
    parts, at = [], 0
    while (start := string.find("<!--", at)) >= 0 and (end := string.find("-->", start)) >= 0:
        parts.append(string[at:start])
        at = end + 3
    without = _TAGS.sub("", "".join([*parts, string[at:]]))
    return html.unescape(" ".join(without.split()))


def escape(budget: Budget, value: Value) -> str:
    string = charge_text(budget, value, 5)
    for plain, entity in _ENTITIES:
        string = string.replace(plain, entity)
    return string


def urlencode(budget: Budget, value: Value) -> str:
    """Encode a text for a URL. An object or a list of pairs becomes its query."""
    if isinstance(value, dict):
        pairs: Value = value.items()
    elif isinstance(value, list | tuple):
        pairs = value
    else:
        return _quote(charge_text(budget, value, 9), safe="/")
    budget.step(len(pairs))
    return "&".join(
        f"{_quote_plus(charge_text(budget, key, 9))}={_quote_plus(charge_text(budget, item, 9))}"
        for key, item in pairs
    )


def join_with(budget: Budget, separator: str, values: Value) -> str:
    parts = [text(budget, element) for element in elements(budget, values)]
    budget.text(sum(map(len, parts)) + len(separator) * len(parts))
    return separator.join(parts)


def split(budget: Budget, value: Value, separator: Value = None, most: Value = -1) -> Value:
    string = charge_text(budget, value)
    between = None if is_nothing(separator) else text(budget, separator)
    if between is None:
        parts = len(string) // 2 + 1
    else:
        budget.search(len(string), len(between))
        parts = string.count(between) + 1
    budget.step(parts)
    return sublist(budget, string.split(between, whole(most, "maxsplit")))


def splitlines(budget: Budget, value: Value) -> Value:
    string = charge_text(budget, value)
    budget.step(len(string) // LINES_PER_STEP)
    lines = string.splitlines()
    budget.step(len(lines))
    return sublist(budget, lines)


def _searching(search: Callable[[str, str], int]) -> Callable[[Budget, Value, Value], int]:
    def apply(budget: Budget, value: Value, part: Value) -> int:
        string, sought = text(budget, value), text(budget, part)
        budget.search(len(string), len(sought))
        return search(string, sought)

    return apply


count: Final = _searching(str.count)
find: Final = _searching(str.find)


def _fitting(fit: Callable[[str, int], str]) -> Callable[[Budget, Value, Value], str]:
    def apply(budget: Budget, value: Value, width: Value) -> str:
        string, size = text(budget, value), whole(width, "width")
        budget.text(max(size, len(string)))
        return fit(string, size)

    return apply


ljust: Final = _fitting(str.ljust)
rjust: Final = _fitting(str.rjust)
zfill: Final = _fitting(str.zfill)
_center: Final = _fitting(str.center)


def center(budget: Budget, value: Value, width: Value = 80) -> str:
    return _center(budget, value, width)


def indent(
    budget: Budget, value: Value, width: Value = 4, first: Value = False, blank: Value = False
) -> str:
    """Indent each line but the first by `width` spaces, or by the text `width`."""
    string = text(budget, value)
    size = len(width) if isinstance(width, str) else max(0, whole(width, "width"))
    lines = len(string) + 1 if "\n" not in string else string.count("\n") + 2
    budget.step(lines // LINES_PER_STEP)
    budget.text(len(string) + size * min(lines, len(string) + 1))
    margin = width if isinstance(width, str) else " " * size
    return do_indent(string, margin, bool(first), bool(blank))


def truncate(  # noqa: PLR0917 - the filter takes them by position
    budget: Budget,
    value: Value,
    length: Value = 255,
    killwords: Value = False,
    end: Value = "...",
    leeway: Value = 5,
) -> str:
    """Cut a text to `length` characters (and `leeway` more) at a word, and append `end`."""
    string = charge_text(budget, value)
    most, ending = whole(length, "length"), text(budget, end)
    slack = 5 if leeway is None else leeway
    if most < len(ending) or whole(slack, "leeway") < 0:
        raise RenderError("truncate needs a length at least as long as its ending")
    if len(string) <= most + slack:
        return string
    kept = string[: most - len(ending)]
    return (kept if killwords else kept.rsplit(" ", 1)[0]) + ending


def wordwrap(  # noqa: PLR0917 - the filter takes them by position
    budget: Budget,
    value: Value,
    width: Value = 79,
    break_long_words: Value = True,
    wrapstring: Value = None,
    break_on_hyphens: Value = True,
) -> str:
    """Wrap a text to lines of at most `width` characters, joined by `wrapstring`."""
    string = text(budget, value)
    between = "\n" if wrapstring is None else text(budget, wrapstring)
    budget.step(len(string))
    # textwrap copies the rest of a long word for every piece it breaks off.
    for word in string.split():
        budget.scan(len(word) ** 2 // max(1, whole(width, "width")))
    size, long, hyphens = whole(width, "width"), bool(break_long_words), bool(break_on_hyphens)
    wrapped = do_wordwrap(None, string, size, long, "\n", hyphens)  # type: ignore[arg-type]  # reads no setting
    budget.text(len(wrapped) + wrapped.count("\n") * (len(between) - 1))
    return wrapped.replace("\n", between)


def tojson_filter(budget: Budget, value: Value, indent: Value = None) -> str:
    if not is_nothing(indent):
        return to_indented_json(budget, value, indent)
    string = tojson(budget, value)
    budget.text(len(string))
    return string


def format_filter(budget: Budget, value: Value, *args: Value, **kwargs: Value) -> str:
    if args and kwargs:
        raise RenderError("a format takes values by position or by name, not both")
    return fill_format(budget, text(budget, value), list(args), kwargs)


# Python's own `%` would pad to any width before anyone can count it, so each
# conversion is read here, its width bounded, and only then handed to Python.
MAX_WIDTH: Final = 100

_CONVERSION: Final = compile_pattern(
    r"%(?:\((?P<key>[^)]{0,64})\))?(?P<flags>[-+ 0#]*+)(?P<width>\d*+)(?:\.(?P<precision>\d++))?"
    r"(?P<kind>[a-zA-Z%*])"
)


def fill_format(budget: Budget, template: str, args: list[Value], named: dict[str, Value]) -> str:
    budget.scan(8 * len(template))
    parts: list[str] = []
    end, pending = 0, iter(args)
    for match in read_tokens(_CONVERSION, template):
        parts += template[end : match.start()], _fill_conversion(budget, match, pending, named)
        budget.text(len(parts[-2]) + len(parts[-1]) + 1)
        end = match.end()
    budget.text(len(template) - end)
    if next(pending, _MISSING) is not _MISSING:
        raise RenderError("a format has more values than places")
    return "".join([*parts, template[end:]])


def _fill_conversion(
    budget: Budget, match: Match[str], pending: Iterator[Value], named: dict[str, Value]
) -> str:
    conversion, key = match["kind"], match["key"]
    if conversion == "%":
        return "%"
    budget.step()
    value = next(pending, _MISSING) if key is None else named.get(key, _MISSING)
    if value is _MISSING:
        raise RenderError("a format has more places than values")
    if conversion not in "srdiufFeEgGxXoc":
        raise RenderError(f"a format cannot hold '%{conversion}'")
    if max(_size(match["width"]), _size(match["precision"])) > MAX_WIDTH:
        raise RenderError(f"a format cannot be wider than {MAX_WIDTH}")
    if conversion in "sr":
        value = text(budget, value)
    elif conversion == "c":
        is_number_of_one = isinstance(value, int) and 0 <= value <= sys.maxunicode
        if not (is_number_of_one or (isinstance(value, str) and len(value) == 1)):
            raise RenderError("a format writes one character, or the number of one, at '%c'")
    elif not is_number(require_computable(value)):
        raise RenderError(f"a format cannot write {kind(value)} as a number")
    elif conversion in "xXo" and not isinstance(value, int):
        raise RenderError(f"a format writes only whole numbers at '%{conversion}'")
    precision = f".{match['precision']}" if match["precision"] is not None else ""
    return f"%{match['flags']}{match['width']}{precision}{conversion}" % (value,)


def _size(digits: str | None) -> int:
    return min(int(digits[:9]), 10**9) if digits else 0


_MISSING: Final = object()
