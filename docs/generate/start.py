"""Walk docs/start.md as a newcomer would, in a fresh clone, and write down what is printed.

`python -m docs.generate.start` runs the commands of its console block, in order, in a clone of what
is committed; then it looks at the widget that they made in a browser, and keeps the picture. A
command whose remark says so is left running.
"""

from __future__ import annotations

import re
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
from playwright.async_api import async_playwright

from docs.generate.commands import end_all, run_commands
from tests.field.deploy.documents import ROOT
from widgetd.author.browser.chromium import FLAGS, demand_browser

PAGE = ROOT / "docs" / "start.md"
PICTURE = ROOT / "docs" / "start.png"
BLOCK = re.compile(r"(?<=```console\n)\$ cd widgetd\n.*?(?=```)", re.DOTALL)
MOST_COMMANDS = 5


async def seen(address: str, text: str) -> bytes:
    """Take a picture of the page at `address` once one of its widgets shows `text`."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=demand_browser(), args=[*FLAGS, "--no-sandbox"]
        )
        page = await browser.new_page(viewport={"width": 1100, "height": 640})
        await page.goto(address)
        await page.frame_locator("iframe").first.get_by_text(text).first.wait_for()
        picture = await page.screenshot()
        await browser.close()
        return picture


def main() -> None:
    """Rewrite the block, and take the picture."""
    text = PAGE.read_text(encoding="utf-8")
    match = BLOCK.search(text)
    assert match is not None
    commands = re.findall(r"^\$ (.+)$", match[0], re.MULTILINE)
    assert len(commands) <= MOST_COMMANDS
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "widgetd"
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        output, running = run_commands(commands, folder, port)
        try:
            picture = anyio.run(seen, f"http://127.0.0.1:{port}/w/parcel_tracker", "Room booked")
        finally:
            end_all(running)
    PAGE.write_text(text.replace(match[0], output), encoding="utf-8")
    PICTURE.write_bytes(picture)
    sys.stdout.write(output)


if __name__ == "__main__":
    main()
