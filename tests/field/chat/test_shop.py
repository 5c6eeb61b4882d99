"""The example shop, from an empty basket to a booking, while its server is killed."""

from __future__ import annotations

import os
import re
import signal
import sqlite3
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from stress.processes import find_processes
from tests.field.chat.test_chat_page import frame_of, open_chat, say, settled
from tests.field.server.web.browsing import browsing, needs_browser
from tests.support.daemons import serving
from tests.system.upstreams.servers import until

pytestmark = [
    needs_browser,
    pytest.mark.timeout(300),
    # Two threads import libraries here, and what one of them ignores is an error in the other.
    pytest.mark.filterwarnings("ignore:Direct usage of named widget classes"),
]

STEP_MS = 60_000
"""Several processes draw, answer and start again here, which a busy machine does slowly."""

SHOP = Path(__file__).resolve().parents[3] / "examples/shop"


def rows(database: Path, query: str) -> list[Any]:
    with sqlite3.connect(database) as opened_database:
        return opened_database.execute(query).fetchall()


async def test_basket_becomes_one_booking_although_the_shop_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = tmp_path / "shop.sqlite3"
    monkeypatch.setenv("SHOP", str(database))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    program = tmp_path / "shop_upstream.py"
    program.write_text((SHOP / "upstream.py").read_text())
    monkeypatch.setenv("SHOP_PROGRAM", str(program))

    def shop_processes() -> list[int]:
        return find_processes(str(program))

    from playwright.async_api import expect

    with anyio.fail_after(250):
        async with (
            serving(SHOP / "widgets", upstreams=SHOP / "upstreams.toml", chat=True) as url,
            browsing() as page,
        ):
            page.set_default_timeout(STEP_MS)
            await open_chat(page, url)
            await say(page, "show me shop")
            await frame_of(page).get_by_text("The basket is empty.").wait_for()
            assert await frame_of(page).get_by_role("button", name="Add Bread").is_disabled()
            await frame_of(page).get_by_role("button", name="Add Mug").click()
            await frame_of(page, 0).get_by_text("1 × Mug").wait_for()
            await frame_of(page, 0).get_by_text("12 €, sold out").wait_for()
            await frame_of(page, 0).get_by_text("12 € in the basket").wait_for()
            # The agent answers what was done with another widget, and is not to be interrupted.
            await frame_of(page, 1).get_by_text("1 × Mug").wait_for()
            await settled(page)

            await say(page, "show me departures")
            # Of the first row alone: another one may come to say the same.
            leaves = frame_of(page).get_by_text(" min").first
            await expect(leaves).not_to_have_text(await leaves.inner_text(), timeout=STEP_MS)

            await say(page, "check out")
            form = frame_of(page, await page.locator("#items li.widget").count() - 1)
            await form.get_by_label("Name").fill("Ada")
            await form.get_by_label("Day").fill("Friday")
            # It takes no call any more, and then it is gone in the middle of one.
            (shop,) = shop_processes()
            os.kill(shop, signal.SIGSTOP)
            await form.get_by_role("button", name="Book the pick-up").click()
            await form.get_by_text("Book a pick-up on Friday for Ada?").wait_for()
            await form.get_by_role("button", name="Confirm").click()
            await form.get_by_text("Sending").wait_for()
            os.kill(shop, signal.SIGKILL)
            await form.get_by_text("This may have been done: market did not answer").wait_for()
            assert rows(database, "SELECT * FROM bookings") == []

            await until(lambda: any(one != shop for one in shop_processes()))
            await settled(page)
            assert await form.get_by_label("Name").input_value() == "Ada", "nothing is lost"
            sentence = ""
            while not sentence.startswith("Booked"):  # or the new process is not connected yet
                await form.get_by_role("button", name="Book the pick-up").click()
                await form.get_by_role("button", name="Confirm").click()
                outcome = form.get_by_text(re.compile("Booked as P-1|Nothing was done"))
                sentence = await outcome.inner_text()

    assert rows(database, "SELECT name, day, goods FROM bookings") == [("Ada", "Friday", "1 × Mug")]
    assert rows(database, "SELECT * FROM basket") == []
    assert rows(database, "SELECT left FROM stock WHERE sku IN ('mug', 'tea') ORDER BY sku") == [
        (0,),
        (9,),
    ]
    assert rows(database, "SELECT count(*) FROM done") == [(2,)]
