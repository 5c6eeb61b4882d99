"""The TypeScript compiler of the view."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

TSC = Path(__file__).parents[2] / "view" / "node_modules" / ".bin" / "tsc"

needs_tsc = pytest.mark.skipif(
    not TSC.exists() or shutil.which("node") is None,
    reason="needs the TypeScript compiler of view/node_modules",
)


def compile_typescript(folder: Path, file: str) -> str:
    """Check a file by the strictest rules, and return what the compiler says of it."""
    rules = ("--noEmit", "--strict", "--exactOptionalPropertyTypes")
    command = [str(TSC), *rules, "--target", "es2022", "--module", "esnext", file]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout
