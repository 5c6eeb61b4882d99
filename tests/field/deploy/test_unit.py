"""The systemd unit is valid, confined, and agrees with its README."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

SYSTEMD = Path(__file__).resolve().parents[3] / "systemd"
UNIT = SYSTEMD / "widgetd.service"
DROP_INS = sorted((SYSTEMD / "drop-ins").glob("*.conf"))
TENTHS_ALLOWED = 15

needs_systemd = pytest.mark.skipif(
    shutil.which("systemd-analyze") is None,
    reason="needs systemd-analyze, which Debian's package systemd has",
)


def analyze(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["systemd-analyze", *map(str, arguments)], capture_output=True, text=True, check=False
    )


def version() -> int:
    """Return the version of the installed systemd; 0 without one."""
    if shutil.which("systemd-analyze") is None:
        return 0
    match = re.search(r"systemd (\d+)", analyze("--version").stdout)
    return int(match[1]) if match else 0


def installed(folder: Path, *drop_ins: Path) -> Path:
    """Return the unit with drop-ins, changed to start a program of this machine."""
    unit = folder / UNIT.name
    unit.write_text(UNIT.read_text().replace("/opt/widgetd/bin/widgetd", "/bin/true"))
    options = folder / f"{UNIT.name}.d"
    options.mkdir()
    for drop_in in drop_ins:
        shutil.copy(drop_in, options)
    return unit


@needs_systemd
def test_unit_uses_only_directives_known_to_systemd(tmp_path: Path) -> None:
    verdict = analyze("verify", installed(tmp_path))

    assert (verdict.returncode, verdict.stderr) == (0, "")


@needs_systemd
def test_unknown_directive_in_a_drop_in_is_found(tmp_path: Path) -> None:
    strange = tmp_path / "strange.conf"
    strange.write_text("[Service]\nProtectWidgets=yes\n")

    assert "ProtectWidgets" in analyze("verify", installed(tmp_path, strange)).stderr


@needs_systemd
@pytest.mark.parametrize("drop_in", DROP_INS, ids=lambda path: path.stem)
def test_each_drop_in_is_clean(drop_in: Path, tmp_path: Path) -> None:
    if drop_in.stem == "notify-reload" and version() < 253:
        pytest.skip(f"needs systemd 253 or newer, and this is {version()}")

    verdict = analyze("verify", installed(tmp_path, drop_in))

    assert (verdict.returncode, verdict.stderr) == (0, "")


@needs_systemd
def test_unit_exposes_no_more_than_its_work_needs(tmp_path: Path) -> None:
    unit = installed(tmp_path, SYSTEMD / "drop-ins" / "tokens.conf")

    verdict = analyze("security", "--offline=yes", f"--threshold={TENTHS_ALLOWED}", unit)

    assert verdict.returncode == 0, verdict.stdout
    assert "Overall exposure level" in verdict.stdout


def settings(unit: Path) -> dict[str, str]:
    """Return the last value of each setting of the service."""
    return dict(re.findall(r"^(\w+)=(.*)$", unit.read_text(), re.MULTILINE))


def test_reload_is_a_hangup_signal_to_the_daemon_itself() -> None:
    assert settings(UNIT)["ExecReload"] == "/bin/kill -HUP $MAINPID"


def test_waiting_reload_sends_its_own_signal() -> None:
    waits = settings(SYSTEMD / "drop-ins" / "notify-reload.conf")

    assert waits == {"Type": "notify-reload", "ExecReload": ""}


def test_unusable_setting_is_the_only_exit_without_a_restart() -> None:
    unit = settings(UNIT)

    assert unit["Restart"] == "on-failure"
    assert unit["RestartPreventExitStatus"] == "2"
    assert unit["StartLimitIntervalSec"] == "0"


def test_readme_names_each_folder_of_the_unit_and_each_drop_in() -> None:
    readme = (SYSTEMD / "README.md").read_text()

    for folder in ("/opt/widgetd", "/srv/widgetd/widgets", "/etc/widgetd", "/var/lib/widgetd"):
        assert folder in readme
    for drop_in in DROP_INS:
        assert f"drop-ins/{drop_in.name}" in readme


def test_service_is_restarted_after_the_watchdog_ended_it() -> None:
    directives = dict(re.findall(r"^(\w+)=(.*)$", UNIT.read_text(), re.MULTILINE))

    assert directives["Restart"] == "on-failure"
    assert directives["RestartPreventExitStatus"].split() == ["2"]
    assert "SuccessExitStatus" not in directives
