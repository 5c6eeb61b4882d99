"""Locations of findings in the text of their file."""

from __future__ import annotations

from widgetd.base.errors import Finding
from widgetd.core.checks.report import Location, locate


def location_of(finding: Finding, text: str) -> Location:
    """Locate `finding` in `text`, the text of its file."""
    location = locate(finding, {finding.path: text})
    assert location is not None
    return location
