"""All upstreams of a file, kept connected; and the file followed, restarting only what changed."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from widgetd.errors import CallError, ConfigError
from widgetd.files.stamp import Stamp
from widgetd.logs import get_logger
from widgetd.text_search import nearest
from widgetd.upstreams.connection import Observer, Upstream
from widgetd.upstreams.declarations import Declaration, read_file

POLL_S = 1.0
"""How often the file is looked at; a look is a `stat` of it and of what it names."""

_log = get_logger()


class Upstreams:
    """The upstreams that a file declares.

    Attributes:
        all: By name.
        fault: Why the file as it stands is not used; None where it is.
        restarts: How many connections were begun because of what the file says.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
    """

    def __init__(
        self,
        path: Path,
        *,
        observer: Observer | None = None,
        clock: Callable[[], float] = time.monotonic,
        is_logged: bool = True,
    ) -> None:
        self.fault: ConfigError | None = None
        self.restarts = 0
        self._path = path
        self._observer = observer
        self._clock = clock
        self._is_logged = is_logged
        self._file = read_file(path)
        self._stamps = self._look()
        self._looked = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._scopes: dict[str, anyio.CancelScope] = {}
        self.all: dict[str, Upstream] = {
            name: self._made(one) for name, one in self._file.declarations.items()
        }

    def __getitem__(self, name: str) -> Upstream:
        """The upstream of that name.

        Raises:
            CallError: There is none (W5001).
        """
        if name not in self.all:
            near = nearest(name, tuple(self.all))
            hint = f"did you mean '{near}'?" if near else "get_upstreams says which there are"
            problem = f"there is no upstream '{name[:64]}'; {hint}"
            raise CallError("W5001", problem, suggestions=(near,) if near else ())
        return self.all[name]

    def counts(self) -> dict[str, int]:
        """Of those that must be well for widgetd to be: `{"ready": 3, "failed": 1}`."""
        required = [one for one in self.all.values() if one.declaration.declared.required]
        ready = sum(one.state in {"ready", "empty"} for one in required)
        return {"ready": ready, "failed": len(required) - ready}

    def ups(self) -> dict[str, bool]:
        """Which of them can be called now, by name."""
        return {name: one.state == "ready" for name, one in self.all.items()}

    async def run(self) -> None:
        """Keep all connected, and follow the file, until cancelled."""
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            for upstream in self.all.values():
                self._start(upstream)
            await self._follow()

    def look(self) -> None:
        """Look at the file now, whatever its date says."""
        self._stamps = {}
        self._looked.set()

    async def _follow(self) -> None:
        while True:
            with anyio.move_on_after(POLL_S):
                await self._looked.wait()
            self._looked = anyio.Event()
            stamps = self._look()
            if stamps != self._stamps:
                self._stamps = stamps
                await self.reload()

    def _look(self) -> dict[Path, Stamp | None]:
        stamps: dict[Path, Stamp | None] = dict.fromkeys((self._path, *self._file.inputs))
        for path in stamps:
            with suppress(OSError):
                stamps[path] = Stamp.of(path.stat())
        return stamps

    async def reload(self) -> None:
        """Read the file again, and restart what it declares otherwise; a bad file changes nothing.

        Calls that are running end on the connection that they began on.
        """
        before = self._look()
        try:
            # Off the loop: an OpenAPI document may have 8 MiB.
            file = await anyio.to_thread.run_sync(read_file, self._path)
        except ConfigError as error:
            if str(error) != str(self.fault):
                _log.error("upstreams.refused", code=error.code, problem=str(error))
            self.fault = error
            return
        self.fault, self._file = None, file
        # A save since it was read is one more change, so the older stamps count.
        self._stamps = {path: before.get(path, stamp) for path, stamp in self._look().items()}
        declared = file.declarations
        served = {name: one.declaration for name, one in self.all.items()}
        gone = [name for name in served if name not in declared]
        changed = [name for name, one in declared.items() if served.get(name) != one]
        for name in [*gone, *changed]:
            self._end(name)
        for name in changed:
            self.all[name] = self._made(declared[name])
            self._start(self.all[name])
        if gone or changed:
            _log.info("upstreams.reloaded", changed=sorted(changed), gone=sorted(gone))

    def _made(self, declaration: Declaration) -> Upstream:
        return Upstream(
            declaration, observer=self._observer, clock=self._clock, is_logged=self._is_logged
        )

    def _start(self, upstream: Upstream) -> None:
        if self._tasks is None:
            return
        self.restarts += 1
        scope = self._scopes[upstream.name] = anyio.CancelScope()
        self._tasks.start_soon(self._run, upstream, scope)

    async def _run(self, upstream: Upstream, scope: anyio.CancelScope) -> None:
        with scope:
            await upstream.run()

    def _end(self, name: str) -> None:
        upstream = self.all.pop(name, None)
        scope = self._scopes.pop(name, None)
        if upstream is not None and scope is not None and self._tasks is not None:
            self._tasks.start_soon(self._end_after_calls, upstream, scope)

    async def _end_after_calls(self, upstream: Upstream, scope: anyio.CancelScope) -> None:
        with anyio.move_on_after(upstream.declaration.declared.call_s):
            await upstream.idle()
        scope.cancel()
