"""A daemon in the world: the real loops, catalog, server and store client of one process."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from random import Random

import anyio

from simulation.disk import Change, FaultPlan, Medium, SimulatedDisk
from simulation.editors import FOLDER
from simulation.model import Model
from simulation.pairs import Pair, show
from simulation.store import StoreServer, open_replica
from simulation.world import Process, ProcessEnd, SeededNumbers, Workers, World
from widgetd.base.errors import WidgetError
from widgetd.base.files.hints import Hints, Skipped
from widgetd.base.files.source import Source
from widgetd.base.system import System
from widgetd.core.widget.widget import Widget
from widgetd.daemon.reloading import reloading
from widgetd.server.catalog.catalog import Catalog
from widgetd.server.catalog.loader import Loader
from widgetd.server.catalog.registry import Registry
from widgetd.server.catalog.rollback import Rollback
from widgetd.server.catalog.state import StateFolder
from widgetd.server.mcp.assembly import build
from widgetd.server.mcp.server import Server, ServerOptions
from widgetd.server.observe.status import Health
from widgetd.server.render.action_callers import ActionCaller
from widgetd.server.render.entry import tool_entry
from widgetd.settings import Settings

_LOADED: dict[tuple[str, str, str], Widget | WidgetError] = {}
"""Widgets by path and digests, for all seeds: a proof takes longer than a simulated day."""

_load = Loader(tool_entry).load


def load_once(source: Source, sidecar: Source | None) -> Widget:
    """Return the widget of a file, proven once in this process."""
    key = source.path, source.digest, "" if sidecar is None else sidecar.digest
    if key not in _LOADED:
        try:
            _LOADED[key] = _load(source, sidecar)
        except WidgetError as error:
            _LOADED[key] = error
    widget = _LOADED[key]
    if isinstance(widget, WidgetError):
        raise widget.with_traceback(None)
    return widget


@dataclass(eq=False)
class Machine:
    """The world of all replicas.

    Attributes:
        pair_of: Returns the file and the sidecar of a widget's key.
        lost: Share of lost file events.
    """

    world: World
    medium: Medium
    model: Model
    faults: FaultPlan
    store: StoreServer
    upstream: ActionCaller
    random: Random
    pair_of: Callable[[str], Pair]
    lost: float = 0.0


@dataclass(eq=False)
class Replica:
    """A daemon, with its successive processes.

    Attributes:
        state: Its state folder, or an empty text.
        swaps: Number of snapshots served by this process.
        listed, swapped_s: The listed pairs, and the time of their last change.
        ready: Set while it answers clients.
    """

    machine: Machine
    name: str
    state: str
    process: Process = field(init=False)
    server: Server = field(init=False)
    rollback: Rollback | None = None
    ready: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    starts: int = 0
    swaps: int = 0
    swapped_s: float = 0.0
    listed: Mapping[str, Pair] = field(default_factory=dict)

    def system(self, process: Process) -> System:
        """Return the system of a process."""
        machine, seed = self.machine, self.machine.world.seed
        random = Random(f"{seed} {self.name} {self.starts}")
        return System(
            clock=machine.world.clock,
            threads=Workers(process),
            disk=SimulatedDisk(machine.medium, process, machine.faults, random),
            numbers=SeededNumbers(random),
        )

    def start(self) -> None:
        """Start a process. It knows its state folder only."""
        machine = self.machine
        self.starts += 1
        machine.world.counts["starts"] += 1
        machine.world.note("start", replica=self.name)
        machine.model.start(self.name, forgets=not self.state)
        self.process, self.ready = Process(machine.world), asyncio.Event()
        system, registry = self.system(self.process), Registry()
        self.rollback = None
        if self.state:
            folder = StateFolder.of(Path(self.state), Path(FOLDER), system)
            self.rollback = Rollback(folder, load_once)
        catalog = Catalog(Path(FOLDER), load_once, rollback=self.rollback, system=system)
        options = ServerOptions(system=system)
        self.server = build(registry, open_replica(machine.store, system, self.process), options)
        self.server.actions = machine.upstream
        self.task = asyncio.ensure_future(self._run(catalog, system))

    async def _run(self, catalog: Catalog, system: System) -> None:
        machine = self.machine
        loops = reloading(
            self.server,
            _SETTINGS,
            catalog,
            hints=Hints(),
            health=Health(clock=system.clock),
            stop=anyio.Event(),
            rollback=self.rollback,
            follow=partial(_follow, machine),
            system=system,
        )
        async with loops:
            machine.model.ready(self.name)
            self.ready.set()
            snapshot = self.server.registry.current
            while True:
                self._judge()
                snapshot = await self.server.registry.wait_for_newer(snapshot)
                machine.world.counts["swaps"] += 1

    def _judge(self) -> None:
        machine, snapshot = self.machine, self.server.registry.current
        pairs: Mapping[str, Pair] = {
            widget.definition.path: machine.pair_of(widget.key)
            for widget in snapshot.widgets.values()
            if widget.definition.path in machine.model.names
        }
        texts = {path: show(pair) for path, pair in sorted(pairs.items())}
        machine.world.note("serve", replica=self.name, pairs=texts)
        self.swaps += 1
        listed = {path: (file, sidecar or None) for path, (file, sidecar) in pairs.items()}
        if listed != self.listed:
            self.listed, self.swapped_s = listed, machine.world.clock.now_s
        machine.model.serve(self.name, snapshot.generation, pairs, rolled_back=self.is_rolled_back)

    @property
    def is_rolled_back(self) -> bool:
        """Return whether it serves an earlier generation."""
        return self.rollback is not None and self.rollback.active is not None

    async def stop(self, *, kill: bool = False) -> None:
        """End the process: as a signal does, or between two of its calls."""
        self.machine.world.note("kill" if kill else "stop", replica=self.name)
        self.machine.model.stop(self.name, killed=kill)
        self.ready.clear()
        if kill:
            self.process.kill()
        if self.task is not None:
            self.task.cancel()
            await asyncio.wait([self.task])
            self.check_end(self.task)
            self.task = None
        self.process.end()

    def check_end(self, task: asyncio.Task[None]) -> None:
        """Judge the end of a daemon."""
        with suppress(asyncio.CancelledError, ProcessEnd):
            try:
                task.result()
            except Exception as error:  # noqa: BLE001 - a daemon handles its own errors
                self.machine.model.violate("no daemon fails", self.name, repr(error))
            except BaseExceptionGroup as group:
                _, rest = group.split((asyncio.CancelledError, ProcessEnd))
                if rest is not None:
                    self.machine.model.violate("no daemon fails", self.name, repr(rest))


_SETTINGS = Settings()


async def _follow(
    machine: Machine, root: Path, hints: Hints, armed: Callable[[], None], _skipped: Skipped
) -> None:
    """Follow a folder as inotify does, with late, merged and lost events."""
    random, start = machine.random, f"{root}/"
    pending: list[Change] = []
    arrived = asyncio.Event()

    gone = False

    def take(event: Change) -> None:
        pending.append(event)
        arrived.set()

    def leave() -> None:
        nonlocal gone
        gone = True
        arrived.set()

    def notice(change: Change) -> None:
        if change.path == str(root):
            machine.world.loop.call_later(random.random(), leave)
        elif change.path.startswith(start) and random.random() >= machine.lost:
            delay_s = random.choice((0, 0.0003, 0.002, 0.01))
            machine.world.loop.call_later(delay_s, take, change)

    machine.medium.on_change.append(notice)
    try:
        armed()
        while True:
            await arrived.wait()
            if gone:
                return
            arrived.clear()
            last = {change.path.removeprefix(start): change for change in pending}
            hints.add(
                last,
                finished=[path for path, change in last.items() if change.finished],
                deleted=any(change.deleted for change in pending),
            )
            pending.clear()
            if random.random() < machine.lost / 20:
                raise OSError("the events ended")
    finally:
        machine.medium.on_change.remove(notice)
