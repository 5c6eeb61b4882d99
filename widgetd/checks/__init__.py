"""Everything that can be said about a widget before it is called.

One module for each kind of finding; `findings` runs them all. They say, and
never decide: what cannot be served at all was refused before.
"""

from __future__ import annotations

from widgetd.checks.breaking_changes import breaking, removed
from widgetd.checks.everything import findings

__all__ = ["breaking", "findings", "removed"]
