"""The `widgetd` command, also run as `python -m widgetd`."""

from __future__ import annotations

import sys

from widgetd.daemon.startup import gc_paused

INTERRUPTED = 130
"""The exit code that shells give a command ended by Ctrl-C."""


def main() -> int:
    """Run the command that the arguments name, and return its exit code."""
    try:
        with gc_paused():
            from widgetd.cli import main as run  # noqa: PLC0415 - imports nearly everything
        return run()
    except KeyboardInterrupt:
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
