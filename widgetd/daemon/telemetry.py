"""The destination and format of log events and traces.

Our own events and the records of the standard library's loggers (uvicorn, fastmcp, mcp)
have one format: JSON for machines, columns on a terminal. They go to stderr, because
over stdio stdout belongs to the protocol. A thread writes them: a reader that stops delays no call.

The spans of fastmcp and the durations of requests are exported as the `OTEL_*` variables
say. Without `OTEL_EXPORTER_OTLP_ENDPOINT` spans cost next to nothing and go nowhere, and
nothing is measured. The SDK reads everything else (headers, sampling, the service's name) from
its own variables.

Source: OpenTelemetry specification, "Environment Variable Specification".
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any, Literal

import structlog
from structlog.tracebacks import ExceptionDictTransformer
from structlog.types import EventDict, Processor

from widgetd.base import logs
from widgetd.base.errors import ConfigError
from widgetd.base.extras import install_advice
from widgetd.base.files.write import write_whole
from widgetd.base.redaction import redact, shorten_addresses
from widgetd.base.system import SYSTEM
from widgetd.daemon.limits import LIMITS
from widgetd.server.observe.limits import LIMITS as OBSERVE_LIMITS
from widgetd.server.observe.line_queue import LineQueue
from widgetd.server.observe.observer import RecordDuration

Level = Literal["debug", "info", "warning", "error"]

_OWN_LOGS = ("fastmcp", "mcp", "uvicorn", "uvicorn.access", "uvicorn.error")
"""Loggers to which libraries add handlers of their own."""

Signal = Literal["TRACES", "METRICS"]

_BOUNDARIES_S = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300)
"""The boundaries that the semantic conventions of MCP advise."""

_SENTENCE = ("message", "problem", "advice")
_FIRST = ("event", "level", "timestamp", *_SENTENCE)

_SHARED: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def configure(
    level: Level, *, readable: bool | None = None, also: Processor | None = None
) -> LineQueue:
    """Send every event of this process to standard error.

    Args:
        level: The lowest level to show.
        readable: Columns (True) or a JSON object per line (False). None decides by the stream.
        also: Processes each event too, before it is formatted.

    Returns:
        The lines. While it does not run, each is written at once.
    """
    stream = sys.stderr
    # Tracebacks are without the values of variables: callers sent some of them.
    if stream.isatty() if readable is None else readable:
        plain = structlog.dev.plain_traceback
        columns = structlog.dev.ConsoleRenderer(
            colors=stream.isatty(),
            exception_formatter=plain,
            sort_keys=False,
            pad_event_to=0,
            pad_level=False,
        )
        formatting: tuple[Processor, ...] = (_put_first, _shorten, columns)
    else:
        formatting = (
            _put_first,
            structlog.processors.ExceptionRenderer(ExceptionDictTransformer(show_locals=False)),
            structlog.processors.JSONRenderer(sort_keys=False),
        )
    redaction = (_redact_event,) if also is None else (_redact_event, also)
    events = structlog.wrap_logger(
        logging.getLogger(logs.NAME),
        processors=[*_SHARED, *redaction, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(level),
    )
    logs.get_logger().write_to(events.bind())
    logs.get_logger().bind_context = structlog.contextvars.bound_contextvars
    handler = _QueueHandler(stream.fileno())
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*_SHARED, _name_library_event, *redaction],
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *formatting,
                # The whole line, for the values of dictionaries and tracebacks too.
                lambda _logger, _method, line: redact(str(line)),
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
    return handler.lines


class _QueueHandler(logging.Handler):
    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.lines = LineQueue(
            partial(_write_lines, descriptor),
            self._describe_loss,
            most_bytes=OBSERVE_LIMITS.log_bytes,
        )

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record, or write it where no thread does."""
        try:
            self.lines.add(f"{self.format(record)}\n".encode(errors="backslashreplace"))
            if not self.lines.is_running:
                self.lines.flush()
        except Exception:  # noqa: BLE001 - as the handlers of the standard library
            self.handleError(record)

    def _describe_loss(self, lines: int) -> bytes:
        event = {"event": "log.lost", "level": "warning", "lines": lines}
        record = logging.LogRecord(logs.NAME, logging.WARNING, "", 0, event, (), None)
        record.__dict__.update(_logger=None, _name="warning")
        return f"{self.format(record)}\n".encode()


def _write_lines(descriptor: int, lines: Sequence[bytes]) -> int:
    # Not by `sys.stderr`: a thread blocked in it would hold its lock at the end.
    try:
        write_whole(SYSTEM.disk, descriptor, b"".join(lines))
    except OSError:
        return 0
    return len(lines)


