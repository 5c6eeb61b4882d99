"""The simulated world finds no violation, and is the same world each time."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from simulation.mutants import MUTANTS, find

pytestmark = pytest.mark.timeout(600)

ROOT = Path(__file__).parents[3]
DEFECT = "broken file loses its last good version"


def simulate(*arguments: str, hash_seed: str = "random") -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, "-m", "simulation", *arguments]
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


def test_no_seed_breaks_a_law() -> None:
    run = simulate("1-200")

    assert run.returncode == 0, run.stdout + run.stderr


def test_a_seed_has_one_history() -> None:
    first, again = simulate("7", hash_seed="1"), simulate("7", hash_seed="2")

    assert first.stdout == again.stdout
    assert "0 violations" in first.stdout


def test_seed_that_fails_by_itself_finds_no_mutant() -> None:
    defect = next(mutant for mutant in MUTANTS if mutant.name == DEFECT)
    harmless = replace(defect, changes=())

    with defect.applied():
        assert find(harmless, 0) is None
    assert find(defect, 0) is not None
