"""The simulated world finds no violation, and is the same world each time."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def simulate(*arguments: str, hash_seed: str = "random") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "simulation", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.timeout(300)
def test_no_seed_breaks_a_law() -> None:
    run = simulate("1-200")

    assert run.returncode == 0, run.stdout + run.stderr


def test_a_seed_has_one_history() -> None:
    first, again = simulate("7", hash_seed="1"), simulate("7", hash_seed="2")

    assert first.stdout == again.stdout
    assert "0 violations" in first.stdout


def test_a_defect_is_found_and_undone() -> None:
    run = simulate("mutants", "broken file loses its last good version")

    assert run.returncode == 0, run.stdout + run.stderr
    assert "| seed " in run.stdout
