"""Programs of pages draw what the server draws, for bundled widgets and the corpus."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[4]
LIMIT_S = 110


@pytest.mark.skipif(
    not (ROOT / "view" / "node_modules").is_dir(),
    reason="`make view-check` installs what runs the page's programs, where Node is",
)
def test_page_draws_the_servers_trees_and_loses_few_texts_while_arguments_arrive() -> None:
    command = [sys.executable, "-m", "benchmarks.page"]
    done = subprocess.run(
        command, cwd=ROOT, capture_output=True, text=True, timeout=LIMIT_S, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert "arguments: equal" in done.stdout
