"""Audit files on a disk that fills in the middle of a line, at every byte."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import anyio

from tests.support.clients import connect_client
from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.support.widgets import widget_file
from tests.system.server.web.asking import ask
from widgetd.base.files.write import append_lines

FILLING = """
import json, resource, sys
from dataclasses import replace
from pathlib import Path
import anyio
from tests.system.server.mcp.test_audit import call_record
from widgetd.server.observe import audit as module, line_queue

module.LIMITS = line_queue.LIMITS = replace(module.LIMITS, gather_s=0.001, retry_s=0.001)
HARD = resource.getrlimit(resource.RLIMIT_FSIZE)[1]

async def fill(folder, room):
    path = folder / f"{room}.jsonl"
    audit = module.Audit(path, most_bytes=10_000_000)
    with audit.running():
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + room, HARD))
        for made in (3, 6):
            for _ in range(3):
                audit.on_call(call_record("ada"))
            await settled(audit, path, made)
        lost = audit.lines.lost
        resource.setrlimit(resource.RLIMIT_FSIZE, (HARD, HARD))
        await confessed(audit)
        audit.on_call(call_record("bob"))
        await settled(audit, path, 7)
    lines = [json.loads(line) for line in path.read_bytes().splitlines()]
    calls = [line for line in lines if line["event"] == "call"]
    said = sum(line["calls"] for line in lines if line["event"] == "audit.lost")
    assert (len(calls) + said, audit.lines.lost) == (7, said), (room, lines)
    assert lines[-1]["principal"] != lines[-2].get("principal"), lines
    return lost

async def settled(audit, path, made):
    # The beginning of a line may be cut off again.
    while path.read_bytes().rpartition(b"\\n")[0].count(b':"call"') + audit.lines.lost != made:
        await anyio.sleep(0.001)

async def confessed(audit):
    while audit.lines._unrecorded:
        await anyio.sleep(0.001)

async def every(folder):
    with anyio.fail_after(60):
        return [await fill(folder, room) for room in range(0, 2000, int(sys.argv[2]))]

print(json.dumps(anyio.run(every, Path(sys.argv[1]))))
"""


def test_disk_full_at_any_byte_keeps_whole_lines_and_counts_lost_ones(tmp_path: Path) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", FILLING, str(tmp_path), "23"],
        cwd=Path(__file__).parents[4],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )

    assert ended.returncode == 0, ended.stderr
    seconds_lost = json.loads(ended.stdout.splitlines()[-1])
    assert seconds_lost[0] == 6
    assert seconds_lost[-1] == 0
    assert seconds_lost == sorted(seconds_lost, reverse=True)


def test_torn_line_does_not_damage_the_next(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"whole\ntor")

    assert append_lines(path, [b"a\n", b"b\n"]) == (2, None)
    assert path.read_bytes() == b"whole\ntor\na\nb\n"


async def test_disk_full_from_the_start_is_logged_at_once_and_calls_continue(
    tmp_path: Path,
) -> None:
    (tmp_path / "A.widget").write_text(widget_file("A"))
    async with (
        serving(tmp_path, audit=Path("/dev/full")) as url,
        connect_client(url, "modern") as ada,
    ):
        for _ in range(3):
            assert not (await ada.call("a", who="Ada")).is_error
        lost = 0.0
        with anyio.fail_after(PATIENCE_S):
            while lost < 3:
                text = (await ask(url, "/metrics")).text
                [lost_text] = re.findall(r"^widgetd_audit_lost_total (\S+)$", text, re.MULTILINE)
                lost = float(lost_text)

    assert lost == 3
