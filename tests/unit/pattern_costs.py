"""Find patterns of the package and its pages whose scans take more than linear time.

`main` runs within limits.

The attacks on a pattern are of two kinds. Each repeat is the place of one: a text that leads up to
it, many times what it repeats, then a character that nothing admits. The others repeat every one,
two and three of the pattern's pieces: its words, and one of the characters that it treats alike.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import importlib
import operator
import pkgutil
import re
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from pathlib import Path
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import tree_sitter
import tree_sitter_javascript

import widgetd
from widgetd.base.text_search import LazyPattern, read_tokens

LENGTHS = (200, 2_500)
"""Lengths of texts, each compared with one four times as long.

The longer ones only of what the shorter ones show to be slow: a repeat of at most a few thousand
characters takes quadratic time up to there.
"""

TIMES = 4
GROWTH = 8
"""Times as much work for four times the length; linear scans take 4, quadratic ones 16."""

CUBIC = 32
"""Growth of what is slow beyond doubt, so that no longer text is tried."""

DEADLINE_S = 60
CHOICES = 4
"""Characters of each set that are tried in a repeat."""

VIEW = Path(__file__).parents[2] / "view"
PAGES = ("src", "editor")

_CATEGORIES = {"C": "\x00", "L": "[a-zA-Z]", "Lo": "ª", "Lu": "[A-Z]", "Z": " "}

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_SETS = (codes.IN, codes.LITERAL, codes.NOT_LITERAL, codes.ANY)
_ENDS = ("\x00", "")


def package_patterns() -> dict[str, re.Pattern[Any]]:
    """Import every module of the package and return its patterns by their place."""
    patterns: dict[int, tuple[str, re.Pattern[Any]]] = {}
    for module in pkgutil.walk_packages(widgetd.__path__, "widgetd."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                for pattern in _within(value):
                    patterns.setdefault(id(pattern), (f"{module.name}.{name}", pattern))
    return {f"{name} {pattern.pattern!r:.60}": pattern for name, pattern in patterns.values()}


def page_patterns() -> dict[str, re.Pattern[Any]]:
    """Return the patterns in the sources of the pages, which backtrack in browsers as in `re`."""
    language = tree_sitter.Language(tree_sitter_javascript.language())
    parse = tree_sitter.Parser(language).parse
    patterns = {}
    for path in sorted(file for part in PAGES for file in (VIEW / part).rglob("*.ts")):
        nodes = [parse(path.read_bytes()).root_node]
        while nodes:
            node = nodes.pop()
            nodes += node.children
            if node.type == "regex":
                source, flags = (node.child_by_field_name(name) for name in ("pattern", "flags"))
                place = f"{path.relative_to(VIEW)}:{node.start_point[0] + 1} {node.text!r:.60}"
                patterns[place] = _compile_for_page(_node_text(source), _node_text(flags))
    return patterns


def _node_text(node: tree_sitter.Node | None) -> str:
    return "" if node is None or node.text is None else node.text.decode()


def _compile_for_page(source: str, flags: str) -> re.Pattern[Any]:
    """Compile a pattern of JavaScript; a category of Unicode becomes a few of its characters."""
    source = re.sub(r"\(\?<(?![=!])", "(?P<", source).replace("[^]", r"[\s\S]")
    source = re.sub(r"\\p\{(\w+)\}", lambda match: _CATEGORIES[match[1]], source)
    options = [getattr(re, flag.upper()) for flag in flags if flag in "ims"]
    with warnings.catch_warnings(action="ignore"):  # a bracket in brackets is no set there
        return re.compile(source, functools.reduce(operator.or_, options, re.NOFLAG))


def _within(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, LazyPattern):
        yield re.compile(value.source)
    elif isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for member in value.values():
            yield from _within(member, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for member in value:
            yield from _within(member, depth - 1)
    elif isinstance(value, type) and value.__module__.startswith("widgetd"):
        for member in vars(value).values():
            yield from _within(member, 0)


class Attacks:
    """The texts that a pattern may take long to read.

    Args:
        pattern: The pattern.
    """

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._is_bytes = isinstance(pattern.pattern, bytes)
        source = pattern.pattern.decode("latin-1") if self._is_bytes else pattern.pattern
        self._tree = parser.parse(source, pattern.flags & ~re.UNICODE if self._is_bytes else 0)
        beyond = {char for char in source if not char.isascii()}
        self._alphabet = ["\n", "\r", *map(chr, range(32, 127)), "é", *sorted(beyond)]

    def parts(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield attacks as a beginning, a repeated part and an end."""
        beginnings = [pair for at in range(CHOICES) for pair in self._repeats(self._tree, "", at)]
        pieces = self._pieces()
        for size in (1, 2):
            beginnings += (("", "".join(chosen)) for chosen in product(pieces, repeat=size))
        attacks = [(*pair, end) for pair in beginnings for end in _ENDS if pair[1]]
        attacks += (("", "".join(chosen), _ENDS[0]) for chosen in product(pieces, repeat=3))
        for parts in dict.fromkeys(attacks):
            if not self._is_bytes:
                yield parts
            else:
                with contextlib.suppress(UnicodeEncodeError):
                    before, body, end = (part.encode("latin-1") for part in parts)
                    yield before, body, end

    def _pieces(self) -> list[str]:
        """Return the words of the pattern, and one of each kind of characters."""
        words: dict[str, None] = {}
        sets: list[frozenset[str]] = []
        for is_word, leaves in groupby(_leaves(self._tree), _is_of_a_word):
            if len(group := list(leaves)) > 1 and is_word:
                words["".join(chr(argument) for _, argument in group)] = None
            else:
                sets += [frozenset(self._members(*leaf)) for leaf in group]
        kinds = {tuple(char in members for members in sets): char for char in self._alphabet}
        return [*words, *kinds.values()]

    def _repeats(self, tree: Any, before: str, choice: int) -> Iterator[tuple[str, str]]:
        for code, argument in tree:
            if code in _REPEATS:
                _, high, body = argument
                if high is codes.MAXREPEAT or high > 100:
                    sample = self._sample(body, choice)
                    yield before, sample
                    yield "", before + sample
                yield from self._repeats(body, before, choice)
            elif code is codes.BRANCH:
                for branch in argument[1]:
                    yield from self._repeats(branch, before, choice)
            elif inner := _inner(code, argument):
                yield from self._repeats(inner, before, choice)
            before += self._sample_of(code, argument, choice)
        yield "", before

    def _sample(self, tree: Any, choice: int) -> str:
        """Return a text that a part of the pattern matches, as far as it is looked at."""
        return "".join(self._sample_of(code, argument, choice) for code, argument in tree)

    def _sample_of(self, code: Any, argument: Any, choice: int) -> str:
        if code is codes.LITERAL:
            return chr(argument)
        if code in _SETS:
            return str(_pick(self._members(code, argument) or [""], choice))
        if code is codes.BRANCH:
            return self._sample(_pick(argument[1], choice), choice)
        if code in _REPEATS:
            return self._sample(argument[2], choice) * int(argument[0])
        if code is codes.ASSERT_NOT or (code is codes.ASSERT and argument[0] < 0):
            return ""
        return self._sample(_inner(code, argument), choice)

    def _members(self, code: Any, argument: Any) -> Sequence[str]:
        tree = parser.parse("a")
        tree.data[:] = [(code, argument)]
        admitted = compiler.compile(tree)
        return [char for char in self._alphabet if admitted.match(char)]


