"""A seed: a plan of operations in a world, and the verdict of the judge.

Each operation draws from a generator of its own. Without it, the others stay the same, so a history
shrinks.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from hashlib import blake2b
from math import inf
from pathlib import Path
from random import Random

from simulation.clients import SEATS, SEATS_FILE, SEATS_SIDECAR, Airline, Listener, Person
from simulation.disk import FaultPlan, Medium
from simulation.editors import (
    FOLDER,
    GAPS_S,
    NAMES,
    SAVES,
    SIDECAR,
    Editor,
    age_log,
    list_good_parts,
    sidecar_text,
    swap_mount,
    widget_text,
)
from simulation.model import STANDS_S, Model
from simulation.pairs import Pair
from simulation.replica import Machine, Replica
from simulation.sink import LogPipe
from simulation.store import StoreServer
from simulation.world import Process, StillError, World
from widgetd.base.logs import get_logger
from widgetd.core.widget.definition import join_digests
from widgetd.server.catalog.rollback import write_request
from widgetd.server.catalog.state import StateFolder
from widgetd.server.catalog.versions import Versions

BURST = 12
"""Operations between two quiet times."""

REST_S = 12.0

NIGHT_S = 300.0
"""The last quiet time: long enough for every grace to end."""

OPERATIONS = 36
TIMER_S = 10.0
CALM = 5
"""In every fifth seed nothing fails and no event is lost, so every delay is a defect."""

FAVOURITES = (
    (),
    (),
    ("fsync", "ftruncate"),
    ("write", "ftruncate"),
    ("mkdir", "listdir"),
    ("pread", "unlink", "rename"),
)


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The outcome of a seed."""

    seed: int
    digest: str
    days: float
    first: str
    operations: int
    violations: Counter[str]
    counts: Counter[str]
    failed: Counter[tuple[str, str, str]]
    seen: frozenset[tuple[str, str, str]]


