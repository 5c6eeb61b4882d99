"""Regenerate the reference: `make reference`."""

from __future__ import annotations

import sys

import anyio

from docs.generate.hosts import PAGE, hosts_page
from docs.generate.pages import FOLDER, pages


async def accept() -> None:
    """Replace every committed page with the generated one."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in (await pages()).items():
        path = FOLDER / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"written {name}\n")
    PAGE.write_text(hosts_page(), encoding="utf-8")


if __name__ == "__main__":
    anyio.run(accept)
