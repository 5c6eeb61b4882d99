"""Locations of findings in the text of their file."""

from __future__ import annotations

from widgetd.checks.report import Location, Locations
from widgetd.errors import Finding


def location_of(finding: Finding, text: str) -> Location:
    """Locate `finding` in `text`, the text of its file."""
    location = Locations({finding.path: text}).locate(finding)
    assert location is not None
    return location
