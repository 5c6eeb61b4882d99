"""Costs of the worst callers and files: `python -m benchmarks.limits` prints them.

Of what all callers share, the first table prints the part that one caller can take.

Every attack of the tests is made a few times; of each its quickest run counts, and of each
kind the costliest attack is printed. Processor time, because a busy machine takes nobody
else's, and what Python allocates at most. Attacks on libraries outside Python run in a fork,
whose resident memory is measured.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from hypothesis import Phase, given, seed, settings

from tests.system.server.mcp.test_access import call
from tests.system.server.mcp.test_shares import BOB
from tests.system.upstreams.hostile import MISBEHAVIORS, Misbehavior, Way, hostile
from tests.system.upstreams.servers import raw, toml, upstreams_of, wait_until_settled
from tests.system.wings.test_waits import CONNECTIONS, WAITING, served_to_two, waiting
from tests.unit import hostile_texts
from tests.unit.base.test_processes import try_to_hold
from tests.unit.core.schema import test_schema_safety as of_schemas
from tests.unit.core.template import jsx_attacks, matrix
from tests.unit.core.template import test_prices as of_prices
from tests.unit.core.template import test_safety as of_templates
from tests.unit.core.widget import test_jmespath as of_expressions
from tests.unit.upstreams.feed_attacks import ATTACKS, FeedAttack
from widgetd.base.errors import CallError, WidgetError
from widgetd.base.limits import Limits
from widgetd.base.processes import LIMITS, ProcessGate
from widgetd.core.schema.validator import Schema, compile_schema
from widgetd.core.template import compile_template
from widgetd.core.template.jsx import View
from widgetd.core.widget.query import compile_query

ATTACK_MS, ATTACK_MB, UNION_MS, QUERY_MS = 250, 64, 50, 50
INPUT_MS = 500
RUNS = 5
RANDOM = 2_000

# Nothing can fill much memory in less, and to trace what is allocated takes many times as long.
QUICK_MS = 2

# Near a bar, a collection of garbage may decide.
LONG_MS = 25
DEEP = 60

FILL = """
held = []
try:
    while True:
        held.append(b"x" * 2**20)
except MemoryError:
    print(len(held), end="")
"""
"""Takes all memory that it can, and prints the megabytes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """The cost of one attack."""

    ms: float
    mb: float


def cost(attack: Callable[[], object]) -> Cost:
    """Return the time of a run, the quickest of five if it is long, and the memory of another."""
    ms = _time(attack)
    if ms < QUICK_MS:
        return Cost(ms=ms, mb=0)
    if ms > LONG_MS:
        ms = min(ms, *(_time(attack) for _ in range(RUNS - 1)))
    tracemalloc.start()
    _refuse(attack)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return Cost(ms=ms, mb=peak / 2**20)


def _time(attack: Callable[[], object]) -> float:
    before = time.process_time()
    _refuse(attack)
    return (time.process_time() - before) * 1000


def _refuse(attack: Callable[[], object]) -> None:
    try:
        attack()
    except (WidgetError, CallError):
        return


def cost_in_fork(attack: Callable[[], object], warm_up: Callable[[], object]) -> Cost:
    """Return the processor time of the quicker of two runs, and the most that memory grew.

    Args:
        attack: Runs in a fork, after `warm_up`.
        warm_up: Imports and allocates what any input would.
    """
    costs = [_run_forked(attack, warm_up) for _ in range(2)]
    return Cost(ms=min(one.ms for one in costs), mb=max(one.mb for one in costs))


def _run_forked(attack: Callable[[], object], warm_up: Callable[[], object]) -> Cost:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        warm_up()
        before_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        ms = _time(attack)
        grown_kb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before_kb
        os.write(writer, json.dumps([ms, grown_kb / 1024]).encode())
        os._exit(0)
    os.close(writer)
    with open(reader, "rb") as file:  # noqa: PTH123 - a pipe
        ms, mb = json.loads(file.read())
    os.waitpid(child, 0)
    return Cost(ms=ms, mb=mb)


def text_costs(kind: str) -> Iterator[Cost]:
    """Read the hostile texts whose name has this prefix."""

    def warm_up() -> None:
        hostile_texts.attribute("a")
        hostile_texts.read_message("a")

    for name, read in hostile_texts.hostile_cases():
        if name.startswith(kind):
            yield cost_in_fork(read, warm_up)


def upstream_costs(way: Way, *, compressed: bool = False) -> Iterator[Cost]:
    """Connect to each hostile upstream and call its first tool; each runs in its own process."""
    with declared("a harmless one", way) as harmless:
        warm_up = partial(anyio.run, _call_first_tool, harmless)
        for name, misbehavior in MISBEHAVIORS.items():
            if way in misbehavior.ways and (misbehavior.encode is not None) == compressed:
                with declared(name, way) as table:
                    yield cost_in_fork(partial(anyio.run, _call_first_tool, table), warm_up)


