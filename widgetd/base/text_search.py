"""Regular expressions and comparisons of text, each in time proportional to the text.

    ours      compile_pattern  Python's engine; a test proves each pattern linear
              read_tokens      the one scan for all matches in a text; the test measures it
    others'   LinearPattern    an engine that matches every pattern in linear time
    names     nearest, most_similar, unified_diff; bounded in length and number

No other module imports `re` or `difflib`. Python's engine backtracks: a pattern with two ways to
match the same characters takes time in the square of a text's length or worse, in the event loop,
and any caller supplies such a text.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher, get_close_matches
from functools import lru_cache
from itertools import islice
from typing import Any, AnyStr, Final, cast

# For other modules, none of which imports `re`.
Match = re.Match
Pattern = re.Pattern
escape = re.escape


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchLimits:
    """Bounds of what takes more than linear time by its nature.

    Attributes:
        pattern_characters: Length of a pattern that another party supplies.
        pattern_bytes: Size of such a pattern once compiled, with its repetitions written out.
        compared_characters: Length to which names are cut before a comparison, which takes time
            in proportion to the product of both lengths.
        compared_names: Names that one name is compared with; so many take a few milliseconds.
        compared_lines: Lines of each text, between their common beginning and end, that a diff
            compares one by one.
    """

    pattern_characters: int = 1_000
    pattern_bytes: int = 64 * 1024
    compared_characters: int = 64
    compared_names: int = 200
    compared_lines: int = 1_000


LIMITS: Final = SearchLimits()


def compile_pattern(pattern: AnyStr) -> Pattern[AnyStr]:
    r"""Compile a pattern of our own, which must be linear in every use.

    Flags stand inside, as `(?s)`. A pattern that is only ever matched at a given position begins
    with `\A`, or with what no other position allows: searching with it would otherwise begin anew
    at each character. Call this at the top of a module: the test finds patterns there.
    """
    return cast("Pattern[AnyStr]", LazyPattern(pattern))


class LazyPattern:
    """A pattern of our own that is compiled at its first use; a start uses few of a hundred.

    Attributes:
        source: The pattern.
    """

    def __init__(self, source: str | bytes) -> None:
        self.source = source

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(re.compile(self.source), name)
        setattr(self, name, attribute)
        return attribute


def read_tokens(
    pattern: Pattern[AnyStr], text: AnyStr, start: int = 0, *, adjacent: bool = False
) -> Iterator[Match[AnyStr]]:
    """Yield the matches of a pattern of our own in a text from any source, in their order.

    Linear matches do not make a linear scan: a pattern that looks far ahead and matches little, or
    nothing, does so at each character. A test measures this function with every pattern.

    Args:
        pattern: The pattern of one token.
        text: The text.
        start: Where reading begins, in characters.
        adjacent: Whether text that is no token ends the tokens. Else reading continues behind it.
    """
    if adjacent:
        return iter(pattern.scanner(text, start).match, None)  # type: ignore[attr-defined]
    return pattern.finditer(text, start)


@dataclass(frozen=True, slots=True)
class LinearPattern:
    """A pattern that another party supplies, matched in linear time whatever it is.

    Attributes:
        source: The pattern.
        flags: Any of `i` (ignore case), `m` (`^` and `$` match at lines) and `s` (`.` matches
            line breaks).

    Raises:
        ValueError: It is too long or too large, is not a regular expression, or needs look-around
            or a back reference, which no engine matches in linear time.
    """

    source: str
    flags: str = ""

    def __post_init__(self) -> None:
        longest, length = LIMITS.pattern_characters, len(self.source)
        if length > longest:
            raise ValueError(f"the pattern has {length:,} characters; write at most {longest:,}")
        if _searcher(self._with_flags) is None:
            problem = (
                f"the pattern '{self.source[:80]}' is no regular expression that can be matched"
            )
            advice = "write it without look-around and back references"
            raise ValueError(f"{problem} in linear time; {advice}")

    @property
    def _with_flags(self) -> str:
        return f"(?{self.flags}){self.source}" if self.flags else self.source

    def matches(self, text: str) -> bool:
        is_match = _searcher(self._with_flags)
        if is_match is None:
            return False
        try:
            return is_match(text)
        except UnicodeEncodeError:  # a lone surrogate, which JSON and file names may hold
            return is_match(text.encode(errors="replace").decode())


@lru_cache(maxsize=256)
def _searcher(pattern: str) -> Callable[[str], bool] | None:
    # Imported here: the module stands below the whole package, and most commands match nothing.
    import jsonschema_rs  # noqa: PLC0415

    options = jsonschema_rs.RegexOptions(size_limit=LIMITS.pattern_bytes)
    try:
        validator = jsonschema_rs.validator_for(
            {"pattern": pattern}, offline=True, pattern_options=options
        )
    except jsonschema_rs.ValidationError:
        return None
    return validator.is_valid


def nearest(name: str, names: Sequence[str], likeness: float = 0.6) -> str | None:
    """Return the member of `names` closest to `name`, or None if none is close.

    Among many names, only those beside `name` in sorted order and those that end alike are
    compared.
    """
    name, most = name[: LIMITS.compared_characters], LIMITS.compared_names
    if len(names) > most:
        ordered = sorted(names)
        at = bisect_left(ordered, name)
        alike = islice((other for other in names if other.endswith(name[-4:])), most // 2)
        names = [*ordered[max(at - most // 4, 0) : at + most // 4], *alike]
    whole = {other[: LIMITS.compared_characters]: other for other in names}
    matches = get_close_matches(name, whole, n=1, cutoff=likeness)
    return whole[matches[0]] if matches else None


def did_you_mean(name: str, names: Iterable[str], otherwise: str, likeness: float = 0.6) -> str:
    near = nearest(name, tuple(names), likeness)
    return f"did you mean '{near}'?" if near else otherwise


_WORD = compile_pattern(r"\w+")


def most_similar(text: str, others: Iterable[str], count: int) -> list[str]:
    matcher = SequenceMatcher(b=_comparable(text))

    def ratio(other: str) -> float:
        matcher.set_seq1(_comparable(other))
        return matcher.ratio()

    compared = dict.fromkeys(islice(others, LIMITS.compared_names))
    return sorted(compared, key=ratio, reverse=True)[:count]


def _comparable(text: str) -> str:
    return " ".join(
        word[0] for word in read_tokens(_WORD, text[: LIMITS.compared_characters].casefold())
    )


def unified_diff(before: Sequence[str], after: Sequence[str], context: int) -> Iterator[str]:
    """Yield the lines of a unified diff, without the two that name the files.

    Where too many lines differ to compare each with each, all of them are removed and added.
    """
    head, tail = common_ends(before, after)
    # Equal lines at both ends are not compared, but for the context that is shown of them.
    start, left_out = max(head - context, 0), max(tail - context, 0)
    old, new = before[start : len(before) - left_out], after[start : len(after) - left_out]
    if max(len(old), len(new)) <= LIMITS.compared_lines:
        groups = iter(SequenceMatcher(None, old, new).get_grouped_opcodes(context))
    else:
        groups = iter([[("replace", 0, len(old), 0, len(new))]])
    for group in groups:
        _, first, _, first_new, _ = group[0]
        _, _, last, _, last_new = group[-1]
        removed = _line_range(start + first, last - first)
        yield f"@@ -{removed} +{_line_range(start + first_new, last_new - first_new)} @@"
        for tag, at, end, at_new, end_new in group:
            if tag == "equal":
                yield from (f" {line}" for line in old[at:end])
            else:
                yield from (f"-{line}" for line in old[at:end])
                yield from (f"+{line}" for line in new[at_new:end_new])


def common_ends(before: Sequence[object], after: Sequence[object]) -> tuple[int, int]:
    """Return how many elements two sequences have in common at their beginning and end."""
    size = min(len(before), len(after))
    head = next((at for at in range(size) if before[at] != after[at]), size)
    rest = size - head
    tail = next((at for at in range(rest) if before[-1 - at] != after[-1 - at]), rest)
    return head, tail


def _line_range(start: int, count: int) -> str:
    """Format lines from 0 as unified diffs do; Source: POSIX diff, "Diff -U Output Format"."""
    if count == 1:
        return str(start + 1)
    return f"{start + 1 if count else start},{count}"
