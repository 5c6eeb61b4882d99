"""The `widgetd` command, which is `python -m widgetd`, too."""

from __future__ import annotations

import sys

from widgetd.daemon.startup import importing


def main() -> int:
    """Run the command that the arguments name, and answer the exit code."""
    with importing():
        from widgetd.cli import main as run  # noqa: PLC0415 - nearly all that is imported
    return run()


if __name__ == "__main__":
    sys.exit(main())
