"""Hostile files: every attack of the tests, and the largest files that the limits allow."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.support.widgets import widget_file
from tests.unit.core.schema.test_schema_safety import BOMBS as PATTERNS
from tests.unit.core.schema.test_schema_safety import CIRCLES, UNIONS, laughs
from tests.unit.core.template.test_safety import BOMBS, ESCAPES
from widgetd.base.limits import Limits

LIMITS = Limits()

Attack = Callable[[str], bytes]
"""Returns the content of an attack under a given name."""


def _template(source: str) -> Attack:
    return lambda name: widget_file(name, template=source).encode()


def _schema(schema: Any) -> Attack:
    return lambda name: widget_file(name, schema={"type": "object", **schema}).encode()


def _pattern(pattern: str) -> Attack:
    return _schema({"properties": {"who": {"type": "string", "pattern": pattern}}})


def _raw(content: str) -> Attack:
    """Return an attack that is no widget; its name is appended so that each file differs."""
    return lambda name: f"{content}{name}".encode()


def _recursive(keyword: str) -> Mapping[str, Any]:
    node = {"type": ["object", "string"], **UNIONS[keyword]}
    return {"properties": {"who": {"$ref": "#/$defs/node"}}, "$defs": {"node": node}}


def _largest_schema() -> Mapping[str, Any]:
    fields = {
        f"f{n}": {"type": "string", "maxLength": n + 1} for n in range(LIMITS.schema_nodes - 50)
    }
    return {"properties": fields}


_TEXT = '{"type":"Text","value":{{ (who ~ "x") | upper | tojson }}}'
_TEXTS = ",".join([_TEXT] * (LIMITS.template_nodes // 8))
_LARGEST_TEMPLATE = '{"type":"Card","children":[' + _TEXTS + "]}"

ATTACKS: tuple[Attack, ...] = (
    *(_template(source) for source in (*ESCAPES, *BOMBS)),
    *(_schema(schema) for schema, _ in CIRCLES),
    *(_schema(laughs(width, depth)) for width, depth in ((10, 9), (2, 500), (4, 5))),
    *(_schema(_recursive(keyword)) for keyword in UNIONS),
    *(_pattern(pattern) for pattern in (*PATTERNS, "^(a+)+$")),
    _schema({"$ref": "http://127.0.0.1:9/schema"}),
    _schema({"$ref": "file:///etc/passwd"}),
    _schema(_largest_schema()),
    _template(_LARGEST_TEMPLATE),
    _raw("[" * 100_000),
    _raw('{"a":' * 50_000),
    _raw("[" + "{}," * 80_000),
    _raw(" " * (LIMITS.file_bytes + 1)),
    _raw("1" * 200_000),
    _raw('{"version":"1.0","name":"\\ud800","template":"' + "x" * 60_000),
    _raw('{"version":"1.0","version":NaN,"template":1e999999999'),
)


def drop(folder: Path, attack: Attack, number: int) -> None:
    """Write an attack into a folder, with a name and content of its own."""
    name = f"attack{number}"
    (folder / f"{name}.widget").write_bytes(attack(name))


def drop_irregular_files(folder: Path) -> None:
    """Create pipes, devices and links with the names of widgets, which must not be read."""
    os.mkfifo(folder / "pipe.widget")
    (folder / "passwd.widget").symlink_to("/etc/passwd")
    (folder / "endless.widget").symlink_to("/dev/zero")
    (folder / "self.widget").symlink_to("self.widget")
    (folder / "up").symlink_to("..")
    (folder / "folder.widget").mkdir()
