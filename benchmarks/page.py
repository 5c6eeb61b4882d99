"""Trees that the page's evaluator makes, against the server's; beginnings of arguments; sizes.

    python -m benchmarks.page
    SCALE=100 python -m benchmarks.page     draw every beginning of the calls of all widgets

Each bundled and corpus widget is drawn from its samples and examples, the mock seeds 1 to 20, the
eleven generated states, and slips of models that the server reads in another way.
"""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from statistics import median, quantiles
from types import MappingProxyType
from typing import Any, Final

import orjson

from benchmarks.folders import bundled
from tests.support.corpus import corpus_files
from widgetd import CallError, Widget, WidgetError, load_widget
from widgetd.core.studio.compare import differ
from widgetd.core.widget.page_program import NoProgramError, page_program
from widgetd.core.widget.samples import (
    GENERATED,
    generate_samples,
    list_examples,
    list_studio_samples,
)

VIEW: Final = Path(__file__).resolve().parents[1] / "view"
SEEDS: Final = range(1, 21)

SCALE: Final = float(os.environ.get("SCALE", "1"))
PREFIX_CALLS: Final = max(1, int(SCALE))
PREFIX_CHARACTERS: Final = 4 if SCALE <= 1 else 1
"""For each widget so many calls are drawn while they arrive, every so many characters."""

