"""The judge: compares served, announced and done with the history of the disk and the presses.

It imports nothing of the product, so no defect of the product excuses itself.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from itertools import product
from math import inf

from simulation.pairs import Pair, show

GRACE_S = 0.25  # a file must be missing for so long to count as deleted
MOUNT_GRACE_S = 60.0  # the same of an empty mount
SLOW_SCAN_S = 60.0  # what a scan saw may be so old, if calls are slow or fail
STANDS_S = 3.0  # a good pair must be served after so long, if no event is lost
EMPTY_S = 0.95  # an empty half must be found twice, so far apart
NOTICE_S = 0.35  # clients must have listed so soon after a change
SWAP_GAP_S = 0.015  # saves so close together are one change for clients
LAST_GOOD = "the last good version is served"
LIVE_S = 1.0  # the event loop may stand still for so long


@dataclass
class Served:
    """The served pairs of a replica.

    Attributes:
        place: Index of the pair in the history of the disk, by path.
        up: Spans of its remembered processes, from the first answer to the end.
        up_since_s: Start of its answers, or None.
        shows_rollback: Whether the served pairs are of an earlier generation.
    """

    pairs: dict[str, Pair] = field(default_factory=dict)
    place: dict[str, int] = field(default_factory=dict)
    up: list[tuple[float, float]] = field(default_factory=list)
    up_since_s: float | None = None
    swapped_s: float = -inf
    is_rolled_back: bool = False
    shows_rollback: bool = False


@dataclass(eq=False)
class Model:
    """The history of each pair, and the laws over it.

    Attributes:
        good: Whole and valid contents.
        doubt_s: End of the time in which faults excuse delays.
        mounted_s: Time of the current empty mount on the folder.
        clings_s: End of the time in which vanished files may be served.
    """

    now: Callable[[], float]
    names: tuple[str, ...]
    good: set[bytes] = field(default_factory=set)
    doubt_s: float = 0.0
    stands_s: float = STANDS_S
    mounted_s: float = -inf
    clings_s: float = 0.0
    violations: Counter[str] = field(default_factory=Counter)
    first: str = ""
    on_violation: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.history: dict[str, list[tuple[float, Pair]]] = defaultdict(list)
        self.replicas: dict[str, Served] = defaultdict(Served)
        self._meaning: dict[str, dict[str, Pair]] = {}
        self._agreed: dict[str, tuple[object, str]] = {}
        self._calls: dict[str, list[tuple[object, str]]] = defaultdict(list)

    def violate(self, law: str, subject: str, detail: object = "") -> None:
        self.violations[law] += 1
        text = f"{law}: {subject} at {self.now():.4f} s {detail}"
        self.first = self.first or text
        self.on_violation(text)

    def record(self, name: str, pair: Pair) -> None:
        history = self.history[name]
        if not history or history[-1][1] != pair:
            if history:
                self.judge_standing(name)
            history.append((self.now(), pair))

    def judge_standing(self, *names: str) -> None:
        for name, (replica, served) in product(names or self.names, self.replicas.items()):
            began_s, pair = self.history[name][-1]
            if served.up_since_s is None or served.is_rolled_back or not self.is_good(pair):
                continue
            since_s = max(began_s, served.up_since_s, self.doubt_s)
            if self.now() - since_s > self.stands_s and served.pairs.get(name) != pair:
                self.violate("a good pair that stood is served", f"{replica} {name}", show(pair))

    def is_good(self, pair: Pair) -> bool:
        return pair[0] in self.good and (not pair[1] or pair[1] in self.good)

    def _ends(self, name: str, place: int) -> float:
        history = self.history[name]
        return history[place + 1][0] if place + 1 < len(history) else self.now()

    def _was_absent_s(self, name: str, since_s: float, until_s: float) -> float:
        # A scan may miss the time between two absences.
        states = enumerate(self.history[name])
        absent = [(at_s, self._ends(name, at)) for at, (at_s, (file, _)) in states if file is None]
        spans = [span for span in absent if span[0] < until_s and span[1] >= since_s]
        return min(spans[-1][1], until_s) - spans[0][0] if spans else 0.0

    def mount(self, *, is_over: bool) -> None:
        self.mounted_s = self.now() if is_over else -inf
        self.clings_s = self.now() + MOUNT_GRACE_S + self.stands_s

    def start(self, replica: str, *, forgets: bool) -> None:
        """Note a start. Without a state folder, a replica `forgets` its earlier processes."""
        served = self.replicas[replica]
        self.replicas[replica] = Served() if forgets else Served(place=served.place, up=served.up)

    def ready(self, replica: str) -> None:
        self.replicas[replica].up_since_s = self.now()

    def stop(self, replica: str, *, killed: bool) -> None:
        """Note an end. A killed replica may lose its latest pairs."""
        served = self.replicas[replica]
        if served.up_since_s is not None:
            served.up.append((served.up_since_s, self.now()))
            served.up_since_s = None
        # A state folder has every older pair, unless its disk failed just now.
        saved_s = self.now() - 2 * self.stands_s
        until_s = -inf if saved_s < self.doubt_s else saved_s if killed else inf
        kept = {at: row for at, row in served.place.items() if self.history[at][row][0] < until_s}
        served.place = kept

    def serve(
        self, replica: str, generation: str, pairs: Mapping[str, Pair], *, rolled_back: bool = False
    ) -> None:
        served = self.replicas[replica]
        if self._meaning.setdefault(generation, dict(pairs)) != pairs:
            self.violate("a generation has one content", generation)
        before, served.pairs = served.pairs, dict(pairs)
        if before and self.now() - served.swapped_s < SWAP_GAP_S:
            self.violate("swaps leave time for notices", generation)
        served.swapped_s = self.now() if before else -inf
        was_rolled_back = served.shows_rollback or served.is_rolled_back
        served.shows_rollback = served.is_rolled_back = rolled_back
        for name in self.names:
            pair = pairs.get(name)
            if pair is not None and pair != before.get(name):
                self._judge_pair(served, name, pair, backwards=rolled_back or was_rolled_back)
            elif pair is None and name in before and not (rolled_back or was_rolled_back):
                self._judge_absence(served, name)

    def _judge_pair(self, served: Served, name: str, pair: Pair, *, backwards: bool) -> None:
        places = [place for place, (_, state) in enumerate(self.history[name]) if state == pair]
        if not places:
            self.violate("a served pair was on the disk", name, show(pair))
            return
        if not self.is_good(pair):
            self.violate("a served pair is good", name, show(pair))
        if b"" in pair and not any(self._was_empty_long(name, place) for place in places):
            self.violate("an empty half is believed after a second", name, show(pair))
        later = [place for place in places if place >= served.place.get(name, 0)]
        if not later and not backwards:
            self.violate("no pair goes back", name, show(pair))
        if not backwards:
            served.place[name] = later[0] if later else places[-1]

    def _was_empty_long(self, name: str, place: int) -> bool:
        history, until_s = self.history[name], self._ends(name, place) - EMPTY_S
        since_s = until_s - EMPTY_S
        return any(
            b"" in history[before][1] and history[before][0] <= until_s
            for before in range(place + 1)
            if self._ends(name, before) >= since_s
        )

    def _judge_absence(self, served: Served, name: str) -> None:
        seen_s = SLOW_SCAN_S if self.now() < self.doubt_s else STANDS_S
        is_hidden = self.now() - self.mounted_s < MOUNT_GRACE_S
        until_s = self.mounted_s if is_hidden else self.now()
        absent_s = self._was_absent_s(name, until_s - seen_s, until_s)
        if absent_s < GRACE_S:
            law = "the grace of a deletion" if absent_s else LAST_GOOD
            self.violate("an empty mount deletes nothing for a minute" if is_hidden else law, name)
        served.place.pop(name, None)

    def rest(self, replica: str) -> None:
        served = self.replicas[replica]
        if served.is_rolled_back:
            return
        for name in self.names:
            state, pair = self.history[name][-1][1], served.pairs.get(name)
            if state[0] is None:
                if pair is not None and self.now() > self.clings_s:
                    self.violate("at rest, a deleted file is gone", name, show(pair))
            elif self.is_good(state):
                if pair != state:
                    self.violate("at rest, the disk is served", name, (show(pair), show(state)))
            else:
                self._judge_last_good(served, name, pair)

    def _judge_last_good(self, served: Served, name: str, pair: Pair | None) -> None:
        history = self.history[name]
        for place in range(len(history) - 2, -1, -1):
            since_s, state = history[place]
            if state[0] is None and self._ends(name, place) - since_s >= GRACE_S:
                return
            if self.is_good(state) and self._stood(served, since_s, self._ends(name, place)):
                if pair not in [later for _, later in history[place:]]:
                    self.violate(LAST_GOOD, name, (show(pair), show(state)))
                return

    def _stood(self, served: Served, since_s: float, until_s: float) -> bool:
        up = served.up + ([] if served.up_since_s is None else [(served.up_since_s, self.now())])
        since_s = max(since_s, self.doubt_s) + self.stands_s
        return any(min(until_s, end) > max(since_s, start + self.stands_s) for start, end in up)

    def hear(self, client: str, listed: Collection[str], served: Collection[str]) -> None:
        """Judge a client's list at rest. It lists again after each notice only."""
        if set(listed) != set(served):
            self.violate("each change is announced", client, sorted({*listed} ^ {*served}))

    def owe(self, client: str, swapped_s: float, listed_s: float) -> None:
        if self.now() - swapped_s > NOTICE_S and listed_s < swapped_s:
            self.violate("a change is announced in time", client)

    def count(self, client: str, notices: int, swaps: int) -> None:
        """Judge the number of notices. The client may have listed the first snapshot already."""
        if notices > swaps + 1:
            self.violate("no notice without a change", client, (notices, swaps))

    def agree(self, seat: str, arguments: object, principal: str) -> None:
        self._agreed[seat] = arguments, principal

    def call(self, seat: str, arguments: object, principal: str) -> None:
        self._calls[seat].append((arguments, principal))
        if len(self._calls[seat]) > 1:
            self.violate("a press is done at most once", seat)
        if self._agreed.get(seat) != (arguments, principal):
            self.violate("a press is done as agreed", seat, (arguments, self._agreed.get(seat)))

    def answer(self, seat: str, status: str) -> None:
        if status in ("done", "failed") and (status == "done") != bool(self._calls[seat]):
            self.violate("done means done, and failed means not done", seat, status)

    def stall(self, seconds: float) -> None:
        if seconds > LIVE_S:
            self.violate("a probe is answered in a second", "/livez", f"{seconds:.1f} s")