def _put_first(_logger: object, _method: str, event: EventDict) -> EventDict:
    return {**{name: event[name] for name in _FIRST if name in event}, **event}


_UNREAD = ("generation", "widgets")
"""Fields that a person does not read; the greeting has the number of widgets."""


def _shorten(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Leave out details unread by people, so a save is a line of 80 columns."""
    short = {name: value for name, value in event.items() if name not in _UNREAD}
    short["timestamp"] = event["timestamp"].partition("T")[2][:8]
    for name, value in short.items():
        if isinstance(value, list):
            short[name] = ",".join(map(str, value))
        elif isinstance(value, float):
            short[name] = round(value)
    return short


def _redact_event(_logger: object, _method: str, event: EventDict) -> EventDict:
    """Remove secrets from the fields of an event, and cut addresses in sentences to origins."""
    for name in _SENTENCE:
        if isinstance(event.get(name), str):
            event[name] = shorten_addresses(event[name])
    return {name: _redact_value(value) for name, value in event.items()}


def _redact_value(value: Any) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, (list, tuple)):
        return [_redact_value(element) for element in value]
    return value


def _name_library_event(_logger: object, _method: str, event: EventDict) -> EventDict:
    record = event.get("_record")
    event["message"] = event["event"]
    event["library"] = record.name.partition(".")[0] if record is not None else ""
    event["event"] = "library.logged"
    return event


def is_wanted(environ: Mapping[str, str], signal: Signal) -> bool:
    """Return whether the environment names an endpoint for traces or metrics."""
    if environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return False
    names = (f"OTEL_EXPORTER_OTLP_{signal}_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
    return environ.get(f"OTEL_{signal}_EXPORTER") != "none" and any(map(environ.get, names))


@contextmanager
def exporting(environ: Mapping[str, str]) -> Iterator[RecordDuration | None]:
    """Export spans and durations while the block runs, if the environment asks for them.

    Yields:
        Records the duration of a request, None if no metrics are wanted.

    Raises:
        ConfigError: It asks, and the SDK is not installed (W0002).
    """
    traces, metrics = is_wanted(environ, "TRACES"), is_wanted(environ, "METRICS")
    if not (traces or metrics):
        yield None
        return
    if find_spec("opentelemetry.sdk") is None:
        problem = "OTEL_* ask for telemetry, which needs the OpenTelemetry SDK"
        raise ConfigError("W0002", problem, f"{install_advice('otel')}, or unset them")
    # Late, because the SDK is an optional dependency.
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415 - see above

    service = {} if "OTEL_SERVICE_NAME" in environ else {"service.name": "widgetd"}
    resource = Resource.create(service)
    with ExitStack() as ends:
        if traces:
            ends.callback(_export_spans(resource))
        record = None
        if metrics:
            record, end = _export_durations(resource)
            ends.callback(end)
        yield record


def _export_spans(resource: Any) -> Callable[[], None]:
    from opentelemetry import trace  # noqa: PLC0415 - an optional dependency
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
        OTLPSpanExporter,
    )
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415

    provider = TracerProvider(resource=resource, shutdown_on_exit=False)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    end: Callable[[], None] = provider.shutdown
    return end


def _export_durations(resource: Any) -> tuple[RecordDuration, Callable[[], None]]:
    """Begin to export durations of requests. Return the function to record and the function to end.

    Source: OpenTelemetry semantic conventions, MCP, "Metric: mcp.server.operation.duration".
    """
    from opentelemetry.exporter.otlp.proto.http.metric_exporter import (  # noqa: PLC0415
        OTLPMetricExporter,
    )
    from opentelemetry.sdk.metrics import MeterProvider  # noqa: PLC0415
    from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader  # noqa: PLC0415

    reader = PeriodicExportingMetricReader(OTLPMetricExporter())
    provider = MeterProvider([reader], resource=resource, shutdown_on_exit=False)
    histogram = provider.get_meter("widgetd").create_histogram(
        "mcp.server.operation.duration",
        unit="s",
        description="Duration of MCP requests as the server sees them.",
        explicit_bucket_boundaries_advisory=_BOUNDARIES_S,
    )
    tools: set[str] = set()

    def record(seconds: float, attributes: Mapping[str, str]) -> None:
        tool = attributes.get("gen_ai.tool.name")
        if tool is not None and len(tools) < LIMITS.measured_tools:
            tools.add(tool)
        if tool is not None and tool not in tools:
            # The SDK keeps a series for each combination until the process ends.
            attributes = {**attributes, "gen_ai.tool.name": "_OTHER"}
        histogram.record(seconds, attributes)

    return record, provider.shutdown
