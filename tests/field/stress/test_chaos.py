"""Daemons are killed, stopped and attacked, and clients stop reading: no other client notices.

Short versions of `make chaos`, without its clock.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import anyio.to_thread

from stress.attackfiles import ATTACKS, drop, drop_irregular_files
from stress.deaf import deaf_clients
from stress.endings import end_daemon
from stress.kills import kill_repeatedly
from stress.probing import wait_until
from stress.revisions import read_revision, widget_content
from tests.support.clients import connect_client
from tests.support.processes import daemon_process


async def test_killed_daemon_equals_the_disk_when_it_is_back_and_keeps_last_good_copies(
    tmp_path: Path,
) -> None:
    outcome = await kill_repeatedly(tmp_path, kills=2, patience_s=60)

    assert len(outcome.ready_s) == 2
    assert (outcome.behind, outcome.lost) == (0, 0)


async def test_sigterm_finishes_calls_in_flight_beside_open_streams(tmp_path: Path) -> None:
    outcome = await end_daemon(tmp_path, streams=16, calls=8)

    assert (outcome.code, outcome.unfinished) == (0, 0)


async def test_clients_that_never_read_do_not_delay_others(tmp_path: Path) -> None:
    (tmp_path / "w0.widget").write_bytes(widget_content("w0", 1))
    async with (
        daemon_process(tmp_path, "--log-level", "error") as served,
        connect_client(served.url, "modern") as client,
    ):
        with deaf_clients(served.url) as ask:
            for number in range(1, 15):
                ask()
                (tmp_path / "w1.widget").write_bytes(widget_content(f"w{number}", 1))
                await client.lists(f"w{number}")
                assert await read_revision(client, "w0") == 1


async def test_attack_files_harm_no_other_widget(tmp_path: Path) -> None:
    (tmp_path / "w0.widget").write_bytes(widget_content("w0", 1))
    drop_irregular_files(tmp_path)
    async with (
        daemon_process(tmp_path, "--log-level", "error") as served,
        connect_client(served.url, "modern") as client,
    ):
        for number, attack in enumerate(ATTACKS):
            drop(tmp_path, attack, number)
            assert await read_revision(client, "w0") == 1
        with anyio.fail_after(60):
            await wait_until(served.url, lambda log: log["widgets"] + log["refused"] > len(ATTACKS))
        assert await read_revision(client, "w0") == 1
