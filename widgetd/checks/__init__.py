"""Checks of a widget before it is called.

One table of rules, and a module for each subject. Checks report and never decide: a widget that
cannot be served was refused before.
"""

from __future__ import annotations

from widgetd.checks.breaking_changes import find_breaking_changes, report_removal
from widgetd.checks.rules import check_widget

__all__ = ["check_widget", "find_breaking_changes", "report_removal"]
