"""The `widgetd` command, which is `python -m widgetd`, too."""

from __future__ import annotations

import sys

from widgetd.daemon.startup import gc_paused

INTERRUPTED = 130
"""As a shell says of a command that Ctrl-C ended."""


def main() -> int:
    """Run the command that the arguments name, and answer the exit code."""
    try:
        with gc_paused():
            from widgetd.cli import main as run  # noqa: PLC0415 - nearly all that is imported
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
