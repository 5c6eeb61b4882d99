"""`python -m widgetd` is the `widgetd` command."""

from __future__ import annotations

import sys

from widgetd.cli import main

if __name__ == "__main__":
    sys.exit(main())
