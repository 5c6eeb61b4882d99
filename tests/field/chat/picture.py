"""Take the picture of a conversation that the README shows: three moments of one thread.

python -m tests.field.chat.picture
"""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path

import anyio

from tests.field.chat.test_chat_page import ask, open_chat, widget
from tests.field.server.web.browsing import browsing
from tests.support.daemons import serving
from widgetd.base.files.folder import bundled_folder

PICTURE = Path(__file__).resolve().parents[3] / "docs" / "chat.png"

WIDTH, HEIGHT, GAP = 430, 680, 16


async def main() -> None:
    """Ask, fill in and send, and put the three pictures side by side."""
    size = {"width": WIDTH, "height": HEIGHT}
    async with serving(bundled_folder(), chat=True) as url, browsing(viewport=size) as page:
        await open_chat(page, url)
        await ask(page, "Where is NF 221?")
        await widget(page).get_by_text("NF 221").first.wait_for()
        shots = [await page.screenshot()]
        await ask(page, "I want to leave my contact details")
        field = widget(page).locator("input[type=email]")
        await widget(page).get_by_label("Name").fill("Ada")
        await field.fill("ada@example.com")
        await field.scroll_into_view_if_needed()
        shots.append(await page.screenshot())
        await widget(page).get_by_role("button", name="Request a survey").click()
        line = page.locator("#items li.assistant_message", has_text="ada@example.com")
        await line.wait_for()
        await line.scroll_into_view_if_needed()
        shots.append(await page.screenshot())
    whole = {"width": 3 * WIDTH + 4 * GAP, "height": HEIGHT + 2 * GAP}
    images = "".join(
        f'<img src="data:image/png;base64,{b64encode(shot).decode()}">' for shot in shots
    )
    style = f"body{{margin:0;padding:{GAP}px;display:flex;gap:{GAP}px;background:#e9e7e2}}"
    async with browsing(viewport=whole) as page:
        await page.set_content(f"<style>{style}img{{border-radius:12px}}</style>{images}")
        await page.screenshot(path=PICTURE)


if __name__ == "__main__":
    anyio.run(main)
