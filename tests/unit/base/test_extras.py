"""The advice to install an extra leads to this clone, or to the package."""

from __future__ import annotations

from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

import pytest

from widgetd.base import extras


@pytest.mark.parametrize(
    ("origin", "advice"),
    [
        (None, 'run `pip install "widgetd[browser]"`'),
        ('{"url": "file:///x", "archive_info": {}}', 'run `pip install "widgetd[browser]"`'),
        (
            '{"url": "file:///x", "dir_info": {"editable": true}}',
            'run `.venv/bin/pip install -e ".[browser]"` in the clone',
        ),
    ],
)
def test_advice_names_the_published_package_only_where_it_came_from_there(
    origin: str | None, advice: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Installed(Distribution):
        def read_text(self, _filename: str) -> str | None:
            return origin

        def locate_file(self, path: Any) -> Any:
            return Path(path)

    monkeypatch.setattr(extras, "distribution", lambda _name: Installed())
    monkeypatch.setattr("sys.prefix", "/somewhere/.venv")

    assert extras.install_advice("browser") == advice
