"""Judge spoilt files for a while: `python -m stress.fuzzing SECONDS SEED FILE`.

Each file is written to FILE before it is judged, and stays there if it ends this process.
 Prints a summary as JSON: `{"served": 100, "refused": 300, "load": 0.02, ...}`.
"""

from __future__ import annotations

import faulthandler
import json
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis.strategies import SearchStrategy

from benchmarks.corpus import CORPUS
from benchmarks.folders import bundled
from stress.judging import Judge, Verdict
from stress.spoiling import spoilt_files
from widgetd.base.errors import WidgetError
from widgetd.base.limits import Limits
from widgetd.core.schema.json_text import parse_file

BOUNDS_S = {"load": 0.25, "call": 0.25, "check": 5.0}
"""Processor time. A check is for authors, and tries a widget with dozens of arguments."""

MOST_BYTES = 64 * 1024 * 1024
HANGS_S = 60.0
_BATCH = 500

Case = TypeVar("Case")


@dataclass(slots=True, kw_only=True)
class Summary:
    """The verdicts so far.

    Attributes:
        served: Number of files served.
        refused: Number of files refused.
        worst_s: Longest duration of each step.
    """

    served: int = 0
    refused: int = 0
    worst_s: dict[str, float] = field(default_factory=lambda: dict.fromkeys(BOUNDS_S, 0.0))

    def add(self, verdict: Verdict) -> None:
        """Count a verdict, and check it against the bounds."""
        self.served += verdict.served
        self.refused += not verdict.served
        assert not verdict.exceeds(BOUNDS_S), verdict.took_s
        assert verdict.grown_bytes <= MOST_BYTES, verdict.grown_bytes
        for step, took_s in verdict.took_s.items():
            self.worst_s[step] = max(self.worst_s[step], took_s)


def load_originals() -> list[bytes]:
    """Return the bundled and, where they exist, the real widgets that are JSON objects."""
    contents = (path.read_bytes() for path in (*bundled(), *sorted(CORPUS.rglob("*.widget"))))
    return list(_objects(contents))


def _objects(contents: Iterator[bytes]) -> Iterator[bytes]:
    for content in contents:
        try:
            parse_file(content, Limits())
        except WidgetError:
            continue
        yield content


def fuzz(seconds: float, first_seed: int, current: Path) -> Summary:
    """Judge spoilt files for `seconds`.

    Args:
        seconds: Duration.
        first_seed: Seed of the first batch.
        current: Path for each file before it is judged.
    """
    files = load_originals()
    judge, summary = Judge(files[0]), Summary()
    ends_s = time.monotonic() + seconds

    def judged(content: bytes) -> None:
        if time.monotonic() > ends_s:
            return
        current.write_bytes(content)
        faulthandler.dump_traceback_later(HANGS_S, exit=True)
        verdict = judge.judge(content)
        if verdict.exceeds(BOUNDS_S):  # perhaps by the garbage collector or a busy neighbour
            verdict = judge.judge(content)
        summary.add(verdict)

    generate_until(ends_s, spoilt_files(files), judged, first_seed=first_seed)
    faulthandler.cancel_dump_traceback_later()
    return summary


def generate_until(
    ends_s: float,
    strategy: SearchStrategy[Case],
    attempt: Callable[[Case], None],
    *,
    first_seed: int = 0,
) -> None:
    """Generate cases for `attempt`, each batch from the next seed, until a monotonic time."""
    often = settings(
        max_examples=_BATCH,
        deadline=None,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
    )
    number = first_seed
    while time.monotonic() < ends_s:
        seed(number)(often(given(strategy)(attempt)))()
        number += 1


def main(seconds: str, first_seed: str, current: str) -> None:
    """Judge files, and print the summary."""
    summary = fuzz(float(seconds), int(first_seed), Path(current))
    print(json.dumps({"served": summary.served, "refused": summary.refused, **summary.worst_s}))


if __name__ == "__main__":
    main(*sys.argv[1:])
