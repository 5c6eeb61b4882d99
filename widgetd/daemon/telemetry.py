"""Where log events and traces go, and in what dress.

Everything that logs in this process comes through here, in one dialect: our own
events, and those of the standard library's loggers (uvicorn, fastmcp, mcp).
JSON where a machine reads, columns where a person does, always on stderr: over
stdio, stdout belongs to the protocol.

The spans that fastmcp makes go to where `OTEL_*` say. Without
`OTEL_EXPORTER_OTLP_ENDPOINT`, or without `widgetd[otel]`, spans cost next to nothing
and go nowhere. Everything else about them (headers, sampling, the name of the
service) is the SDK's own business, by its own variables.

Source: OpenTelemetry specification, "Environment Variable Specification".
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Any, Literal, TextIO

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import Processor

from widgetd import logs
from widgetd.errors import ConfigError
from widgetd.redaction import redact, shorten_addresses

Level = Literal["debug", "info", "warning", "error"]

_OWN_LOGS = ("fastmcp", "mcp", "uvicorn", "uvicorn.access", "uvicorn.error")
"""Loggers of libraries that would write by themselves."""

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")

_SENTENCE = ("message", "problem", "advice")

_SHARED: tuple[Processor, ...] = (
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(
    level: Level,
    stream: TextIO = sys.stderr,
    *,
    readable: bool | None = None,
    also: Processor | None = None,
) -> None:
    """Send every event of this process to `stream`.

    Args:
        level: The least important event to show.
        stream: Where to.
        readable: Columns, or else one JSON object per line; columns on a terminal if not said.
        also: Is given each event, too, before it is dressed.
    """
    # A traceback never tells the values of variables: some are what callers sent.
    if stream.isatty() if readable is None else readable:
        plain = structlog.dev.plain_traceback
        columns = structlog.dev.ConsoleRenderer(
            colors=stream.isatty(), exception_formatter=plain, sort_keys=False
        )
        dress: tuple[Processor, ...] = (_sentence_first, columns)
    else:
        dress = (
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(sort_keys=False),
        )
    given = (_redact_event,) if also is None else (_redact_event, also)
    events = structlog.wrap_logger(
        logging.getLogger(logs.NAME),
        processors=[*_SHARED, *given, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    logs.get_logger().write_to(events.bind())
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, _event_of_library, *given],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *dress,
                _redact_line,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Everyday business of libraries is no news to an operator, and below it is what callers send.
    everyday = logging.INFO if level == "debug" else logging.WARNING
    root.setLevel(max(everyday, logging.getLevelName(level.upper())))
    logging.getLogger(logs.NAME).setLevel(level.upper())
    for name in _OWN_LOGS:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.NOTSET)


def _sentence_first(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """What is wrong, and what would be right, before where and how often."""
    sentence = {name: event[name] for name in _SENTENCE if name in event}
    return {**sentence, **event}


def _redact_event(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """Remove secrets from the fields of an event, and cut addresses in sentences to origins."""
    for name in _SENTENCE:
        if isinstance(event.get(name), str):
            event[name] = shorten_addresses(event[name])
    return {name: _redact_value(value) for name, value in event.items()}


def _redact_value(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, (list, tuple)):
        return [_redact_value(one) for one in value]
    return value


def _redact_line(_logger: object, _method: str, line: Any) -> str:
    """Remove secrets from a whole line, the values of dictionaries and tracebacks included."""
    return redact(str(line))


def _event_of_library(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """A library's sentence becomes a field, so that `event` stays a name from a closed list."""
    record = event.get("_record")
    event["message"] = event["event"]
    event["library"] = record.name.partition(".")[0] if record is not None else ""
    event["event"] = "library.logged"
    return event


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Whether the environment names somebody to send spans to."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not disabled and any(environ.get(name) for name in _ENDPOINTS)


@contextmanager
def tracing(environ: Mapping[str, str]) -> Iterator[None]:
    """Send spans for as long as the block runs, if the environment asks for it.

    Raises:
        ConfigError: It asks, and the SDK is not installed (W0002).
    """
    if not is_wanted(environ):
        yield
        return
    if find_spec("opentelemetry.sdk") is None:
        problem = "OTEL_* ask for traces, which need the OpenTelemetry SDK"
        raise ConfigError("W0002", problem, "install widgetd[otel], or unset them")
    # Late, because whoever wants no traces need not have the SDK.
    from opentelemetry import trace  # noqa: PLC0415 - see above
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    service = {} if "OTEL_SERVICE_NAME" in environ else {"service.name": "widgetd"}
    provider = TracerProvider(resource=Resource.create(service), shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
