"""The destination and format of log events and traces.

Our own events and the records of the standard library's loggers (uvicorn, fastmcp, mcp)
have one format: JSON for machines, columns on a terminal. They go to stderr, because
over stdio stdout belongs to the protocol.

The spans of fastmcp are exported as the `OTEL_*` variables say. Without
`OTEL_EXPORTER_OTLP_ENDPOINT`, or without `widgetd[otel]`, they cost next to nothing and
go nowhere. The SDK reads everything else (headers, sampling, the service's name) from
its own variables.

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
from widgetd.extras import install_advice
from widgetd.redaction import redact, shorten_addresses

Level = Literal["debug", "info", "warning", "error"]

_OWN_LOGS = ("fastmcp", "mcp", "uvicorn", "uvicorn.access", "uvicorn.error")
"""Loggers to which libraries add handlers of their own."""

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
        level: The lowest level that is shown.
        stream: The destination.
        readable: Columns (True) or one JSON object per line (False); None decides by the stream.
        also: Processes each event too, before it is formatted.
    """
    # Tracebacks are without the values of variables: callers sent some of them.
    if stream.isatty() if readable is None else readable:
        plain = structlog.dev.plain_traceback
        columns = structlog.dev.ConsoleRenderer(
            colors=stream.isatty(), exception_formatter=plain, sort_keys=False
        )
        formatting: tuple[Processor, ...] = (_sentences_first, columns)
    else:
        formatting = (
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
            foreign_pre_chain=[*_SHARED, _name_library_event, *given],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *formatting,
                _redact_line,
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    # Libraries log routine work at INFO, and what callers send at DEBUG.
    lowest = logging.INFO if level == "debug" else logging.WARNING
    root.setLevel(max(lowest, logging.getLevelName(level.upper())))
    logging.getLogger(logs.NAME).setLevel(level.upper())
    for name in _OWN_LOGS:
        library = logging.getLogger(name)
        library.handlers.clear()
        library.propagate = True
        library.setLevel(logging.NOTSET)


def _sentences_first(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """Put the fields that are sentences first."""
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


def _name_library_event(
    _logger: object, _method: str, event: structlog.types.EventDict
) -> structlog.types.EventDict:
    """Move a library's sentence to a field, so that `event` is always a name from a closed list."""
    record = event.get("_record")
    event["message"] = event["event"]
    event["library"] = record.name.partition(".")[0] if record is not None else ""
    event["event"] = "library.logged"
    return event


def is_wanted(environ: Mapping[str, str]) -> bool:
    """Return whether the environment names an endpoint for spans."""
    disabled = environ.get("OTEL_SDK_DISABLED", "").lower() == "true"
    return not disabled and any(environ.get(name) for name in _ENDPOINTS)


@contextmanager
def tracing(environ: Mapping[str, str]) -> Iterator[None]:
    """Export spans while the block runs, if the environment asks for it.

    Raises:
        ConfigError: It asks, and the SDK is not installed (W0002).
    """
    if not is_wanted(environ):
        yield
        return
    if find_spec("opentelemetry.sdk") is None:
        problem = "OTEL_* ask for traces, which need the OpenTelemetry SDK"
        raise ConfigError("W0002", problem, f"{install_advice('otel')}, or unset them")
    # Late, because the SDK is an optional dependency.
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
