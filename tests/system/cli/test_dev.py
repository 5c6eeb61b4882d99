"""`widgetd dev` has defaults for one person on this machine, below their own settings."""

from __future__ import annotations

import json
import socket
import sys
from base64 import b64encode
from pathlib import Path

import anyio
import httpx2
import pytest

from tests.support.forked_daemons import ForkedProcess, forked_daemon, run_forked
from tests.support.patience import PATIENCE_S
from widgetd.author.browser.chromium import PROGRAM_VARIABLE
from widgetd.base.files.folder import bundled_folder
from widgetd.cli.options import Flags
from widgetd.cli.serve import DEV_TOOLSETS, settle_dev


def test_files_may_be_dropped_where_only_this_machine_reaches_the_gallery(tmp_path: Path) -> None:
    usual = settle_dev(tmp_path, Flags())

    assert (usual.gallery, usual.allow_upload) == (True, True)
    assert not settle_dev(tmp_path, Flags(host="0.0.0.0", insecure=True)).allow_upload
    assert not settle_dev(bundled_folder(), Flags()).allow_upload


def test_dev_switches_on_tools_for_one_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("playwright")
    monkeypatch.setenv(PROGRAM_VARIABLE, sys.executable)

    assert settle_dev(tmp_path, Flags()).toolset == DEV_TOOLSETS


def test_dev_without_a_browser_goes_without_pictures_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert settle_dev(tmp_path, Flags()).toolset == ("author", "operate")
    assert capsys.readouterr().err.startswith("widgetd: pictures need ")


@pytest.mark.parametrize("begin", ["new", "drop"])
async def test_dev_shows_examples_until_a_folder_is_begun_and_then_serves_it(
    begin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    async with forked_daemon(None, command="dev") as daemon:
        shows = "widgetd shows 27 bundled examples, which are read-only, on "
        assert any(line.startswith(shows) for line in daemon.greeting.splitlines())
        if begin == "new":
            assert await run_forked("new", "Parcel") == 0
        else:
            content = b64encode(b"<Card><Title value='Mine' /></Card>").decode()
            body = json.dumps({"Parcel.widget.jsx": content})
            url = daemon.url.removesuffix("/mcp")
            async with httpx2.AsyncClient(base_url=url, headers={"origin": url}) as client:
                answer = await client.post("/gallery/files", content=body, timeout=PATIENCE_S)
            assert answer.json()["tool"] == "parcel"
        assert isinstance(daemon.process, ForkedProcess)
        serves, printed = b"widgetd serves 1 widget from widgets on ", b""
        with anyio.fail_after(PATIENCE_S):
            while not any(line.startswith(serves) for line in printed.splitlines()):
                printed += await daemon.process.receive()
    assert (tmp_path / "widgets" / "Parcel.widget.jsx").is_file()


async def test_dev_without_a_folder_names_a_port_in_use_in_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        code = await run_forked("dev", "--port", str(port), log=tmp_path / "log")
    printed = (tmp_path / "log").read_text()

    assert code == 3
    assert f"widgetd: port {port} on 127.0.0.1 is in use; " in printed
    assert "Traceback" not in printed


def test_dev_keeps_settings_of_uploads_and_toolsets_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WIDGETD_ALLOW_UPLOAD", "false")
    monkeypatch.setenv("WIDGETD_TOOLSET", "operate")

    settings = settle_dev(tmp_path, Flags())

    assert (settings.allow_upload, settings.toolset) == (False, ("operate",))


@pytest.mark.parametrize("toolset", ["pictures", "sessions"])
async def test_toolset_that_needs_a_browser_fails_the_start_without_one(
    toolset: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    arguments = ("serve", str(tmp_path), "--toolset", toolset, "--port", "0")

    assert await run_forked(*arguments, log=log) == 3
    assert log.read_text().endswith("[W0011]\n")
