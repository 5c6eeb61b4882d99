"""How long tests wait for what takes a moment on a quiet machine."""

from __future__ import annotations

PATIENCE_S = 60
"""Far more than any step takes on a busy machine: a shorter wait would fail there."""
