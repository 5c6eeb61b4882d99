"""Spoil real files for a while, and check that each is served or refused within bounds.

They are judged in a process of their own, so that a file that hangs or kills it is
found as well. A failing file is stored, as small as hypothesis makes it.
"""

from __future__ import annotations

import json
import subprocess
from hashlib import blake2b
from pathlib import Path
from random import SystemRandom

from benchmarks.children import ROOT, python
from stress.fuzzing import BOUNDS_S
from stress.table import Row, info_row, limit_row, zero_row

KEPT = ROOT / "build" / "fuzz"


def measure(*, seconds: float, seed: int | None = None) -> list[Row]:
    """Measure the verdicts of spoilt files.

    Args:
        seconds: Duration.
        seed: Seed of the files; random by default.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    current = KEPT / "current.widget"
    first = SystemRandom().randrange(10**6) if seed is None else seed
    what = f"spoilt files, {seconds:.0f} s, seed {first}"
    command = python("stress.fuzzing", str(seconds), str(first), str(current))
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        file = _keep_failing(current)
        return [Row(what=what, measured=f"a file that fails: {file}", bar="none", held=False)]
    summary = json.loads(ended.stdout)
    current.unlink(missing_ok=True)
    return [
        info_row(what, f"{summary['served']:,} served, {summary['refused']:,} refused"),
        zero_row("  neither served nor refused with a located message", 0),
        *(
            limit_row(
                f"  the longest {step}", summary[step] * 1000, limit_s * 1000, "ms", "processor"
            )
            for step, limit_s in BOUNDS_S.items()
        ),
    ]


def _keep_failing(current: Path) -> Path:
    digest = blake2b(current.read_bytes(), digest_size=6).hexdigest()
    return current.rename(current.with_name(f"{digest}.widget"))
