"""The pytest plugin under a name that stays: `pytest -p widgetd.pytest_plugin`."""

from __future__ import annotations

from widgetd.author.testing.plugin import *  # noqa: F403 - pytest looks for hooks and fixtures here
