"""A task that runs beside a block of code."""

from __future__ import annotations

import anyio
import pytest

from tests.support.patience import PATIENCE_S
from widgetd.base.errors import CallError
from widgetd.base.tasks import while_running


async def test_task_runs_during_the_block_and_ends_with_it() -> None:
    began, ended = anyio.Event(), anyio.Event()

    async def run() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            ended.set()

    with anyio.fail_after(PATIENCE_S):
        async with while_running(run):
            await began.wait()
            assert not ended.is_set()
        assert ended.is_set()


async def test_error_of_the_block_is_raised_as_itself_with_its_cause() -> None:
    with pytest.raises(CallError) as caught:
        async with while_running(anyio.sleep_forever):
            raise CallError("W5001", "there is no upstream 'a'") from OSError("its cause")

    assert isinstance(caught.value.__cause__, OSError)
    assert caught.value.__context__ is None


async def test_error_of_the_task_is_raised_as_itself() -> None:
    async def run() -> None:
        raise PermissionError("the folder cannot be read")

    with (
        anyio.fail_after(PATIENCE_S),
        pytest.raises(PermissionError, match="the folder cannot be read"),
    ):
        async with while_running(run):
            await anyio.sleep_forever()


async def test_errors_of_both_are_raised_together() -> None:
    began = anyio.Event()

    async def run() -> None:
        began.set()
        try:
            await anyio.sleep_forever()
        finally:
            raise OSError("the connection cannot be closed")

    async def fail_beside_it() -> None:
        async with while_running(run):
            await began.wait()
            raise CallError("W5003", "the upstream 'a' did not answer within 20 s")

    with anyio.fail_after(PATIENCE_S), pytest.raises(ExceptionGroup) as caught:
        await fail_beside_it()

    assert {type(error) for error in caught.value.exceptions} == {CallError, OSError}
