"""Where a finding points, of one alone."""

from __future__ import annotations

from widgetd.checks.report import Location, Locations
from widgetd.errors import Finding


def location_of(finding: Finding, text: str) -> Location:
    """Where `finding` is in `text`, which is that of its file."""
    location = Locations({finding.path: text}).locate(finding)
    assert location is not None
    return location
