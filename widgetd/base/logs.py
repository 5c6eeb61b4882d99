"""The event log of this process: every room writes to it, the program decides where it goes.

The daemon sends events to structlog (`daemon.telemetry`). In any other program (`widgetd.register`,
commands) they go to the standard library's logger `widgetd`, so to the handlers that the program
configured, from WARNING up unless it sets another level. structlog's default is not used: it
prints to standard output, which belongs to the protocol in a server over stdio.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partialmethod
from typing import Any, Protocol

NAME = "widgetd"


class _Destination(Protocol):
    def debug(self, event: str, **fields: Any) -> Any: ...
    def info(self, event: str, **fields: Any) -> Any: ...
    def warning(self, event: str, **fields: Any) -> Any: ...
    def error(self, event: str, **fields: Any) -> Any: ...
    def exception(self, event: str, **fields: Any) -> Any: ...


class _StandardLibrary:
    """The logger `widgetd`, with messages as `event field=value`."""

    def __init__(self) -> None:
        self._logger = logging.getLogger(NAME)
        if self._logger.level == logging.NOTSET:
            self._logger.setLevel(logging.WARNING)

    def _log(self, level: int, event: str, /, *, exc_info: bool = False, **fields: Any) -> None:
        if self._logger.isEnabledFor(level):
            message = " ".join((event, *(f"{name}={value!r}" for name, value in fields.items())))
            # The record names the line that logged, one frame above this one.
            self._logger.log(level, "%s", message, exc_info=exc_info, stacklevel=2)

    debug = partialmethod(_log, logging.DEBUG)
    info = partialmethod(_log, logging.INFO)
    warning = partialmethod(_log, logging.WARNING)
    error = partialmethod(_log, logging.ERROR)
    exception = partialmethod(_log, logging.ERROR, exc_info=True)


@contextmanager
def _ignore_context(**_: object) -> Iterator[None]:
    yield


class EventLog:
    """A logger that modules take on import, before its destination is known."""

    bind_context: Callable[..., AbstractContextManager[None]]
    """Adds fields to every event while a block runs, in its context alone."""

    def __init__(self) -> None:
        self.write_to(_StandardLibrary())
        self.bind_context = _ignore_context

    def write_to(self, destination: _Destination) -> None:
        self.destination = destination
        # Attributes rather than methods: an event below the level costs a request no second call.
        self.debug = destination.debug
        self.info = destination.info
        self.warning = destination.warning
        self.error = destination.error
        self.exception = destination.exception


_LOG = EventLog()


def get_logger() -> EventLog:
    return _LOG
