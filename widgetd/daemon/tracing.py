"""Send the spans that fastmcp makes to where `OTEL_*` say: the only door to the SDK.

Without `OTEL_EXPORTER_OTLP_ENDPOINT`, or without `widgetd[otel]`, spans cost
next to nothing and go nowhere. Everything else about them (headers, sampling,
the name of the service) is the SDK's own business, by its own variables.

Source: OpenTelemetry specification, "Environment Variable Specification".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec

from widgetd.errors import ConfigError

_ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")


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
