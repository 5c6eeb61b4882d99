"""Processes beside a daemon: one that parses, for all daemons in this process, and no browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

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
