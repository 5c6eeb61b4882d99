"""Where log events go, and in what dress.

Everything that logs in this process comes through here, in one dialect: our own
events, and those of the standard library's loggers (uvicorn, fastmcp, mcp).
JSON where a machine reads, columns where a person does, always on stderr: over
stdio, stdout belongs to the protocol.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal, TextIO

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import Processor

Level = Literal["debug", "info", "warning", "error"]

_NOISY = ("fastmcp", "mcp", "uvicorn", "uvicorn.access", "uvicorn.error", "watchfiles", "httpx")
"""Libraries whose everyday business is no news to an operator."""

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(level: Level, stream: TextIO = sys.stderr, *, readable: bool | None = None) -> None:
    """Send every event of this process to `stream`.

    Args:
        level: The least important event to show.
        stream: Where to.
        readable: Columns, or else one JSON object per line; columns on a terminal if not said.
    """
    columns = stream.isatty() if readable is None else readable
    structlog.configure(
        processors=[*_SHARED, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, _event_of_library],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_dress(stream, columns=columns),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Below this, libraries tell what callers send.
    root.setLevel(max(logging.INFO, logging.getLevelName(level.upper())))
    logging.getLogger("widgetd").setLevel(level.upper())
    for name in _NOISY:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.INFO if level == "debug" else logging.WARNING)


def _dress(stream: TextIO, *, columns: bool) -> tuple[Processor, ...]:
    # A traceback never tells the values of variables: some are what callers sent.
    if columns:
        plain = structlog.dev.plain_traceback
        return (structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain),)
    return (
        structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
        structlog.processors.JSONRenderer(sort_keys=False),
    )


def _event_of_library(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """A library's sentence becomes a field, so that `event` stays a name from a closed list."""
    record = event.get("_record")
    event["message"] = event["event"]
    event["library"] = record.name.partition(".")[0] if record is not None else ""
    event["event"] = "library.logged"
    return event
