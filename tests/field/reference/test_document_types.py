"""The Python in the documents passes both type checkers, at their strictest."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
PYRIGHT = ROOT / "view" / "node_modules" / ".bin" / "pyright"

needs_pyright = pytest.mark.skipif(
    not PYRIGHT.exists() or shutil.which("node") is None,
    reason="pyright comes with view/node_modules, not here",
)

CHECKERS = [pytest.param("mypy", id="mypy"), pytest.param("pyright", marks=needs_pyright)]


def write_blocks(folder: Path) -> int:
    """Write each block of Python in README.md and docs/*.md as a module; return their number."""
    count = 0
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = page.read_text(encoding="utf-8")
        for block in re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE):
            line = text.count("\n", 0, block.start()) + 1
            name = f"{page.stem.lower()}_line_{line}.py"
            (folder / name).write_text(block[1], encoding="utf-8")
            count += 1
    return count


def run_checker(checker: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Check the modules in `folder` with a type checker."""
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(folder / ".mypy_cache")]
    if checker == "pyright":
        config = {"typeCheckingMode": "strict"}
        (folder / "pyrightconfig.json").write_text(json.dumps(config), encoding="utf-8")
        command = [str(PYRIGHT), "--pythonpath", sys.executable, "--project", str(folder)]
    else:
        command += map(str, sorted(folder.glob("*.py")))
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("checker", CHECKERS)
def test_python_of_the_documents_passes_a_strict_type_checker(checker: str, tmp_path: Path) -> None:
    assert write_blocks(tmp_path) >= 4

    ended = run_checker(checker, tmp_path)

    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.timeout(300)
@pytest.mark.parametrize("checker", CHECKERS)
def test_type_checker_knows_the_types_of_the_package(checker: str, tmp_path: Path) -> None:
    program = """import widgetd

widget = widgetd.get_widget("chart")
widget.render()
"""
    (tmp_path / "program.py").write_text(program, encoding="utf-8")

    ended = run_checker(checker, tmp_path)

    assert ended.returncode == 1
    assert '"render"' in ended.stdout  # None has none
