"""Chromium runs in the unit with its drop-in, and in a container that can write nothing."""

from __future__ import annotations

import ctypes.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.field.deploy.documents import compose, instruction, instructions
from tests.field.deploy.test_systemd import SYSTEMD, UNIT, analyze
from tests.field.server.web.browsing import needs_browser

ROOT = Path(__file__).resolve().parents[3]
DROP_IN = SYSTEMD / "drop-ins" / "browser.conf"
CHILD = [sys.executable, "-m", "tests.field.deploy.confined"]
TAKEN = "800 x 120\n"
WITHOUT_CAPABILITIES = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all"]

needs_seccomp = pytest.mark.skipif(
    ctypes.util.find_library("seccomp") is None or shutil.which("systemd-analyze") is None,
    reason="needs libseccomp and systemd-analyze, which Debian's package systemd brings",
)
needs_root = pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("unshare") is None,
    reason="only root can mount what a container has",
)


def values_of(*files: Path, key: str) -> list[str]:
    every_line = [line for file in files for line in file.read_text().splitlines()]
    return [line.partition("=")[2] for line in every_line if line.startswith(f"{key}=")]


def calls_in(group: str) -> set[str]:
    """Return the system calls of a group that a unit names."""
    if not group.startswith("@"):
        return {group}
    listed = analyze("syscall-filter", group).stdout.splitlines()[1:]
    names = [line.strip() for line in listed if line.strip() and not line.strip().startswith("#")]
    return set().union(*map(calls_in, names))


def allowed_calls(*files: Path) -> set[str]:
    calls = calls_in("@default")
    for value in values_of(*files, key="SystemCallFilter"):
        named = set[str]().union(*map(calls_in, value.removeprefix("~").split()))
        calls = calls - named if value.startswith("~") else calls | named
    return calls


@needs_browser
@needs_seccomp
def test_picture_is_taken_under_the_system_calls_of_the_unit_with_its_drop_in() -> None:
    families = values_of(UNIT, key="RestrictAddressFamilies")[-1].split()
    policy = json.dumps([sorted(allowed_calls(UNIT, DROP_IN)), families])
    setpriv = WITHOUT_CAPABILITIES if os.geteuid() == 0 else []

    done = subprocess.run(
        [*setpriv, *CHILD, policy], capture_output=True, text=True, check=False, timeout=100
    )

    assert (done.returncode, done.stdout) == (0, TAKEN), done.stderr


@needs_browser
@needs_root
def test_picture_is_taken_with_only_tmp_writable_and_no_privileges() -> None:
    # A clone below /tmp would vanish beneath the empty one, so it is mounted there again.
    script = """
        mount --make-rprivate /
        case "$ROOT" in /tmp/*) mount --bind "$ROOT" /mnt ;; esac
        mount -o remount,bind,ro /
        mount -t tmpfs -o size=256m tmpfs /tmp
        case "$ROOT" in /tmp/*) mkdir -p "$ROOT" && mount --move /mnt "$ROOT" && cd "$ROOT" ;; esac
        if touch /confined 2>/dev/null; then exit 4; fi
        exec "$@"
    """
    shell = ["unshare", "--mount", "sh", "-c", script, "sh"]

    done = subprocess.run(
        [*shell, *WITHOUT_CAPABILITIES, "--no-new-privs", *CHILD],
        env={**os.environ, "ROOT": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )

    assert (done.returncode, done.stdout) == (0, TAKEN), done.stderr


def test_preview_image_has_a_browser_emoji_and_axe_and_is_not_root() -> None:
    [installed] = [rest for word, rest in instructions("preview") if word == "RUN"]
    [extras] = [rest for word, rest in instructions("shots") if word == "RUN"]
    service = compose()["services"]["preview"]

    assert " chromium " in installed
    assert " fonts-noto-color-emoji " in installed
    assert "/^axe-playwright-python==/" in extras
    assert "/^playwright==/" in extras
    assert instruction("preview", "USER") == "10001:10001"
    assert service["environment"]["WIDGETD_TOOLSET"] == "pictures,sessions"
    assert service["tmpfs"] == ["/tmp:size=256m"]