NONE: Final = object()
SLIPS: Final[Mapping[str, Callable[[Any], Any]]] = MappingProxyType(
    {
        "a number in quotes": lambda x: str(x) if type(x) in (int, float) else NONE,
        "a number with a unit": lambda x: f"{x} EUR" if type(x) in (int, float) else NONE,
        "a number for a text": lambda x: 221 if isinstance(x, str) else NONE,
        "a boolean in quotes": lambda x: str(x).lower() if type(x) is bool else NONE,
        "JSON in a string": lambda x: (
            orjson.dumps(x).decode() if isinstance(x, dict | list) else NONE
        ),
        "one value for a list": lambda x: x[0] if isinstance(x, list) and len(x) == 1 else NONE,
        "another case": lambda x: x.upper() if isinstance(x, str) and x.islower() else NONE,
        "null for nothing": lambda _: None,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """Arguments, and the server's tree for them; None where it refuses or fails."""

    name: str
    arguments: Mapping[str, Any]
    tree: Mapping[str, Any] | None
    ms: float = 0.0


def cases(widget: Widget) -> Iterator[Case]:
    """Yield the cases of a widget."""
    definition, schema = widget.definition, widget.schema
    samples: list[tuple[str, Mapping[str, Any] | None]] = []
    samples += [(each.name, each.arguments) for each in list_studio_samples(definition)]
    samples += [(each.name, each.arguments) for each in list_examples(definition)]
    samples += [(f"seed {seed}", schema.sample(state="full", seed=seed)) for seed in SEEDS]
    samples += [(each.name, each.arguments) for each in generate_samples(widget, GENERATED)]
    for name, arguments in samples:
        if arguments is not None:
            yield _case(widget, name, arguments)
    for base in (schema.sample(state="full", seed=3), schema.sample(state="one")):
        for path, value in _places(base or {}):
            for name, slip in SLIPS.items():
                if (new := slip(value)) is NONE:
                    continue
                slipped = _replace(base, path, new)
                try:
                    if not widget.call(_with_ids(widget, slipped)).coerced:
                        continue
                except CallError:
                    continue
                yield _case(widget, f"slip: {name} at {path}", slipped)


def _case(widget: Widget, name: str, arguments: Mapping[str, Any]) -> Case:
    known = _with_ids(widget, arguments)
    try:
        widget.call(known)
        started_s = time.perf_counter()
        tree = widget.call(known).tree
        spent_ms = (time.perf_counter() - started_s) * 1000
        return Case(name=name, arguments=arguments, tree=tree, ms=spent_ms)
    except CallError:
        pass
    try:  # the schema refuses a designer's sample that the template still draws
        return Case(name=name, arguments=arguments, tree=widget.tree(known))
    except (CallError, WidgetError):
        return Case(name=name, arguments=arguments, tree=None)


def _with_ids(widget: Widget, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return arguments with the placeholders that the page writes for ids."""
    ids = widget.definition.sidecar.ids
    return {**arguments, **{name: f"~{name}" for name in ids if arguments.get(name) is None}}


def _places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if path:
        yield path, value
    inner = value.items() if isinstance(value, dict) else ()
    for key, each in enumerate(value) if isinstance(value, list) else inner:
        yield from _places(each, (*path, key))


def _replace(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    copy_of_it = at = deepcopy(value)
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = new
    return copy_of_it


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn:
    """A widget with its program, its cases, and the outcomes of the page."""

    name: str
    program: bytes
    cases: tuple[Case, ...]
    outcomes: Mapping[str, Any]


def drawn(paths: list[Path], every: int = PREFIX_CHARACTERS) -> tuple[list[Drawn], dict[str, str]]:
    """Draw every widget of `paths` on both sides.

    Returns:
        The widgets, and those without a program, each with the reason.
    """
    programs: list[tuple[str, bytes, tuple[Case, ...]]] = []
    without: dict[str, str] = {}
    for path in paths:
        try:
            widget = load_widget(path)
            programs.append((path.name, page_program(widget), tuple(cases(widget))))
        except WidgetError:
            continue
        except NoProgramError as error:
            without[path.name] = str(error)
    outcomes = _outcomes(programs, every)
    return [
        Drawn(name=name, program=program, cases=attempt, outcomes=outcome)
        for (name, program, attempt), outcome in zip(programs, outcomes, strict=True)
    ], without


def _outcomes(programs: list[tuple[str, bytes, tuple[Case, ...]]], every: int) -> list[Any]:
    requests = []
    for _, program, sample in programs:
        streams = [orjson.dumps(case.arguments).decode() for case in _streamed(sample)]
        requests.append(
            {
                "program": orjson.Fragment(program),
                "cases": [case.arguments for case in sample],
                "streams": streams,
                "every": every,
            }
        )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "cases.json"
        file.write_bytes(orjson.dumps(requests))
        command = ["npx", "vitest", "run", "--project", "bench", "bench/program.bench.ts"]
        environment = {**os.environ, "PROGRAM_CASES": str(file)}
        ran = subprocess.run(
            command, cwd=VIEW, env=environment, capture_output=True, text=True, check=False
        )
        if ran.returncode:
            raise SystemExit(ran.stdout + ran.stderr)
        results: list[Any] = orjson.loads(Path(f"{file}.out").read_bytes())
        return results


def _streamed(cases: Iterable[Case]) -> list[Case]:
    whole = (case for case in cases if case.tree and case.arguments)
    return list(islice(whole, PREFIX_CALLS))


def verdict(case: Case, outcome: Mapping[str, Any]) -> str:
    """Return how the page's outcome compares with the server's."""
    tree = outcome.get("tree")
    if case.tree is None:
        return "both fail" if tree is None else "the server fails, the page draws"
    if tree is None:
        return "the page fails"
    return "different" if differ(tree, case.tree) else "equal"


def main() -> int:
    """Print the tables; return 1 if a tree differs, a text is wrong, or too many are lost."""
    widgets, without = drawn([*bundled(), *corpus_files()])
    verdicts: Counter[tuple[str, str]] = Counter()
    for widget in widgets:
        for case, outcome in zip(widget.cases, widget.outcomes["cases"], strict=True):
            outcome_text = verdict(case, outcome)
            verdicts["slips" if case.name.startswith("slip") else "arguments", outcome_text] += 1
            if outcome_text not in {"equal", "both fail"}:
                print(f"{outcome_text}: {widget.name}: {case.name}: {outcome.get('failure', '')}")
    print(f"{len(widgets)} widgets with a program, {len(without)} without: {without}")
    for (kind, outcome_text), count in sorted(verdicts.items()):
        print(f"  {kind}: {outcome_text}: {count:,}")
    sizes = [len(gzip.compress(widget.program, 9)) for widget in widgets]
    print(f"program, gzipped: median {median(sizes):.0f} bytes, largest {max(sizes):,}")
    times = [outcome["ms"] for widget in widgets for outcome in widget.outcomes["cases"]]
    print("page, one drawing:", _spread(times))
    server = [case.ms for widget in widgets for case in widget.cases if case.ms]
    print("server, one call: ", _spread(server))
    share, wrong = print_prefixes(widgets)
    bad = sum(
        count
        for (_, outcome_text), count in verdicts.items()
        if outcome_text not in {"equal", "both fail"}
    )
    return 1 if bad or wrong or share > MOST_LOSSES else 0


def _spread(times_ms: list[float]) -> str:
    cut = quantiles(times_ms, n=100)
    return f"median {cut[49]:.3f} ms, p90 {cut[89]:.3f}, p99 {cut[98]:.3f}"


# --- beginnings of the arguments ---

_SHOWN: Final = frozenset({"value", "label", "title"})


def texts(tree: Any) -> list[str]:
    """Return the texts that people read in a tree, up to the last component that stays."""
    parts = list(_components(tree))
    end = next((at for at, part in enumerate(parts) if part.get("data-last")), len(parts))
    return [
        str(part[key])
        for part in parts[: end + 1]
        for key in _SHOWN
        if part.get(key) and not isinstance(part[key], dict | list)
    ]


def _components(tree: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(tree, dict):
        yield tree
        yield from _components(tree.get("children"))
    for each in tree if isinstance(tree, list) else ():
        yield from _components(each)


MOST_LOSSES = 1 / 500
"""The share of steps that may lose a text, over all prefixes of all files."""


def print_prefixes(widgets: list[Drawn]) -> tuple[float, int]:
    """Print the trees drawn while arguments arrive.

    Returns:
        The share of steps that lose a text, and the steps with a text of no complete drawing.
    """
    steps = losses = drawable = wrong = 0
    first, half = [], []
    for widget in widgets:
        for case, outcomes in zip(
            _streamed(widget.cases), widget.outcomes["prefixes"], strict=True
        ):
            whole = texts(case.tree)
            trees = [outcome.get("tree") for outcome in outcomes]
            rendered = [texts(tree) for tree in trees if tree is not None]
            drawable += len(rendered)
            steps += len(trees)
            for at, text in enumerate(rendered):
                following = rendered[at + 1] if at + 1 < len(rendered) else whole
                lost, untrue = _not_in(text, following), _not_in(text, whole)
                losses += bool(lost)
                wrong += bool(untrue)
                if untrue or (lost and os.environ.get("LOST")):
                    print("wrong" if untrue else "lost", widget.name, case.name, untrue or lost)
            if trees and whole:
                counts = [len(texts(tree)) for tree in trees]
                first.append(_share(counts, 1))
                half.append(_share(counts, len(whole) / 2))
    print(f"beginnings of the arguments: {drawable:,} of {steps:,} drawn")
    print(
        f"  first text after {median(first):.1%} of the characters (median), "
        f"half of them after {median(half):.1%}"
    )
    print(f"  steps that lose a text: {losses} of {steps:,}, one in {steps / max(1, losses):,.0f}")
    print(f"  steps with a text that the complete call does not show: {wrong}")
    times = [
        each["ms"] for w in widgets for outcomes in w.outcomes["prefixes"] for each in outcomes
    ]
    print("  one drawing:", _spread(times))
    return losses / steps, wrong


def _not_in(before: list[str], after: list[str]) -> list[str]:
    return [old for old in before if not any(new.startswith(old) for new in after)]


def _share(counts: list[int], least: float) -> float:
    at = next((at for at, count in enumerate(counts) if count >= least), len(counts))
    return (at + 1) / (len(counts) + 1)


if __name__ == "__main__":
    sys.exit(main())
