"""Take the picture of the example shop that the README shows: five moments of one purchase.

python -m tests.field.chat.picture
"""

from __future__ import annotations

import os
import sys
from base64 import b64encode
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import anyio

from tests.field.chat.test_chat_page import frame_of, open_chat, say, settled
from tests.field.server.web.browsing import browsing
from tests.support.daemons import serving

if TYPE_CHECKING:
    from playwright.async_api import Page

ROOT = Path(__file__).resolve().parents[3]
SHOP, PICTURE = ROOT / "examples" / "shop", ROOT / "docs" / "shop.png"

SIZE, GAP = {"width": 900, "height": 1000}, 16
PAGE = (
    f"body{{margin:0;padding:{GAP}px;display:flex;flex-wrap:wrap;gap:{GAP}px;background:#fbfbfa}}"
)


async def take_moments(page: Page, url: str) -> list[bytes]:
    """Add to the basket, check out, confirm, and read the receipt."""
    moments = []

    async def take(at: int) -> None:
        await settled(page)
        frame = page.locator("#items li.widget iframe").nth(at)
        await frame.scroll_into_view_if_needed()
        await page.wait_for_function("() => document.getAnimations().length === 0")
        moments.append(await frame.screenshot(animations="disabled"))

    await open_chat(page, url)
    await say(page, "show me shop")
    await frame_of(page, 0).get_by_text("The basket is empty.").wait_for()
    await take(0)
    await frame_of(page, 0).get_by_role("button", name="Add Mug").click()
    await frame_of(page, 0).get_by_text("1 × Mug").wait_for()
    await take(0)
    await say(page, "check out")
    last = await page.locator("#items li.widget").count() - 1
    form = frame_of(page, last)
    await form.get_by_label("Name").fill("Ada")
    await form.get_by_label("Day").fill("Friday")
    await take(last)
    await form.get_by_role("button", name="Book the pick-up").click()
    await form.get_by_text("Book a pick-up on Friday for Ada?").wait_for()
    await take(last)
    await form.get_by_role("button", name="Confirm").click()
    await form.get_by_text("Booked as P-1").first.wait_for()
    await take(last)
    return moments


async def main() -> None:
    """Take the five pictures and put them into one."""
    with TemporaryDirectory() as folder:
        os.environ["SHOP"] = f"{folder}/shop.sqlite3"
        os.environ["SHOP_PROGRAM"] = str(SHOP / "upstream.py")
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        upstreams = SHOP / "upstreams.toml"
        async with (
            serving(SHOP / "widgets", upstreams=upstreams, chat=True) as url,
            browsing(viewport=SIZE, device_scale_factor=1.5) as page,
        ):
            moments = await take_moments(page, url)
    images = "".join(
        f'<img width="440" src="data:image/png;base64,{b64encode(moment).decode()}">'
        for moment in moments
    )
    async with browsing(viewport={"width": 3 * 440 + 4 * GAP, "height": 100}) as page:
        await page.set_content(f"<style>{PAGE} img{{align-self:start}}</style>{images}")
        await page.screenshot(path=PICTURE, full_page=True)


if __name__ == "__main__":
    anyio.run(main)
