"""Times of two arms in alternation, and the confidence interval of their ratio.

The machine may be busy with other things. What disturbs one arm of a pair
disturbs the other as well, so pairs are kept together: a bootstrap draws whole
pairs, never single values. Knows nothing of what is being timed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

DRAWS = 1000
_TAIL = 2.5

Timed = Callable[[], float]
"""Does its work once and says how many seconds it took."""

Statistic = Callable[[Sequence[float]], float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """The times of two arms, pair by pair, in seconds.

    Attributes:
        ours: What is measured.
        theirs: What it is measured against.
    """

    ours: tuple[float, ...]
    theirs: tuple[float, ...]

    def __len__(self) -> int:
        return len(self.ours)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ratio:
    """A ratio, and the interval that holds it in 95 of 100 cases."""

    value: float
    low: float
    high: float


def alternate(ours: Timed, theirs: Timed, *, pairs: int, warm_up: int = 3, block: int = 1) -> Pairs:
    """Time `ours` and `theirs` in turns, each as often first as second.

    Args:
        ours: What is measured.
        theirs: What it is measured against.
        pairs: How many pairs to keep.
        warm_up: How many to run before, and to forget.
        block: How often each is run in its turn. A server that is asked once, and then waits for
            the other's turn, finds the processor's caches cold, which a busy one never does.
    """
    timings: list[tuple[float, float]] = []
    while len(timings) < warm_up + pairs:
        timings += _turns(ours, theirs, len(timings) // block, block)
    kept = timings[warm_up : warm_up + pairs]
    return Pairs(ours=tuple(own for own, _ in kept), theirs=tuple(other for _, other in kept))


def _turns(ours: Timed, theirs: Timed, number: int, block: int) -> list[tuple[float, float]]:
    if number % 2:
        others = [theirs() for _ in range(block)]
        return list(zip([ours() for _ in range(block)], others, strict=True))
    own = [ours() for _ in range(block)]
    return list(zip(own, [theirs() for _ in range(block)], strict=True))


def percentile(values: Sequence[float], rank: float) -> float:
    """Return the percentile at `rank`, interpolated between neighbours."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * rank / 100
    below = int(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def at_percentile(rank: float) -> Statistic:
    """Return the statistic that takes the percentile at `rank`."""
    return lambda values: percentile(values, rank)


median = at_percentile(50)


def ratio(pairs: Pairs, statistic: Statistic = median) -> Ratio:
    """Divide a statistic of ours by the same statistic of theirs."""
    return combine_ratios([pairs], lambda ratios: ratios[0], statistic)


def combine_ratios(
    cases: Sequence[Pairs], combine: Statistic, statistic: Statistic = median
) -> Ratio:
    """Combine the ratios of several cases into one.

    Args:
        cases: Each measured by itself.
        combine: Makes one ratio of those of all cases, as their median or their maximum.
        statistic: Makes one value of the times of one arm of one case.
    """
    value = combine([statistic(case.ours) / statistic(case.theirs) for case in cases])
    random = Random(0)
    medians = [combine([_draw(case, statistic, random) for case in cases]) for _ in range(DRAWS)]
    low, high = percentile(medians, _TAIL), percentile(medians, 100 - _TAIL)
    return Ratio(value=value, low=low, high=high)


def difference(pairs: Pairs) -> Ratio:
    """Subtract the median of theirs from the median of ours."""
    random, ours, theirs = Random(0), pairs.ours, pairs.theirs
    differences = []
    for _ in range(DRAWS):
        chosen = random.choices(range(len(pairs)), k=len(pairs))
        differences.append(median([ours[n] for n in chosen]) - median([theirs[n] for n in chosen]))
    low, high = percentile(differences, _TAIL), percentile(differences, 100 - _TAIL)
    return Ratio(value=median(ours) - median(theirs), low=low, high=high)


def _draw(case: Pairs, statistic: Statistic, random: Random) -> float:
    chosen = random.choices(range(len(case)), k=len(case))
    ours, theirs = case.ours, case.theirs
    return statistic([ours[n] for n in chosen]) / statistic([theirs[n] for n in chosen])
