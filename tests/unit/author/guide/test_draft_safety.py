"""No draft costs more than a file may."""

from __future__ import annotations

import subprocess
import sys


def test_every_attack_and_bad_widget_stays_within_the_limits_of_a_draft() -> None:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "tests.unit.author.guide.draft_attacks"],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    tried = done.stdout.splitlines()

    assert done.returncode == 0, (tried[-1:], done.stderr[-2000:])
    assert tried[-1] == f"done: {len(tried) - 1}"
    assert len(tried) - 1 > 60
