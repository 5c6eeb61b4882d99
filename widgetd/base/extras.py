"""The command that installs an optional dependency: from an index, or from a clone's own files."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import orjson


def install_advice(extra: str) -> str:
    """Return the advice to install `widgetd[extra]`.

    A clone's files are installed as editable; the name of the package could lead to anything there,
    for as long as it is not published.

    Source: PEP 610, `direct_url.json`.
    """
    try:
        origin = distribution("widgetd").read_text("direct_url.json")
    except PackageNotFoundError:
        origin = None
    if origin is None or not orjson.loads(origin).get("dir_info", {}).get("editable", False):
        return f'run `pip install "widgetd[{extra}]"`'
    return f'run `{Path(sys.prefix).name}/bin/pip install -e ".[{extra}]"` in the clone'
