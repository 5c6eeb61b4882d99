"""Reports on widget usage, computed from an audit file: lines in, rows out."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

Row = dict[str, Any]

_TEXTS = ("at", "code", "outcome", "principal", "tool", "widget")
"""The text fields of a call's line."""


def read_calls(path: Path) -> Iterator[Row]:
    """Yield every call in the audit file at `path` and in its rotated files, oldest first.

    Truncated and foreign lines are skipped.

    Raises:
        FileNotFoundError: There is no such file.
    """
    full = [file for file in path.parent.glob(f"{path.name}.*") if file.suffix[1:].isdigit()]
    for file in (*sorted(full, key=lambda file: -int(file.suffix[1:])), path):
        with file.open("rb") as lines:
            for line in lines:
                with suppress(orjson.JSONDecodeError):
                    record = orjson.loads(line)
                    if (
                        isinstance(record, dict)
                        and record.get("event") == "call"
                        and isinstance(record.get("ms"), int | float)
                        and all(isinstance(record.get(name), str) for name in _TEXTS)
                    ):
                        yield record


def top(calls: Iterable[Row]) -> list[Row]:
    counted: Counter[str] = Counter()
    errors: Counter[str] = Counter()
    callers: defaultdict[str, set[str]] = defaultdict(set)
    for call in calls:
        name = _name(call)
        counted[name] += 1
        errors[name] += call["outcome"] != "ok"
        callers[name].add(call["principal"])
    return [
        {"widget": name, "calls": count, "errors": errors[name], "callers": len(callers[name])}
        for name, count in counted.most_common()
    ]


def errors(calls: Iterable[Row]) -> list[Row]:
    """Return the most frequent errors: `[{"widget", "code", "calls", "last"}]`."""
    counted: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], str] = {}
    for call in calls:
        if call["outcome"] != "ok":
            key = _name(call), call["code"] or call["outcome"]
            counted[key] += 1
            last[key] = call["at"]
    return [
        {"widget": name, "code": code, "calls": count, "last": last[name, code]}
        for (name, code), count in counted.most_common()
    ]


def slow(calls: Iterable[Row]) -> list[Row]:
    """Return the slowest widgets: `[{"widget", "calls", "p50_ms", "p99_ms", "most_ms"}]`."""
    durations_ms: defaultdict[str, list[float]] = defaultdict(list)
    for call in calls:
        durations_ms[_name(call)].append(call["ms"])
    rows: list[Row] = []
    for name, unsorted in durations_ms.items():
        ms = sorted(unsorted)
        p50, p99 = ms[len(ms) // 2], ms[len(ms) * 99 // 100]
        rows.append(
            {"widget": name, "calls": len(ms), "p50_ms": p50, "p99_ms": p99, "most_ms": ms[-1]}
        )
    return sorted(rows, key=lambda row: -row["p99_ms"])


def _name(call: Row) -> str:
    return str(call["widget"] or call["tool"] or "(unknown)")


def table(rows: list[Row]) -> str:
    cells = [list(rows[0]), *([str(value) for value in row.values()] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )


REPORTS = {"top": top, "errors": errors, "slow": slow}
"""The reports, by name."""