def feed_costs() -> Iterator[Cost]:
    """Read and map hostile answers; in a fork, for orjson reserves memory that it never touches."""
    for attack in ATTACKS.values():
        yield cost_in_fork(
            attack.prepare(), FeedAttack(mapping={"any": "f0"}, results=list).prepare
        )


@contextmanager
def declared(name: str, way: Way) -> Iterator[str]:
    """Yield a table that declares a hostile upstream, which another process serves meanwhile."""
    if way == "program":
        words = ["-m", "tests.system.upstreams.hostile", name]
        yield toml("it", command=sys.executable, args=words, connect_s=50.0, call_s=2.0)
        return
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        anyio.run(_serve, MISBEHAVIORS.get(name, Misbehavior()), way, writer)
    try:
        port = int(os.read(reader, 16))
        url = f"http://127.0.0.1:{port}/{'sse' if way == 'sse' else 'mcp'}"
        yield toml("it", url=url, connect_s=50.0, call_s=2.0)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(reader)
        os.close(writer)


async def _serve(misbehavior: Misbehavior, way: Way, writer: int) -> None:
    async with raw(hostile(misbehavior, way)) as port:
        os.write(writer, str(port).encode())
        await anyio.sleep_forever()


async def _call_first_tool(table: str) -> None:
    with TemporaryDirectory() as folder:
        async with upstreams_of(Path(folder) / "u.toml", table) as all_of_them:
            upstream = all_of_them["it"]
            await wait_until_settled(upstream)
            for name in list(upstream.tools)[:1]:
                try:
                    await upstream.call(name, {"q": "aaaa"})
                except CallError:
                    continue


def templates(sources: list[str]) -> Iterator[Callable[[], object]]:
    """Load each of `sources`, and render it."""
    for source in sources:
        yield partial(_render, source)


def _render(source: str) -> str:
    return compile_template(source, limits=Limits()).render({"x": "text", "y": {}})


def builtins() -> Iterator[Callable[[], object]]:
    """Ask every builtin a thousand times for the worst in each of its places, and in all."""
    for _, source in matrix.cases(1_000):
        yield partial(matrix.renders, source)


def random_templates() -> Iterator[Callable[[], object]]:
    """Render random templates that share, change and nest their values."""
    sources: list[str] = []

    @seed(1)
    @settings(max_examples=RANDOM, database=None, deadline=None, phases=[Phase.generate])
    @given(of_prices.STATEMENTS)
    def draw(source: str) -> None:
        sources.append(of_prices.START + source)

    draw()
    for source in sources:
        yield partial(matrix.renders, source, of_prices.ARGUMENTS)


def schemas() -> Iterator[Callable[[], object]]:
    """Load circular schemas, billion laughs, and patterns that cannot be matched."""
    written: list[Any] = [schema for schema, _ in of_schemas.CIRCLES]
    written += [of_schemas.laughs(10, 9), of_schemas.laughs(2, 500), of_schemas.laughs(10, 3)]
    written += [{"properties": {"x": {"pattern": bomb}}} for bomb in of_schemas.BOMBS]
    for schema in written:
        yield partial(compile_schema, schema)


def views(texts: list[str]) -> Iterator[Callable[[], object]]:
    """Compile each of `texts` as a widget's JSX, and render it."""
    for text in texts:
        yield partial(_draw, text)


def cost_of_view(text: str) -> Cost:
    """Return the cost of `text` as a widget's JSX, including memory outside Python."""
    return cost_in_fork(partial(_draw, text), partial(_draw, "<Card/>"))


def _draw(text: str) -> str:
    return View(text, Limits()).render(jsx_attacks.ARGUMENTS)


def much_data() -> Iterator[Callable[[], object]]:
    """Explain the faults of 50,000 values."""
    for keywords, value in of_schemas.LARGE.values():
        schema = compile_schema({"properties": {"x": keywords}})
        yield partial(schema.check, {"x": value})


def expressions() -> Iterator[Callable[[], object]]:
    """Make expressions ready that double, nest or never end, and evaluate those that can be."""
    for text, value in of_expressions.GREEDY.values():
        yield partial(_find, text, value)
    for text in (*of_expressions.UNUSABLE, "[@,@]|" * 170_000, "a." * 2_000, "[*]" * 1_300):
        yield partial(compile_query, text)


def _find(text: str, value: Any) -> object:
    return compile_query(text).find(value)


def unions() -> Iterator[Callable[[], object]]:
    """Decide and explain deep values of recursive unions with up to 600 alternatives."""
    for count in (2, 20, 60, 150, 300, 600):
        for keyword in ("anyOf", "oneOf"):
            for schema, value in _union(keyword, count):
                yield partial(schema.check, {"x": value})


