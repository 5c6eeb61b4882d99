"""`widgetd status` finds the daemons of this machine, and answers in time whatever they do."""

from __future__ import annotations

import json
import os
import socket
import time
from pathlib import Path

import pytest
from anyio import to_thread

from tests.support.processes import daemon_process
from tests.support.widgets import widget_file
from widgetd.cli import main
from widgetd.cli.limits import LIMITS
from widgetd.cli.running import RunningDaemon, list_daemons, record_daemon


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the records of this test apart from those of this machine."""
    runtime = tmp_path / "runtime"
    runtime.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime))
    return runtime


@pytest.fixture
def widgets(tmp_path: Path) -> Path:
    (tmp_path / "widgets").mkdir()
    (tmp_path / "widgets" / "A.widget").write_text(widget_file("A"))
    return tmp_path / "widgets"


async def test_daemon_of_this_machine_is_found_at_any_port(
    widgets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with daemon_process(widgets, "--gallery") as served:
        url = served.url.removesuffix("/mcp")
        ready = await to_thread.run_sync(main, ["status"])
        found = capsys.readouterr().out
        typed = await to_thread.run_sync(main, ["status", url.removeprefix("http://")])
        new = await to_thread.run_sync(main, ["new", "Parcel", str(widgets)])
        created = capsys.readouterr().out

        assert (ready, typed, new) == (0, 0, 0)
        assert found == f"{url} is ready: 1 widget, 0 stale, 0 refused\n"
        assert created.endswith(f"Its page: {url}/w/parcel\n")
        (recorded,) = list_daemons()
        assert Path(recorded.folder).samefile(widgets)  # noqa: ASYNC240 - a folder of this test

        served.process.kill()
        await served.process.wait()
    assert list_daemons() == []


def test_new_names_the_tool_of_a_daemon_without_a_gallery(
    widgets: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    url = "http://127.0.0.1:9999"
    with record_daemon(RunningDaemon(url=url, folder=os.path.realpath(widgets), gallery=False)):
        assert main(["new", "Parcel", str(widgets)]) == 0

    assert capsys.readouterr().out.endswith(f"It is the tool parcel on {url}/mcp\n")


@pytest.mark.parametrize("path", ["", "/", "/mcp", "/readyz"])
def test_daemon_that_never_answers_is_not_ready_in_time(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = "http://{}:{}".format(*silent.getsockname())
        began_s = time.monotonic()
        code = main(["status", url + path])
        took_s = time.monotonic() - began_s

    assert (code, took_s < LIMITS.status_s + 0.4) == (1, True), took_s
    assert capsys.readouterr().err.startswith(f"widgetd: {url} is not ready (")


def test_without_a_daemon_the_address_of_the_settings_is_asked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("WIDGETD_HOST", "0.0.0.0")
    monkeypatch.setenv("WIDGETD_PORT", str(port))

    assert main(["status", "--json"]) == 1
    (answer,) = json.loads(capsys.readouterr().out)
    assert answer == {
        "url": f"http://127.0.0.1:{port}",
        "ready": False,
        "reason": "Connection refused",
    }


def test_records_in_a_place_of_others_are_not_believed(place: Path, tmp_path: Path) -> None:
    daemon = RunningDaemon(url="http://127.0.0.1:9999", folder="/", gallery=True)
    with record_daemon(daemon):
        assert list_daemons() == [daemon]
        (own,) = place.iterdir()
        own.chmod(0o777)
        assert list_daemons() == []
        own.rename(tmp_path / "elsewhere")
        own.symlink_to(tmp_path / "elsewhere")
        assert list_daemons() == []
