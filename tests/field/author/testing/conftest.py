"""Runs of `widgetd test` that several tests look at."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.field.author.browser.staging import controls_file
from tests.field.author.testing.running import widgetd_test, write_test


class Failed(NamedTuple):
    """Run a test whose step fails; return its outcome and its folder."""

    ran: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="session")
def failed(tmp_path_factory: pytest.TempPathFactory) -> Failed:
    """Run a test that expects `Follow` of the button `Track` in line 6."""
    folder = tmp_path_factory.mktemp("failed")
    (folder / "Controls.widget").write_text(controls_file())
    write_test(
        folder,
        "Show Widget: {arguments: {who: Ada}}",
        "Expect Text: {target: action=track, equals: Follow}",
    )
    return Failed(widgetd_test(folder, "Controls.test.yaml"), folder)
