"""The notify protocol, spoken to a real datagram socket as systemd listens on one."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest

from tests.support.patience import PATIENCE_S
from widgetd.daemon.systemd import Supervisor, supervisor

PID = 4711


class Listener:
    """The service manager's end of the socket."""

    def __init__(self, address: str) -> None:
        self.name = address.replace("\0", "@")
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.settimeout(5)
        self._socket.bind(address)

    def heard(self) -> list[str]:
        """Return the lines of the next datagram."""
        return self._socket.recv(4096).decode().split("\n")

    async def hears(self) -> list[str]:
        """Return the lines of the next datagram without blocking the loop."""
        with anyio.fail_after(PATIENCE_S):
            await anyio.wait_readable(self._socket)
        return self.heard()

    def silent(self) -> bool:
        """Return whether no datagram waits to be read."""
        self._socket.setblocking(False)
        try:
            self._socket.recv(4096)
        except BlockingIOError:
            return True
        return False

    def close(self) -> None:
        self._socket.close()


@pytest.fixture(params=["path", "abstract"])
def listener(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Listener]:
    path = str(tmp_path / "notify")
    notify_socket = Listener(path if request.param == "path" else f"\0widgetd-test-{uuid.uuid4()}")
    yield notify_socket
    notify_socket.close()


def of(listener: Listener, **environ: str) -> Supervisor:
    return supervisor({"NOTIFY_SOCKET": listener.name, **environ}, PID)


def test_ready_comes_with_its_status(listener: Listener) -> None:
    assert of(listener).ready("serving 16 widgets")

    assert listener.heard() == ["READY=1", "STATUS=serving 16 widgets"]


def test_reloading_carries_the_time_it_began(listener: Listener) -> None:
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000

    assert of(listener).reloading()

    word, began = listener.heard()
    assert word == "RELOADING=1"
    name, _, usec = began.partition("=")
    assert name == "MONOTONIC_USEC"
    assert before <= int(usec) <= time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000


def test_stopping_status_names_remaining_work(listener: Listener) -> None:
    assert of(listener).stopping()

    assert listener.heard() == ["STOPPING=1", "STATUS=finishing the calls in flight"]


def test_status_cannot_inject_another_variable(listener: Listener) -> None:
    assert of(listener).ready("serving a\nWATCHDOG=trigger\r\n widget")

    assert listener.heard() == ["READY=1", "STATUS=serving a WATCHDOG=trigger widget"]


def test_status_with_half_a_character_is_sent(listener: Listener) -> None:
    assert of(listener).ready("flight \udc80")

    assert listener.heard() == ["READY=1", "STATUS=flight ?"]


@pytest.mark.parametrize("name", ["", "relative", "vsock:2:1234"])
def test_no_listener_without_a_named_unix_socket(name: str) -> None:
    alone = supervisor({"NOTIFY_SOCKET": name}, PID)

    assert alone == Supervisor()
    assert not alone.ready("serving 16 widgets")


def test_daemon_survives_a_missing_notify_socket(tmp_path: Path) -> None:
    alone = supervisor({"NOTIFY_SOCKET": str(tmp_path / "gone")}, PID)

    assert not alone.ready("serving 16 widgets")


def test_full_queue_does_not_fail_the_daemon(tmp_path: Path) -> None:
    listener = Listener(str(tmp_path / "notify"))
    deaf = of(listener)

    answers = [deaf.ready("serving 16 widgets") for _ in range(longest_queue() + 2)]

    assert answers[0]
    assert not answers[-1]
    listener.close()


def longest_queue() -> int:
    return int(Path("/proc/sys/net/unix/max_dgram_qlen").read_text())


@pytest.mark.parametrize(
    ("environ", "watchdog_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(PID)}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(PID + 1)}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_watchdog_applies_only_to_the_process_that_it_names(
    environ: dict[str, str], watchdog_s: float | None
) -> None:
    assert supervisor(environ, PID).watchdog_s == watchdog_s


async def test_healthy_daemon_feeds_the_watchdog_until_it_stops(listener: Listener) -> None:
    stop = anyio.Event()
    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(of(listener, WATCHDOG_USEC="20000").keep_alive, lambda: True, stop)
            assert [await listener.hears() for _ in range(3)] == [["WATCHDOG=1"]] * 3
            stop.set()


async def test_daemon_with_stuck_scans_stops_notifying(listener: Listener) -> None:
    checked = anyio.Event()
    stop = anyio.Event()
    answers = iter([False, False, False])

    def healthy() -> bool:
        if (answer := next(answers, None)) is None:
            checked.set()
        return bool(answer)

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(of(listener, WATCHDOG_USEC="2000").keep_alive, healthy, stop)
            await checked.wait()
            stop.set()

    assert listener.silent()


async def test_watchdog_is_not_fed_unless_configured(listener: Listener) -> None:
    with anyio.fail_after(PATIENCE_S):
        await of(listener).keep_alive(lambda: True, anyio.Event())

    assert listener.silent()


def test_supervisor_is_read_from_the_environment_of_its_process(
    listener: Listener, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", listener.name)
    monkeypatch.setenv("WATCHDOG_USEC", "3000000")
    monkeypatch.setenv("WATCHDOG_PID", str(os.getpid()))

    systemd = supervisor(os.environ, os.getpid())

    assert systemd.watchdog_s == 3.0
    assert systemd.ready("here")
    assert listener.heard() == ["READY=1", "STATUS=here"]


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
