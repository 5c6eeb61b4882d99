"""Walk docs/start.md as a newcomer would, in a fresh clone, and write down what is printed.

`make start` runs the commands of its console block, in order, in a clone of what is committed; then
it looks at the widget that they made in a browser, and keeps the picture. A command whose remark
says so is left running.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import anyio
from playwright.async_api import async_playwright

from tests.field.deploy.documents import ROOT
from widgetd.browser.chromium import FLAGS, demand_browser

PAGE = ROOT / "docs" / "start.md"
PICTURE = ROOT / "docs" / "start.png"
BLOCK = re.compile(r"(?<=```console\n)\$ cd widgetd\n.*?(?=```)", re.DOTALL)
RUNNING = "leave it running"
LAST_LINE = "Connect a client"
USUAL = "127.0.0.1:8787"
MOST_COMMANDS = 5
_NOT_A_READERS = ("WIDGETD_", "VIRTUAL", "MAKE", "MFLAGS")
"""What begins the names of variables that whoever runs this has, and a reader does not."""


def walked(commands: list[str], folder: Path, port: int) -> tuple[str, subprocess.Popen[str]]:
    """What the commands print, and the one that is left running."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(_NOT_A_READERS)}
    environment |= {"WIDGETD_PORT": str(port)}
    lines: list[str] = []
    left: list[subprocess.Popen[str]] = []
    for command in commands:
        lines.append(f"$ {command}\n")
        ran = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            env=environment,
            text=True,
            stdout=subprocess.PIPE,
            start_new_session=True,  # so that all that it starts can be ended
        )
        assert ran.stdout is not None
        if RUNNING in command:
            left.append(ran)
            for line in ran.stdout:
                lines.append(line)
                if line.startswith(LAST_LINE):
                    break
        elif not command.startswith("cd "):
            lines.append(ran.communicate(timeout=300)[0])
            assert ran.returncode == 0, command
    (running,) = left
    return "".join(lines).replace(f"127.0.0.1:{port}", USUAL), running


async def seen(address: str, text: str) -> bytes:
    """A picture of the page at `address`, once one of its widgets shows `text`."""
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
    found = BLOCK.search(text)
    assert found is not None
    commands = re.findall(r"^\$ (.+)$", found[0], re.MULTILINE)
    assert len(commands) <= MOST_COMMANDS
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "widgetd"
        subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
        printed, running = walked(commands, folder, port)
        try:
            picture = anyio.run(seen, f"http://127.0.0.1:{port}/w/parcel_tracker", "Room booked")
        finally:
            os.killpg(running.pid, signal.SIGTERM)
            running.wait(timeout=30)
    PAGE.write_text(text.replace(found[0], printed), encoding="utf-8")
    PICTURE.write_bytes(picture)
    sys.stdout.write(printed)


if __name__ == "__main__":
    main()
