"""Parse JSX in several threads at once, as a daemon does whose users edit at the same time."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from widgetd.base.limits import Limits
from widgetd.core.template.jsx.parse import parse

TEXTS = tuple(
    f"<Card>{'<Row><Text value={a + 1} /></Row>' * count}</Card>" for count in (1, 20, 60)
)


def main() -> None:
    """Parse until each thread has seen each text so many times."""
    sys.setswitchinterval(1e-6)
    with ThreadPoolExecutor(4) as threads:
        roots = threads.map(lambda number: parse(TEXTS[number % 3], Limits()), range(99))
    assert all(root.kind == "program" for root in roots)


if __name__ == "__main__":
    main()
