"""Locations of findings in the text of their file."""

from __future__ import annotations

from widgetd.checks.report import Location, locate
from widgetd.errors import Finding


def location_of(finding: Finding, text: str) -> Location:
    """Locate `finding` in `text`, the text of its file."""
    location = locate(finding, {finding.path: text})
    assert location is not None
    return location
