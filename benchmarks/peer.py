"""mcp-chatkit-widget, as people install it: from the package index, in an environment of its own.

It needs Python 3.12; an interpreter is found by running it, for a version
manager's shim may exist and still not run.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks.children import ROOT

REQUIREMENT = "mcp-chatkit-widget==0.2.0"
ENVIRONMENT = Path(__file__).parent / ".cache" / "peer"

_NAMES = ("python3.12", "python3.13", "python3", "python")
_CHECK = "import sys; sys.exit(sys.version_info < (3, 12))"
_CHILD = ("-m", "benchmarks.peer_child")


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """The other project, ready to be run.

    Attributes:
        python: The interpreter of its environment.
        versions: What it runs on, for people.
    """

    python: Path
    versions: str

    def command(self, *arguments: str) -> tuple[str, ...]:
        """Build the command that runs `peer_child` with `arguments`."""
        return (str(self.python), *_CHILD, *arguments)


def peer() -> Peer | str:
    """Install the other project on first use; return why not if that fails."""
    python = ENVIRONMENT / "bin" / "python"
    if not python.exists():
        interpreter = next(_interpreters(), None)
        if interpreter is None:
            return f"{REQUIREMENT} needs Python 3.12 or newer, which was not found here"
        subprocess.run([interpreter, "-m", "venv", str(ENVIRONMENT)], check=True)
    pip = [
        str(python),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        REQUIREMENT,
    ]
    if subprocess.run(pip, check=False, stderr=subprocess.DEVNULL).returncode:
        return f"{REQUIREMENT} could not be installed; is there a package index?"
    freeze = subprocess.run(
        [str(python), *_CHILD, "versions"], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return Peer(python=python, versions=freeze.stdout.strip())


def _interpreters() -> Iterator[str]:
    """Yield the interpreters that run and are new enough."""
    homes = sorted(Path.home().glob(".pyenv/versions/3.*/bin/python"))
    candidates = (sys.executable, *map(shutil.which, _NAMES), *map(str, homes))
    for path in dict.fromkeys(path for path in candidates if path):
        if subprocess.run([path, "-c", _CHECK], check=False, capture_output=True).returncode == 0:
            yield path
