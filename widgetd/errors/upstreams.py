"""The codes of upstreams: for whoever declares them, and for the caller of a widget they fill."""

from __future__ import annotations

from widgetd.errors.code import Code

CODES = (
    # W50xx: calls of an upstream
    Code("W5001", "fault", "there is no such upstream"),
    Code("W5002", "fault", "an upstream is not available"),
    Code("W5003", "fault", "an upstream is too slow"),
    Code("W5004", "fault", "an upstream has no such tool, or not for us"),
    Code("W5005", "fault", "an upstream's tool does not take these arguments"),
    Code("W5006", "fault", "an upstream's answer is not JSON"),
    Code("W5007", "fault", "an upstream's answer does not fit the widget"),
    Code("W5008", "fault", "an upstream's answer is too large"),
    Code("W5009", "fault", "an upstream's answer is not kept any more"),
    Code("W5010", "fault", "an upstream's tool says that it failed"),
    # W51xx: the file that declares them
    Code("W5101", "fault", "the upstreams file cannot be used"),
    Code("W5102", "fault", "a secret is missing"),
)
