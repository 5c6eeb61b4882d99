"""Everything that can be said about a widget before it is called.

One table of rules, and a module for each subject that they are about. They say,
and never decide: what cannot be served at all was refused before.
"""

from __future__ import annotations

from widgetd.checks.breaking_changes import breaking, removed
from widgetd.checks.rules import findings

__all__ = ["breaking", "findings", "removed"]
