"""The scripts that need more than Python: sound, and honest where they cannot run."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
TESTS = ("deploy/image-test", "systemd/boot-test")
SCRIPTS = (*TESTS, "systemd/boot-steps", "deploy/steps.sh", "deploy/release", "deploy/git-sync")


@pytest.mark.skipif(
    shutil.which("shellcheck") is None, reason="needs shellcheck, Debian's package of that name"
)
@pytest.mark.parametrize("script", SCRIPTS)
def test_shellcheck_reports_nothing(script: str) -> None:
    verdict = subprocess.run(
        ["shellcheck", "--external-sources", "--source-path=deploy", script],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )

    assert (verdict.returncode, verdict.stdout) == (0, "")


@pytest.mark.parametrize(
    ("script", "packages"),
    [
        ("deploy/image-test", "buildah umoci crun mmdebstrap iproute2 curl python3"),
        ("systemd/boot-test", "systemd-container mmdebstrap util-linux"),
    ],
)
def test_script_without_its_tools_names_the_packages_to_install(
    script: str, packages: str, tmp_path: Path
) -> None:
    for tool in ("bash", "dirname"):
        (tmp_path / tool).symlink_to(str(shutil.which(tool)))

    ran = subprocess.run(
        [tmp_path / "bash", ROOT / script],
        env={"PATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    message = f"skipped: needs Debian's packages {packages}, which are not all here\n"
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, message, "")


def test_make_has_at_most_thirty_targets_of_which_help_shows_six_first() -> None:
    printed = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    groups = [group.splitlines()[1:] for group in printed.stdout.split("\n\n")]
    assert len(groups[0]) == 6
    assert sum(map(len, groups)) <= 30
