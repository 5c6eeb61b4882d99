"""Tests that are saved with a widget run in processes of which each principal has a share."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import anyio
import pytest

from tests.support.daemons import serving
from tests.support.patience import PATIENCE_S
from tests.system.author.guide.test_toolset import PARCEL, SETTINGS
from tests.system.server.mcp.test_access import ADA, CHIEF, KIOSK, call
from widgetd.base.processes import LIMITS

TOKENS = f"""
ada    {ADA}    widgets:read widgets:call write
chief  {CHIEF}  widgets:read widgets:call write
kiosk  {KIOSK}  widgets:read widgets:call
"""

FAILING = "widget: parcel\ntests:\n  - name: fails\n    steps:\n      - No Such Step\n"

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="counts processes in /proc"
)


def count_test_runs() -> int:
    """Return the number of children of this process that run tests of widgets."""
    count = 0
    for file in Path("/proc/self/task").glob("*/children"):
        for pid in file.read_text().split():
            try:
                count += b"\0test\0" in Path(f"/proc/{pid}/cmdline").read_bytes()
            except OSError:  # it has ended
                continue
    return count


async def save_often(
    url: str, calls: list[tuple[str, dict[str, Any]]], *, answers: int
) -> tuple[Counter[str], int]:
    """Save all at once until so many answers came.

    Returns:
        How often each code came, and the most test runs at once.
    """
    codes: Counter[str] = Counter()
    most = 0

    async def save(token: str, more: dict[str, Any]) -> None:
        saving = {"file": "Parcel.widget", "widget": PARCEL, "tests": FAILING, **more}
        result = await call(url, token, "save_widget", **saving)
        codes[result["content"][0]["text"][1:6]] += 1

    with anyio.fail_after(PATIENCE_S):
        async with anyio.create_task_group() as saves:
            for token, more in calls:
                saves.start_soon(save, token, more)
            while codes.total() < answers:
                most = max(most, count_test_runs())
                await anyio.sleep(0.05)
            saves.cancel_scope.cancel()
    return codes, most


async def test_each_token_runs_tests_in_its_share_of_processes_and_only_for_what_it_may_save(
    tmp_path: Path,
) -> None:
    folder, tokens = tmp_path / "widgets", tmp_path / "tokens"
    folder.mkdir()
    tokens.write_text(TOKENS)
    share = LIMITS["tests"].share
    assert share is not None
    async with serving(folder, token_file=tokens, **SETTINGS) as url:
        two: list[tuple[str, dict[str, Any]]] = [
            (token, {}) for token in (ADA, CHIEF) for _ in range(10)
        ]
        # On a busy machine, a run of tests takes longer than a caller waits.
        codes, most = await save_often(url, two, answers=20 - 2 * share)
        assert most <= 2 * share
        assert codes["W2202"] > 0
        assert codes.keys() <= {"W1122", "W2202"}
        with anyio.fail_after(2 * PATIENCE_S):
            while count_test_runs():  # noqa: ASYNC110 - no event tells of it
                await anyio.sleep(0.05)

        unwelcome = [(ADA, {"replaces": "0" * 32}), (KIOSK, {})]
        codes, most = await save_often(url, unwelcome, answers=2)
        assert most == 0
        assert codes.keys() & {"W1122", "W2202"} == set()
    assert list(folder.iterdir()) == []
