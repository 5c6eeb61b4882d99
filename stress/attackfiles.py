"""Files made to do harm: every attack that the tests know, and the largest there may be."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.serving import widget_file
from tests.unit.schema.test_schema_safety import BOMBS as PATTERNS
from tests.unit.schema.test_schema_safety import CIRCLES, UNIONS, laughs
from tests.unit.template.test_safety import BOMBS, ESCAPES
from widgetd.limits import Limits

LIMITS = Limits()

Attack = Callable[[str], bytes]
"""The content of an attack under a name of its own."""


def _template(source: str) -> Attack:
    return lambda name: widget_file(name, template=source).encode()


def _schema(schema: Any) -> Attack:
    return lambda name: widget_file(name, schema={"type": "object", **schema}).encode()


def _pattern(pattern: str) -> Attack:
    return _schema({"properties": {"who": {"type": "string", "pattern": pattern}}})


def _instead(content: str) -> Attack:
    """A file that is no widget, the name said after it so that it is another file each time."""
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
    _instead("[" * 100_000),
    _instead('{"a":' * 50_000),
    _instead("[" + "{}," * 80_000),
    _instead(" " * (LIMITS.file_bytes + 1)),
    _instead("1" * 200_000),
    _instead('{"version":"1.0","name":"\\ud800","template":"' + "x" * 60_000),
    _instead('{"version":"1.0","version":NaN,"template":1e999999999'),
)


def drop(folder: Path, attack: Attack, number: int) -> None:
    """Put an attack into a folder, under a name and with a content that no other has."""
    name = f"attack{number}"
    (folder / f"{name}.widget").write_bytes(attack(name))


def drop_what_is_no_file(folder: Path) -> None:
    """Put into a folder what has the name of a widget, and must not be read, or never ends."""
    os.mkfifo(folder / "pipe.widget")
    (folder / "passwd.widget").symlink_to("/etc/passwd")
    (folder / "endless.widget").symlink_to("/dev/zero")
    (folder / "self.widget").symlink_to("self.widget")
    (folder / "up").symlink_to("..")
    (folder / "folder.widget").mkdir()