def _union(keyword: str, count: int) -> Iterator[tuple[Schema, Any]]:
    node = of_schemas.NODE
    needy = [{"properties": {"c": node}, "required": ["c", f"r{n}"]} for n in range(count)]
    marked = [
        {"properties": {"k": {"const": n}, "c": node}, "required": ["k"]} for n in range(count)
    ]
    value: Any = 5
    for level in range(DEEP):
        value = {"k": level % count, "c": value}
    for parts in (needy, marked):
        branches = [{"type": "object", **part} for part in parts]
        root = {"properties": {"x": node}, "$defs": {"node": {keyword: branches}}}
        yield compile_schema(root), value


async def count_held(kind: str) -> int:
    """Ask for all connections of a daemon by one token, and return how many wait."""
    with TemporaryDirectory() as at:
        async with (
            served_to_two(Path(at)) as (url, render),
            waiting(url, WAITING[kind](render)) as refused,
        ):
            assert not (await call(url, BOB, "open", who="Bob")).get("isError")
            return CONNECTIONS - refused()


def child_of_the_parser(program: str) -> str:
    """Run a program within the kernel's limits of the parser, and return what it prints."""
    limited = "from widgetd.base.processes import LIMITS, limit_resources\n"
    limited += f"limit_resources(LIMITS['parser'])\n{program}"
    command = [sys.executable, "-c", limited]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False).stdout


def print_callers() -> None:
    """Print what one caller can take of what all callers share."""
    print("| one caller takes | asked | got | bar |")
    print("|---|---|---|---|")
    for kind, limits in LIMITS.items():
        gate, asked = ProcessGate(), limits.most * 4
        with ExitStack() as held:
            got = sum(try_to_hold(held, gate, kind, "ann") for _ in range(asked))
        print(f"| processes ({kind}) | {asked} | {got} | {limits.share or limits.most} |")
    for waits in WAITING:
        held_by_one = anyio.run(count_held, waits)
        print(f"| connections ({waits}) | {CONNECTIONS} | {held_by_one} | {CONNECTIONS // 2} |")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    child_of_the_parser("while True: pass")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"| processor seconds (parser) | ∞ | {cpu_s:.1f} | {LIMITS['parser'].cpu_s + 1} |")
    mb = child_of_the_parser(FILL)
    print(f"| megabytes (parser) | ∞ | {mb} | {LIMITS['parser'].memory_bytes >> 20} |", flush=True)


def main() -> None:
    """Print the tables."""
    print_callers()
    print()
    never = ["{% if false %}" + bomb + "{% endif %}" for bomb in of_templates.BOMBS]
    print("| | number | worst, ms | bar | worst, MB | bar |")
    print("|---|---|---|---|---|---|")
    for what, costs in (
        ("texts that become numbers", text_costs("number")),
        ("attributes of spaces", text_costs("attribute")),
        ("JSX that the lexer rereads", map(cost_of_view, jsx_attacks.REREAD)),
        ("upstreams' lists, schemas and answers", upstream_costs("json")),
        ("the same in events", upstream_costs("events")),
        ("the same from a program", upstream_costs("program")),
        ("answers that feeds read and map", feed_costs()),
        ("targets of a session", text_costs("target")),
        ("upstreams that compress", upstream_costs("json", compressed=True)),
        ("trees of an edited template", text_costs("tree")),
        ("messages to the scripted model", text_costs("message")),
    ):
        report(what, list(costs), INPUT_MS)
    for what, attacks, most_ms in (
        ("escapes from templates", templates(of_templates.ESCAPES), ATTACK_MS),
        ("bombs in templates", templates(of_templates.BOMBS), ATTACK_MS),
        ("the same, never reached", templates(never), ATTACK_MS),
        ("every builtin, the worst in every place", builtins(), ATTACK_MS),
        ("random templates", random_templates(), ATTACK_MS),
        ("JSX that nests deeply", views(jsx_attacks.DEEP), ATTACK_MS),
        ("JSX of thousands of parts", views(jsx_attacks.WIDE), ATTACK_MS),
        ("JSX that is none, and is never closed", views(jsx_attacks.STRAY), ATTACK_MS),
        ("JSX that makes too much", views(jsx_attacks.COSTLY), ATTACK_MS),
        ("schemas that go round, laugh or explode", schemas(), ATTACK_MS),
        ("JMESPath that doubles, or never ends", expressions(), QUERY_MS),
        ("much data, explained", much_data(), ATTACK_MS),
        ("deep recursive unions, decided and explained", unions(), UNION_MS),
    ):
        report(what, [cost(attack) for attack in attacks], most_ms)


def report(what: str, costs: list[Cost], most_ms: int) -> None:
    """Print one row of the table."""
    ms, mb = max(one.ms for one in costs), max(one.mb for one in costs)
    print(f"| {what} | {len(costs)} | {ms:.0f} | {most_ms} | {mb:.0f} | {ATTACK_MB} |", flush=True)


if __name__ == "__main__":
    main()
