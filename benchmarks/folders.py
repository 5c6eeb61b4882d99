"""Folders with any number of widgets to serve."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from widgetd import load_widget

BUNDLED = Path(__file__).resolve().parents[1] / "widgets"
FLIGHT = "Flight Tracker.widget"

_SMALL_TEMPLATE = '{"type":"Card","children":[{"type":"Text","value":{{ who | tojson }}}]}'


@contextmanager
def folder() -> Iterator[Path]:
    """Create a temporary folder and delete it when the block ends."""
    with TemporaryDirectory(prefix="widgetd-bench-") as path:
        yield Path(path)


def bundled() -> list[Path]:
    """List the bundled widgets, Flight Tracker first."""
    first = BUNDLED / FLIGHT
    return [first, *(path for path in sorted(BUNDLED.glob("*.widget")) if path != first)]


def real(
    into: Path, count: int, *, sidecars: bool = False, leave_out: Collection[str] = ()
) -> Path:
    """Fill a folder with copies of the bundled widgets, each under a name of its own.

    Args:
        into: The folder.
        count: How many widgets.
        sidecars: Whether their sidecars come along; a Studio export has none.
        leave_out: Names of bundled files not to copy.
    """
    files = [path for path in bundled() if path.name not in leave_out]
    for number, path in enumerate(islice(cycle(files), count)):
        document = json.loads(path.read_text(encoding="utf-8"))
        stem = path.stem if number < len(files) else f"{path.stem} {number}"
        write(into / f"{stem}.widget", {**document, "name": stem})
        sidecar = path.with_name(f"{path.name}.toml")
        if sidecars and sidecar.exists():
            (into / f"{stem}.widget.toml").write_bytes(sidecar.read_bytes())
    return into


def small(into: Path, count: int, *, schema: Mapping[str, Any] | None = None) -> Path:
    """Fill a folder with widgets that show one text.

    Args:
        into: The folder.
        count: How many widgets.
        schema: What each says of its arguments.
    """
    for number in range(count):
        write(into / f"Small {number}.widget", small_widget(number, schema=schema))
    return into


def small_widget(number: int, *, schema: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Build the document of a widget that shows `who`."""
    return {
        "version": "1.0",
        "name": f"Small {number}",
        "description": f"Show the text number {number}.",
        "template": _SMALL_TEMPLATE,
        "jsonSchema": schema or {"type": "object", "properties": {"who": {"type": "string"}}},
    }


def schema_of(size_bytes: int) -> dict[str, Any]:
    """Build a schema of about `size_bytes` bytes of JSON."""
    properties: dict[str, Any] = {"who": {"type": "string"}}
    schema = {"type": "object", "properties": properties, "required": ["who"]}
    while len(json.dumps(schema)) < size_bytes:
        number = len(properties)
        text = f"What stands on line {number}, as people would say it, in a few words."
        properties[f"line_{number}"] = {"type": "string", "description": text, "maxLength": 200}
    return schema


def write(path: Path, document: Mapping[str, Any]) -> None:
    """Write a `.widget` file."""
    path.write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def flight_arguments() -> dict[str, Any]:
    """Return the sample arguments of Flight Tracker."""
    example = load_widget(BUNDLED / FLIGHT).example
    assert example is not None
    return dict(example)
