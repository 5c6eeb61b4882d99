"""Files change while clients call, and no client sees a fault.

Short versions of `make storm`, without its clock.
"""

from __future__ import annotations

from pathlib import Path

import anyio
import pytest

from stress.configmap import swap_repeatedly
from stress.overflow import measure_convergence
from stress.saves import storm

MUTATIONS = 500


@pytest.mark.timeout(240)
async def test_storm_of_saves_fails_no_call_tears_no_result_and_leaves_nothing_stale(
    tmp_path: Path,
) -> None:
    outcome = await storm(tmp_path, mutations=MUTATIONS, clients=16, patience_s=20)

    assert outcome.behind == ()
    assert outcome.tally.outcomes.keys() <= {"whole", "stale"}
    assert outcome.tally.outcomes["whole"] > MUTATIONS
    assert outcome.breaks > 0


async def test_files_created_while_the_daemon_was_down_are_served(
    tmp_path: Path,
) -> None:
    with anyio.fail_after(60):
        await measure_convergence(tmp_path, files=5_000, one_widget_in=100)


async def test_swapped_config_map_never_lacks_a_widget(tmp_path: Path) -> None:
    with anyio.fail_after(60):
        outcomes = await swap_repeatedly(tmp_path, swaps=10)

    assert outcomes["lists"] > 0
    assert (outcomes["unlisted"], outcomes["failed"]) == (0, 0)