class Simulation:
    """The world of a seed.

    Args:
        seed: Decides everything.
        dropped: Numbers of omitted operations.
        on_note: Prints the history.
    """

    def __init__(
        self,
        seed: int,
        *,
        operations: int = OPERATIONS,
        dropped: Collection[int] = (),
        on_note: Callable[[str], None] | None = None,
    ) -> None:
        profile = Random(f"{seed} profile")
        self.seed, self.operations, self.dropped = seed, operations, dropped
        self.world = world = World(seed, on_note)
        self.medium = Medium(world)
        if profile.random() < 0.25:
            self.medium.tick_ns = 2_000_000_000
        self.model = Model(lambda: world.clock.now_s, NAMES)
        self.model.on_violation = lambda text: world.note("VIOLATION", law=text)
        self.fault_rate = profile.choice((0, 0, 0.01, 0.03))
        self.fault_area = profile.choice(("/", "/state", FOLDER))
        favourites = profile.choice(FAVOURITES)
        self.is_slow = profile.random() < 0.1
        self._keys: dict[str, Pair] = {}
        self._contents: dict[bytes | None, str] = {None: ""}
        self.machine = Machine(
            world=world,
            medium=self.medium,
            model=self.model,
            faults=FaultPlan(area=self.fault_area, favourites=favourites),
            store=StoreServer(world, Random(f"{seed} store")),
            upstream=Airline(world, self.model, Random(f"{seed} air"), profile.random() < 0.5),
            random=Random(f"{seed} events"),
            pair_of=self._find_pair,
            lost=profile.choice((0, 0.05, 0.3)),
        )
        states = profile.choice((("", ""), ("/state/a", "/state/b"), ("/state/a", "/state/a")))
        self.replicas = [
            Replica(self.machine, f"r{number}", states[number])
            for number in range(profile.choice((1, 1, 2)))
        ]
        if self.machine.lost:
            self.model.stands_s = 14.0
        eras = profile.choice(((), (), (), ("legacy", "modern")))
        self.listeners = [
            Listener(world, self.model, profile.choice(self.replicas), era) for era in eras
        ]
        self.kinds = ["save"] * 8
        if profile.random() < 0.5:
            self.kinds += ["press"] * 4
        if states[0]:
            self.kinds += profile.choice(([], ["restart", "kill", "power", "upgrade", "rollback"]))
        self.kinds += profile.choice(([], ["mount", "vanish"], ["remount", "unlist"]))
        if seed % CALM == 0:
            self.fault_rate, self.is_slow = 0, False
            self.machine.lost, self.model.stands_s = 0, STANDS_S
            self.kinds = ["checkout"] * 3 + ["mount", "remake"]
        self._lifecycle = asyncio.Lock()
        self._saving: dict[str, asyncio.Lock] = {name: asyncio.Lock() for name in NAMES}

    def _find_pair(self, key: str) -> Pair:
        """Return the pair of a widget's key, even of mixed halves."""
        if key not in self._keys:
            for file, digest in list(self._contents.items()):
                for sidecar, beside in list(self._contents.items()):
                    if join_digests(digest, beside) == key:
                        return file, sidecar
        return self._keys.get(key, (b"unknown", None))

    def _record(self, *_change: object) -> None:
        self._note_rollbacks()
        for name in NAMES:
            file = self.medium.read(f"{FOLDER}/{name}")
            pair = file, self.medium.read(f"{FOLDER}/{name}{SIDECAR}")
            for part in pair:
                if part not in self._contents:
                    self._contents[part] = blake2b(part or b"", digest_size=16).hexdigest()
            key = join_digests(*(self._contents[part] for part in pair))
            self._keys[key] = pair
            self.model.record(name, pair)

    def _note_rollbacks(self) -> None:
        # A rollback may begin without a swap.
        for replica in self.replicas:
            self.model.replicas[replica.name].is_rolled_back = replica.is_rolled_back

    def run(self) -> Outcome:
        """Run the world, and judge it."""
        log = get_logger()
        destination = log.destination
        log.write_to(LogPipe(self.world, Random(f"{self.seed} log")))
        try:
            self.world.run(self._main)
        except StillError as error:
            self.model.violate("the world goes on", str(error))
        finally:
            log.write_to(destination)
        faults, store = self.machine.faults, self.machine.store
        return Outcome(
            seed=self.seed,
            digest=self.world.digest,
            days=self.world.clock.now_s / 86_400,
            first=self.model.first,
            operations=self.operations,
            violations=self.model.violations,
            counts=self.world.counts,
            failed=faults.failed + store.failed,
            seen=frozenset(faults.seen | store.seen),
        )

    def _furnish(self) -> None:
        medium, good = self.medium, self.model.good
        for path in (f"{FOLDER}/sub", "/state"):
            medium.make_folders(path)
        for number, name in enumerate(NAMES[:-1]):
            text, beside = widget_text(name, number), sidecar_text(number)
            good |= {text, *list_good_parts(beside)}
            medium.write(f"{FOLDER}/{name}", text)
            medium.write(f"{FOLDER}/{name}{SIDECAR}", beside)
        for _ in swap_mount(medium, 0, good):
            pass
        medium.write(f"{FOLDER}/{SEATS}", SEATS_FILE)
        medium.write(f"{FOLDER}/{SEATS}{SIDECAR}", SEATS_SIDECAR)
        medium.sync()
        self.world.clock.advance(3)
        self._record()
        medium.on_change.append(self._record)

    async def _main(self) -> None:
        self._furnish()
        for replica in self.replicas:
            replica.start()
        for listener in self.listeners:
            listener.start()
        watching = asyncio.ensure_future(self._watch())
        done = 0
        while done < self.operations:
            self._begin_faults()
            tasks = []
            for number in range(done, min(done + BURST, self.operations)):
                if number not in self.dropped:
                    random = Random(f"{self.seed} {number}")
                    tasks.append(asyncio.ensure_future(self._operate(number, random)))
                    await asyncio.sleep(random.choice(GAPS_S))
            done += BURST
            if tasks:
                await asyncio.wait(tasks)
            for task in tasks:
                task.result()
            self._end_faults()
            await self._rest(REST_S)
        await self._rest(NIGHT_S)
        watching.cancel()
        for listener in self.listeners:
            await listener.stop()
        for replica in self.replicas:
            await replica.stop()

    def _begin_faults(self) -> None:
        self.machine.faults.rate = self.fault_rate
        if self.fault_rate or self.is_slow:
            self.model.doubt_s = inf
        if self.is_slow:
            self.world.slow = (0, 0.001, 0.2, 1.5)

    def _end_faults(self) -> None:
        self.machine.faults.rate = 0.0
        self.world.slow = (0, 0.00001, 0.0001, 0.001, 0.006)
        if self.fault_rate or self.is_slow:
            # The next timer, at the latest, reads unreadable files again.
            self.model.doubt_s = self.world.clock.now_s + TIMER_S

    async def _watch(self) -> None:
        """Judge delays every second."""
        while True:
            await asyncio.sleep(1)
            self._note_rollbacks()
            self.model.judge_standing()
            for listener in self.listeners:
                if listener.replica.ready.is_set() and listener.tools is not None:
                    swapped_s = listener.replica.swapped_s
                    self.model.owe(listener.era, swapped_s, listener.listed_s)

    async def _rest(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        self.world.note("rest")
        self._note_rollbacks()
        for replica in self.replicas:
            if replica.ready.is_set():
                self.model.rest(replica.name)
            if replica.task is not None and replica.task.done():
                replica.check_end(replica.task)
        for listener in self.listeners:
            if listener.replica.ready.is_set() and listener.tools is not None:
                self.model.hear(listener.era, listener.tools, await listener.look())
        self.model.stall(self.world.stall_s)

    # Operations.

    async def _operate(self, number: int, random: Random) -> None:
        kind = random.choice(self.kinds)
        self.world.counts[f"operation {kind}"] += 1
        match kind:
            case "save":
                await self._save(number, random)
            case "remake":
                await self._save(number, random, "remake_slowly")
            case "checkout":
                async with asyncio.TaskGroup() as tasks:
                    for at in NAMES[:-1]:
                        tasks.create_task(self._save(number, random, "save_file", at))
                        await asyncio.sleep(random.choice(GAPS_S[:6]))
                await asyncio.sleep(5)
            case "mount":
                name = NAMES[-1]
                async with self._saving[name]:
                    steps = swap_mount(self.medium, number + 1, self.model.good)
                    await self._write(number, name, steps)
            case "press":
                await self._press(number, random)
            case "rollback":
                await self._roll_back(random)
            case _:
                async with self._lifecycle:
                    await self._end(kind, random)

    async def _end(self, kind: str, random: Random) -> None:
        """End processes, clients or the folder. These operations exclude each other."""
        match kind:
            case "restart" | "kill":
                replica = random.choice(self.replicas)
                await replica.stop(kill=kind == "kill")
                await asyncio.sleep(random.choice(GAPS_S))
                replica.start()
            case "upgrade":
                await self._upgrade()
            case "power":
                await self._cut_power(random)
            case "remount" | "unlist":
                await self._lose_folder(kind, random)
            case "vanish":
                for listener in self.listeners:
                    await listener.stop()
                    listener.start()

    async def _save(self, number: int, random: Random, way: str = "", name: str = "") -> None:
        name, way = name or random.choice(NAMES[:-1]), way or random.choice(SAVES)
        editor = Editor(self.medium, random, name, number + 1, self.model.good)
        async with self._saving[name]:
            await self._write(number, f"{way} {name}", getattr(editor, way)())

    async def _write(self, number: int, what: str, steps: Iterator[float]) -> None:
        self.world.note("save", number=number, what=what)
        for pause_s in steps:
            self.world.counts["writes"] += 1
            await asyncio.sleep(pause_s)

    async def _lose_folder(self, kind: str, random: Random) -> None:
        """Mount an empty file system on the folder, or take the right to open it, for a while."""
        async with AsyncExitStack() as stack:
            for lock in self._saving.values():
                await stack.enter_async_context(lock)
            await asyncio.sleep(2)
            self.world.note(kind)
            seconds = random.choice((0.5, 5, 40, 75))
            if kind == "unlist":
                excused_s = self.model.doubt_s  # endless while calls fail or are slow
                self.medium.closed, self.model.doubt_s = FOLDER, inf
                await asyncio.sleep(seconds)
                self.medium.closed = ""
                self.model.doubt_s = max(excused_s, self.world.clock.now_s)
                return
            self.model.mount(is_over=True)
            hidden = self.medium.mount_over(FOLDER, {})
            await asyncio.sleep(seconds)
            self.medium.mount_over(FOLDER, hidden)
            self.model.mount(is_over=False)

    async def _press(self, number: int, random: Random) -> None:
        self.world.note("press", number=number)
        if random.random() < 0.7:
            self.machine.store.fail_soon(random)
        await Person(self.world, self.model, random, self.replicas, number).press()

    async def _upgrade(self) -> None:
        """Start on the state folders of an earlier release."""
        for replica in self.replicas:
            await replica.stop()
        for state in {replica.state for replica in self.replicas}:
            folders = self.medium.find(state).entries if self.medium.holds(state) else {}
            for log in [f"{state}/{name}/versions.jsonl" for name in folders]:
                if content := self.medium.read(log):
                    self.medium.write(log, age_log(content))
        self.medium.sync()
        for replica in self.replicas:
            replica.start()

    async def _cut_power(self, random: Random) -> None:
        self.world.note("power")
        for replica in self.replicas:
            await replica.stop(kill=True)
        self.medium.cut_power(random, spares=random.choice((FOLDER, "/nothing")))
        self._record()
        await asyncio.sleep(random.choice(GAPS_S))
        for replica in self.replicas:
            replica.start()

    async def _roll_back(self, random: Random) -> None:
        replica, process = random.choice(self.replicas), Process(self.world)
        system = replica.system(process)

        def ask() -> None:
            state = StateFolder.of(Path(replica.state), Path(FOLDER), system)
            if latest := Versions(state).latest():
                target = random.choice(latest).generation
                self.world.note("rollback", replica=replica.name, generation=target)
                write_request(state, target)

        await system.threads.run_blocking(ask)


def simulate(seed: int, **options: object) -> Outcome:
    """Run a seed."""
    return Simulation(seed, **options).run()  # type: ignore[arg-type]
