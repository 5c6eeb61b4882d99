"""Hints at changes in a folder on any system; the only module that imports watchfiles.

watchfiles passes events on after 10 to 20 ms, and not that a file was closed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import closing
from functools import partial
from pathlib import Path

import anyio
import watchfiles
from anyio import from_thread

from widgetd.base.files.folder import identify
from widgetd.base.files.hints import Hints, Skipped
from widgetd.base.files.limits import LIMITS
from widgetd.base.system import SYSTEM


async def follow(root: Path, hints: Hints, armed: Callable[[], None], _skipped: Skipped) -> None:
    """Follow `root` as `watch.Follow` specifies, by watchfiles; no file is reported as finished.

    Raises:
        FileNotFoundError: There is no such folder, or not any more.
        Exception: Any error that ends watchfiles.
    """
    following = partial(_follow, root, hints, armed, _Cancelled())
    # Slow calls of others may occupy all forty threads of the loop's shared limiter.
    await SYSTEM.threads.run_blocking(following, limiter=anyio.CapacityLimiter(1))


class _Cancelled:
    """An event that is set once the task that waits for this thread is cancelled."""

    def __init__(self) -> None:
        self._exception = anyio.get_cancelled_exc_class()

    def is_set(self) -> bool:
        try:
            from_thread.check_cancelled()
        except self._exception:
            return True
        return False


def _follow(root: Path, hints: Hints, armed: Callable[[], None], cancelled: _Cancelled) -> None:
    root = root.absolute()
    folder, inside = identify(root), str(root).rstrip("/") + "/"
    changes: Generator[set[watchfiles.main.FileChange], None, None] = watchfiles.watch(
        root,
        watch_filter=None,
        step=LIMITS.watchfiles_step_ms,
        debounce=LIMITS.watchfiles_debounce_ms,
        rust_timeout=LIMITS.watchfiles_replaced_ms,
        yield_on_timeout=True,
        stop_event=cancelled,
        debug=False,
        force_polling=False,
        recursive=True,
        ignore_permission_denied=True,
    )
    with closing(changes) as batches:
        for number, batch in enumerate(batches):
            if number == 0:
                from_thread.run_sync(armed)
            elif batch:
                paths = {path for _, path in batch}
                # Anything may have changed if that was the folder.
                within = all(path.startswith(inside) for path in paths)
                below = {path.removeprefix(inside) for path in paths} if within else set()
                deleted = any(change == watchfiles.Change.deleted for change, _ in batch)
                from_thread.run_sync(partial(hints.add, below, deleted=deleted))
            is_gone = (watchfiles.Change.deleted, str(root)) in batch
            if is_gone or identify(root) != folder:
                return
