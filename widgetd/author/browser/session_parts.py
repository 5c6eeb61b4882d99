"""The parts of a session that are resources. A trace outlives its session."""

TRACE = "trace.zip"
PARTS = {
    "screen": "text/plain",
    "picture.png": "image/png",
    "events": "application/json",
    "console": "application/json",
    TRACE: "application/zip",
}
"""Their media types by name."""
