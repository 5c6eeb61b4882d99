"""All upstreams of a file, kept connected. A changed file restarts only changed upstreams."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import anyio
from anyio.abc import TaskGroup

from widgetd.base.errors import CallError, ConfigError
from widgetd.base.files.stamp import Stamp, stamp_of
from widgetd.base.logs import get_logger
from widgetd.base.system import SYSTEM
from widgetd.base.text_search import nearest
from widgetd.server.render.action_callers import ActionAnswer, ActionCaller, ActionTerms
from widgetd.upstreams.breaker import pause_s
from widgetd.upstreams.connection import Upstream, UpstreamObserver
from widgetd.upstreams.declarations import Declaration, read_file
from widgetd.upstreams.limits import LIMITS

_log = get_logger()


class Upstreams(ActionCaller):
    """The upstreams declared in a file.

    Attributes:
        all: The upstreams, by name.
        fault: Why the present file is not used, or None if it is.

    Raises:
        ConfigError: The file cannot be used (W5101), or a secret is missing (W5102).
    """

    def __init__(
        self,
        path: Path,
        *,
        observer: UpstreamObserver | None = None,
        clock: Callable[[], float] = SYSTEM.clock.steady_s,
        is_logged: bool = True,
    ) -> None:
        self.fault: ConfigError | None = None
        self._path = path
        self._observer = observer
        self._clock = clock
        self._is_logged = is_logged
        self._file = read_file(path)
        self._stamps = self._current_stamps()
        self._check_requested = anyio.Event()
        self._tasks: TaskGroup | None = None
        self._scopes: dict[str, anyio.CancelScope] = {}
        self.all: dict[str, Upstream] = {
            name: self._build(declaration) for name, declaration in self._file.declarations.items()
        }

    def __getitem__(self, name: str) -> Upstream:
        """Return an upstream by name.

        Raises:
            CallError: There is none (W5001).
        """
        if name not in self.all:
            near = nearest(name, tuple(self.all))
            hint = f"did you mean '{near}'?" if near else "get_upstreams says which there are"
            problem = f"there is no upstream '{name[:64]}'; {hint}"
            raise CallError("W5001", problem, suggestions=(near,) if near else ())
        return self.all[name]

    def required_counts(self) -> dict[str, int]:
        required = [u for u in self.all.values() if u.declaration.table.required]
        ready = sum(u.state in {"ready", "empty"} for u in required)
        return {"ready": ready, "failed": len(required) - ready}

    def describe_states(self) -> dict[str, Any]:
        items = [
            upstream.describe() | {"required": upstream.declaration.table.required}
            for upstream in self.all.values()
        ]
        return {"items": items, **({"fault": str(self.fault)} if self.fault else {})}

    def availability(self) -> dict[str, bool]:
        return {name: upstream.state == "ready" for name, upstream in self.all.items()}

    def find_terms(self, upstream: str, tool: str) -> ActionTerms | None:
        called = self.all.get(upstream)
        rule = called and called.declaration.table.action_rules.get(tool)
        if not called or not rule:
            return None
        action = called.actions.get(tool)
        return ActionTerms(
            confirm=rule.confirm,
            title=(action and action.title) or tool.replace("_", " ").capitalize(),
            patience_s=called.declaration.table.call_s,
        )

    async def call_action(
        self, upstream: str, tool: str, arguments: Mapping[str, Any], *, key: str, principal: str
    ) -> ActionAnswer:
        called = self[upstream]
        # Stable over restarts and replicas, and different for each upstream.
        secret = called.declaration.digest.encode()
        stand_in = blake2b(principal.encode(), key=secret, digest_size=8).hexdigest()
        return await called.call_action(
            tool, arguments, key=key, principal=stand_in if principal else ""
        )

    async def listen_to(self, name: str, uri: str, notify: Callable[[], None]) -> None:
        """Call `notify` at each announcement of a resource's change.

        Runs until cancelled. A reload may replace the upstream, so it is found anew each time.
        """
        failures = 0
        while True:
            began = self._clock()
            with suppress(Exception):  # whatever a library raises, listen again
                await self[name].listen_to(uri, notify)
            # Feeds are asked at intervals, too, so a missed announcement only comes late.
            failures = 1 if self._clock() - began > pause_s(1) else failures + 1
            await anyio.sleep(pause_s(failures))

    async def run(self) -> None:
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            for upstream in self.all.values():
                self._start(upstream)
            while True:
                with anyio.move_on_after(LIMITS.poll_s):
                    await self._check_requested.wait()
                self._check_requested = anyio.Event()
                stamps = self._current_stamps()
                if stamps != self._stamps:
                    self._stamps = stamps
                    await self.reload()

    def check_file(self) -> None:
        """Request a reading of the file now, even if its date is unchanged."""
        self._stamps = {}
        self._check_requested.set()

    def _current_stamps(self) -> dict[Path, Stamp | None]:
        stamps: dict[Path, Stamp | None] = dict.fromkeys((self._path, *self._file.inputs))
        for path in stamps:
            with suppress(OSError):
                stamps[path] = stamp_of(path.stat())
        return stamps

    async def reload(self) -> None:
        """Read the file again and restart changed upstreams. A bad file changes nothing.

        Running calls end on their own connection.
        """
        before = self._current_stamps()
        try:
            # In a thread: an OpenAPI document may have 8 MiB.
            file = await SYSTEM.threads.run_blocking(read_file, self._path)
        except ConfigError as error:
            if str(error) != str(self.fault):
                _log.error("upstreams.refused", code=error.code, problem=str(error))
            self.fault = error
            return
        self.fault, self._file = None, file
        # A save during the read is another change, so the earlier stamps count.
        current = self._current_stamps()
        self._stamps = {path: before.get(path, stamp) for path, stamp in current.items()}
        served = {name: upstream.declaration for name, upstream in self.all.items()}
        gone = [name for name in served if name not in file.declarations]
        changed = [name for name, new in file.declarations.items() if served.get(name) != new]
        for name in [*gone, *changed]:
            upstream = self.all.pop(name, None)
            if upstream is not None and self._tasks is not None:
                self._tasks.start_soon(self._stop_after_calls, upstream, self._scopes.pop(name))
        for name in changed:
            self.all[name] = self._build(file.declarations[name])
            self._start(self.all[name])
        if gone or changed:
            _log.info("upstreams.reloaded", changed=sorted(changed), gone=sorted(gone))

    def _build(self, declaration: Declaration) -> Upstream:
        return Upstream(
            declaration, observer=self._observer, clock=self._clock, is_logged=self._is_logged
        )

    def _start(self, upstream: Upstream) -> None:
        if self._tasks is None:
            return
        scope = self._scopes[upstream.name] = anyio.CancelScope()
        self._tasks.start_soon(self._run, upstream, scope)

    async def _run(self, upstream: Upstream, scope: anyio.CancelScope) -> None:
        with scope:
            await upstream.run()

    async def _stop_after_calls(self, upstream: Upstream, scope: anyio.CancelScope) -> None:
        with anyio.move_on_after(upstream.declaration.table.call_s):
            await upstream.wait_idle()
        scope.cancel()
