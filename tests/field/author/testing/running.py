"""`widgetd test`, as people run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

BROWSER_S = 110

PLUGINLESS = {"PYTEST_ADDOPTS": "-p no:langsmith_plugin -p no:hypothesispytest"}
"""Leaves out plugins of other packages here, which import for longer than most tests run."""


def widgetd_test(
    folder: Path, *arguments: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "widgetd", "test", *arguments],
        cwd=folder,
        env={**os.environ, **PLUGINLESS, **environment},
        capture_output=True,
        text=True,
        timeout=BROWSER_S,
        check=False,
    )


def write_test(folder: Path, *steps: str) -> None:
    lines = "".join(f"      - {step}\n" for step in steps)
    text = f"widget: controls\ntests:\n  - name: acts\n    steps:\n{lines}"
    (folder / "Controls.test.yaml").write_text(text)
