"""Find patterns of the package that take more than linear time; `main` runs within limits.

Each repeat of a pattern is the place of an attack: a text that leads up to it, many times what it
repeats, then a character that nothing admits.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator, Sequence
from re import _compiler as compiler  # type: ignore[attr-defined]
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from typing import Any

import widgetd
from widgetd.text_search import LazyPattern

REPEATS = (1_250, 5_000, 10_000)
"""Short texts first: what takes cubic time is found before it takes minutes.

Quadratic time takes 0.1 s at the last step where each of its steps takes two nanoseconds, the
least that matching a character takes.
"""

PAIR_S = 0.25e-9
"""An attack that takes less for each pair of repeats goes no further; quadratic time takes 1e-9."""

LONGEST = 50_000
NOTICEABLE_S = 0.05
"""Less is not measured twice: quadratic time takes several times as much at the last step."""

GROWTH = 3
"""Times as long for twice the length; linear time grows by two, quadratic time by four."""

DEADLINE_S = 60
CHOICES = 4
"""Characters of each set that are tried."""

_REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)
_ENDS = ("\x00", "")


def package_patterns() -> dict[str, re.Pattern[Any]]:
    """Import every module of the package and return its patterns by their place."""
    patterns: dict[int, tuple[str, re.Pattern[Any]]] = {}
    for module in pkgutil.walk_packages(widgetd.__path__, "widgetd."):
        if not module.name.endswith("__main__"):
            for name, value in vars(importlib.import_module(module.name)).items():
                for one in _within(value):
                    patterns.setdefault(id(one), (f"{module.name}.{name}", one))
    return {f"{name} {one.pattern!r:.60}": one for name, one in patterns.values()}


def _within(value: Any, depth: int = 3) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, LazyPattern):
        yield re.compile(value.source)
    elif isinstance(value, re.Pattern):
        yield value
    elif depth and isinstance(value, dict):
        for one in value.values():
            yield from _within(one, depth - 1)
    elif depth and isinstance(value, list | tuple | set | frozenset):
        for one in value:
            yield from _within(one, depth - 1)
    elif isinstance(value, type) and value.__module__.startswith("widgetd"):
        for one in vars(value).values():
            yield from _within(one, 0)


class Attacks:
    """The texts that a pattern may take long to read.

    Args:
        pattern: The pattern.
    """

    def __init__(self, pattern: re.Pattern[Any]) -> None:
        self._is_bytes = isinstance(pattern.pattern, bytes)
        source = pattern.pattern.decode("latin-1") if self._is_bytes else pattern.pattern
        self._tree = parser.parse(source, pattern.flags & ~re.UNICODE if self._is_bytes else 0)
        beyond = {one for one in source if not one.isascii()}
        self._alphabet = ["\n", *map(chr, range(32, 127)), "é", *sorted(beyond)]

    def parts(self) -> Iterator[tuple[Any, Any, Any]]:
        """Yield attacks as a beginning, a repeated part and an end."""
        all_parts = (one for at in range(CHOICES) for one in self._repeats(self._tree, "", at))
        for parts in dict.fromkeys((*one, end) for one in all_parts for end in _ENDS if one[1]):
            if not self._is_bytes:
                yield parts
            else:
                with contextlib.suppress(UnicodeEncodeError):
                    before, body, end = (part.encode("latin-1") for part in parts)
                    yield before, body, end

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
        if code in (codes.IN, codes.NOT_LITERAL, codes.ANY):
            return str(_pick(self._members(code, argument), choice))
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
        return [one for one in self._alphabet if admitted.match(one)] or [""]


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
    """Return an attack for which twice the length takes more than three times as long."""
    attacks = list(Attacks(pattern).parts())
    for repeats in REPEATS:
        superlinear = []
        for attack in attacks:
            before, body, end = attack
            count = min(repeats, LONGEST // len(body))
            long = before + body * count + end
            cost = _cost_s(pattern, long)
            if cost >= PAIR_S * count**2:
                superlinear.append(attack)
            if cost >= NOTICEABLE_S:
                short = before + body * (count // 2) + end
                quick, slow = (
                    min(_cost_s(pattern, one) for _ in range(3)) for one in (short, long)
                )
                if slow >= NOTICEABLE_S and slow > GROWTH * quick:
                    name = f"{before[:40]!r} + {count} * {body[:40]!r} + {end!r}"
                    return f"{name}: {quick:.3f} to {slow:.3f} s"
        attacks = superlinear
    return ""


def _cost_s(pattern: re.Pattern[Any], text: Any) -> float:
    """Return the processor time of matching all of a text, and of removing all matches from it."""
    begun = time.process_time()
    pattern.fullmatch(text)
    pattern.sub(text[:0], text)
    return time.process_time() - begun


def main() -> None:
    """Print each pattern before its trial and each slow one; patterns may be named."""
    signal.signal(signal.SIGVTALRM, signal.SIG_DFL)
    gc.disable()  # what is imported stays, and a collection would count as a pattern's time
    patterns = {one: re.compile(one) for one in sys.argv[1:]} or package_patterns()
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
