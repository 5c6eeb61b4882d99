"""Processes beside a daemon: one that parses, for all daemons in this process, and no browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.widgets import widget_file
from tests.system.server.store.server import Server, running_server
from widgetd.daemon import loading
from widgetd.daemon.parser_process import ParserProcess


class SharedParserProcess(ParserProcess):
    """A parser process that outlives the daemons that use it."""

    def close(self) -> None:
        """Leave it to the next daemon."""


@pytest.fixture(scope="session", autouse=True)
def parser_process() -> Iterator[None]:
    """Start it once: a start takes as long as most tests of a daemon that has one.

    `tests/system/daemon/test_parser_process.py` has daemons with processes of their own.
    """
    shared = SharedParserProcess()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "ParserProcess", lambda: shared)
        yield
    ParserProcess.close(shared)


@pytest.fixture(autouse=True)
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let daemons find no Chromium, also where there is one: `tests/field` has what needs it.

    Else a test that requests every page starts one, for seconds of processor time.
    """
    monkeypatch.setenv("CHROME_PATH", str(Path(__file__).parent / "no browser"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one widget, below the test's own folder."""
    served = tmp_path / "served"
    served.mkdir()
    (served / "Greeting.widget").write_text(widget_file())
    return served


@pytest.fixture
def server() -> Iterator[Server]:
    """Yield the running server of a store that no other test uses."""
    with running_server() as running:
        yield running
