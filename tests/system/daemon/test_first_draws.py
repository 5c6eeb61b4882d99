"""Content from outside is drawn in a process with limits first, by whichever door it comes.

The fault is put in on purpose: a filter that never returns from one word. It keeps any process
that draws it, so the daemon answers only if another process was that one. `test_watchdog.py` does
the same with a file at a start, and with a save.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.clients import connect_client
from tests.support.forked_daemons import forked_daemon
from tests.support.widgets import widget_file
from tests.system.daemon.test_watchdog import STALLING, TEMPLATE
from tests.system.server.web.asking import put
from widgetd.base.limits import Limits

SHOUT = TEMPLATE.replace("SHOWN", "who")
STUCK = TEMPLATE.replace("SHOWN", "'stall'")

QUOTES = '\\"'
"""What an unterminated string is full of: each piece may start another attempt to read it."""

BAR_CPU_S = 10.0
"""Ten times the second of processor time that a process with limits may take."""

UNQUOTED = '{"type":"Card","children":[{"type":"Text","value":"a"}{{ v }}]}'


@pytest.fixture
def stalling(tmp_path: Path) -> str:
    """Return a program that puts the fault into a daemon and the processes that it starts."""
    site = tmp_path / "site"
    site.mkdir()
    (site / "sitecustomize.py").write_text(STALLING)
    return f"{STALLING}\nimport sys\nsys.path.append({str(site)!r})\n"


def draft(name: str, template: str) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(widget_file(name, template=template))
    return value


async def test_example_upload_or_draft_that_never_returns_keeps_no_daemon(
    tmp_path: Path, stalling: str
) -> None:
    folder = tmp_path / "widgets"
    folder.mkdir()
    (folder / "Quiet.widget").write_text(widget_file("Quiet"))
    (folder / "Second.widget").write_text(widget_file("Second", template=SHOUT))
    examples = "".join(f"[[examples]]\narguments = {{who = '{who}'}}\n" for who in ("Ada", "stall"))
    (folder / "Second.widget.toml").write_text(examples)
    flags = ("--toolset", "author", "--gallery", "--allow-upload")
    async with forked_daemon(folder, *flags, before=stalling) as served:
        async with connect_client(served.url, "modern") as client:
            uploaded = await put(served.url, {"Up.widget": widget_file("Up", template=STUCK)})
            assert uploaded.status_code == 422
            assert "W1013" in uploaded.text
            for call in (
                {"widget": draft("Draft", STUCK)},
                {"widget": draft("Draft", SHOUT), "arguments": {"who": "stall"}},
            ):
                result = await client.call("try_widget", **call)
                assert "W1013" in json.dumps(result.structured_content)
            assert await client.tools() & {"quiet", "second", "up"} == {"quiet"}
        assert served.process.returncode is None


def cpu_s(pid: int) -> float:
    """Return the processor time of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads processor time in /proc")
async def test_quotation_marks_cost_little_by_each_of_three_doors(tmp_path: Path) -> None:
    head, room = '{"type":"Card","children":["', Limits().template_bytes
    dropped = head + QUOTES * ((room - len(head)) // len(QUOTES))
    (tmp_path / "Raw.widget").write_text(
        json.dumps({**draft("Raw", UNQUOTED), "jsonSchema": {"properties": {"v": {}}}})
    )
    # JSON writes each in four bytes, which makes the size limit of a call.
    argument = {"v": QUOTES * 1_000_000}
    spent: dict[str, float] = {}
    async with forked_daemon(tmp_path, "--toolset", "author") as served:
        pid = served.process.pid

        def note(door: str, before: float) -> None:
            spent[door] = cpu_s(pid) - before

        async with connect_client(served.url, "modern") as client:
            before = cpu_s(pid)
            (tmp_path / "Drop.widget").write_text(widget_file("Drop", template=dropped))
            (tmp_path / "Next.widget").write_text(widget_file("Next"))
            await client.lists("next")
            note("a dropped file", before)
            before = cpu_s(pid)
            raw = json.loads((tmp_path / "Raw.widget").read_text())
            await client.call("try_widget", widget=raw, arguments=argument)
            note("the arguments of a draft", before)
            before = cpu_s(pid)
            await client.call("raw", **argument)
            note("a call", before)
        assert served.process.returncode is None

    assert all(value < BAR_CPU_S for value in spent.values()), spent
