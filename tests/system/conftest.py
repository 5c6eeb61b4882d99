"""One process that parses untrusted content, for all daemons in this process."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from widgetd.daemon import loading
from widgetd.daemon.parser_process import ParserProcess, ParserProcessLimits


class SharedParserProcess(ParserProcess):
    """A parser process that outlives the daemons that use it."""

    def close(self) -> None:
        """Leave it to the next daemon."""


@pytest.fixture(scope="session", autouse=True)
def parser_process() -> Iterator[None]:
    """Start it once: a start takes as long as most tests of a daemon that has one.

    `tests/system/daemon/test_parser_process.py` has daemons with processes of their own.
    """
    shared = SharedParserProcess(ParserProcessLimits(idle_s=3_600))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "ParserProcess", lambda: shared)
        yield
    ParserProcess.close(shared)