def _leaves(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Yield each part of a pattern that matches one character."""
    for code, argument in tree:
        if code in _SETS:
            yield code, argument
        elif code in _REPEATS:
            yield from _leaves(argument[2])
        elif code is codes.BRANCH:
            for branch in argument[1]:
                yield from _leaves(branch)
        else:
            yield from _leaves(_inner(code, argument))


def _is_of_a_word(leaf: tuple[Any, Any]) -> bool:
    code, argument = leaf
    return code is codes.LITERAL and chr(argument).isalnum()


def _inner(code: Any, argument: Any) -> Any:
    if code is codes.SUBPATTERN:
        return argument[3]
    if code is codes.ATOMIC_GROUP:
        return argument
    return argument[1] if code in (codes.ASSERT, codes.ASSERT_NOT) else ()


def _pick(choices: Sequence[Any], choice: int) -> Any:
    # The first, the last and two in between: white space, marks, digits and letters.
    return choices[choice * (len(choices) - 1) // (CHOICES - 1)]


def slow_attack(pattern: re.Pattern[Any]) -> str:
    """Return an attack whose cost grows faster than its length."""
    for before, body, end in Attacks(pattern).parts():
        for length in LENGTHS:
            count = max(length // len(body), 1)
            short, long = (before + body * times + end for times in (count, count * TIMES))
            growth = _measure_growth(pattern, short, long)
            if growth < GROWTH:
                break
            if growth >= CUBIC or length == LENGTHS[-1]:
                return f"{before[:40]!r} + {count} * {body[:40]!r} + {end!r}: {growth:.0f} times"
    return ""


def _measure_growth(pattern: re.Pattern[Any], short: Any, long: Any) -> float:
    """Return how many times as much processor time `long` takes; checked again if it is much."""
    slow_s, quick_s = _cost_s(pattern, long), _cost_s(pattern, short)
    if slow_s >= GROWTH / 2 * quick_s:
        slow_s = min(slow_s, _cost_s(pattern, long))
        quick_s = min(_cost_s(pattern, short) for _ in range(3))
    return slow_s / quick_s


def _cost_s(pattern: re.Pattern[Any], text: Any) -> float:
    """Return the processor time of matching all of a text, and of reading its tokens.

    Adjacent tokens are the first ones of these, so they cost no more.
    """
    # The clock of the process counts only whole ticks while the timer of the deadline runs.
    start = time.thread_time()
    pattern.fullmatch(text)
    deque(read_tokens(pattern, text), maxlen=0)
    return time.thread_time() - start


def main() -> None:
    """Print each pattern before its trial and each slow one; patterns may be named."""
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    gc.disable()  # what is imported stays, and a collection would count as a pattern's time
    patterns = {source: re.compile(source) for source in sys.argv[1:]}
    patterns = patterns or {**page_patterns(), **package_patterns()}
    for name, pattern in patterns.items():
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
        signal.setitimer(signal.ITIMER_VIRTUAL, DEADLINE_S)
        if attack := slow_attack(pattern):
            sys.stdout.write(f"SLOW {name} {attack}\n")
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    sys.stdout.write("done\n")


if __name__ == "__main__":
    main()
