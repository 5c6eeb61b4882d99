"""Spoil real files for a while, and see that each is served or refused within bounds.

They are judged in a process of their own, so that a file which hangs or kills it is
seen as well. The one that fails is kept, as small as hypothesis makes it.
"""

from __future__ import annotations

import json
import subprocess
from hashlib import blake2b
from pathlib import Path
from random import SystemRandom

from benchmarks.children import ROOT, python
from stress.fuzzing import BOUNDS_S
from stress.table import Row, at_most, none_of, told

KEPT = ROOT / "build" / "fuzz"


def rows(*, seconds: float, seed: int | None = None) -> list[Row]:
    """The rows of files that were spoilt.

    Args:
        seconds: How long to go on.
        seed: Decides what is tried; another each time if not said.
    """
    KEPT.mkdir(parents=True, exist_ok=True)
    current = KEPT / "current.widget"
    first = SystemRandom().randrange(10**6) if seed is None else seed
    what = f"spoilt files, {seconds:.0f} s, seed {first}"
    command = python("stress.fuzzing", str(seconds), str(first), str(current))
    ended = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        kept = _kept(current)
        return [Row(what=what, measured=f"a file that fails: {kept}", bar="none", held=False)]
    seen = json.loads(ended.stdout)
    current.unlink(missing_ok=True)
    return [
        told(what, f"{seen['served']:,} served, {seen['refused']:,} refused"),
        none_of("  neither served nor refused with a located message", 0),
        *(
            at_most(f"  the longest {step}", seen[step] * 1000, limit_s * 1000, "ms", "processor")
            for step, limit_s in BOUNDS_S.items()
        ),
    ]


def _kept(current: Path) -> Path:
    digest = blake2b(current.read_bytes(), digest_size=6).hexdigest()
    return current.rename(current.with_name(f"{digest}.widget"))
