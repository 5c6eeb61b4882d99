"""Commands that test widgets: in a browser by pytest, and by wishes that they should answer."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from widgetd.base.errors import ConfigError, Finding, WidgetError
from widgetd.base.extras import install_advice
from widgetd.cli.options import (
    Folder,
    complain,
    count_of,
    print_json,
    read_settings,
    scan_widgets,
)
from widgetd.settings import Settings, folder_of

if TYPE_CHECKING:
    from widgetd.author.testing.eval_file import Cases
    from widgetd.author.testing.evaluation import Verdict
    from widgetd.server.catalog.snapshot import Snapshot


def test(
    *paths: Annotated[str, Parameter(allow_leading_hyphen=True)],
    update: Annotated[bool, Parameter(negative="")] = False,  # noqa: PT028 - a command
    watch: Annotated[bool, Parameter(negative="")] = False,  # noqa: PT028 - a command
    client: str = "",  # noqa: PT028 - a command
    report: str = "",  # noqa: PT028 - a command
) -> int:
    """Test widgets in a browser: each by default, and by the `*.test.yaml` files beside them.

    Arguments after `--` are passed to pytest: -v (names), -k, -x, --lf, -n 2, --junitxml FILE,
    --collect-only.

    Args:
        paths: Folders, widgets and test files. Default: ./widgets, else the current folder.
        update: Write the pictures and aria snapshots instead of comparing with them.
        watch: Keep running, and test again what a save affects.
        client: Test as a known host shows widgets: chatgpt, claude-ai, claude-desktop, gateway,
            inspector, mcp-ui, plain or vscode; all for each of them.
        report: Write a page about the run into this folder: steps, pictures, traces and times.
    """
    at = next((at for at, one in enumerate(paths) if one.startswith("-")), len(paths))
    chosen, own = list(paths[:at]), [one for one in paths[at:] if one != "--"]
    chosen = chosen or ["widgets" if Path("widgets").is_dir() else "."]
    for one in chosen:
        if not Path(one.partition("::")[0]).exists():
            raise ConfigError("W0003", f"there is no {one}", "name a file or a folder", exit_code=3)
    if find_spec("pytest") is None or find_spec("yaml") is None:
        problem = "tests need pytest and PyYAML, and not both are installed"
        raise ConfigError("W0011", problem, install_advice("test"), exit_code=3)
    from widgetd.author.browser.chromium import demand_browser
    from widgetd.author.testing.command import run, run_on_saves
    from widgetd.author.testing.profiles import choose_profiles

    choose_profiles(client)
    if "--collect-only" not in own and "--co" not in own:
        demand_browser("tests")
    if watch:
        return run_on_saves(chosen, own, host=client)
    return run(chosen, own, update=update, host=client, report=report)


def eval_(
    folder: Folder = None,
    *,
    transcript: Path | None = None,
    model: str = "",
    chat_url: str | None = None,
    facts: bool = False,
    json: bool = False,
    least: Annotated[float, Parameter(validator=Number(gte=0, lte=1))] = 1.0,
) -> int:
    """Evaluate by the wishes in `*.eval.yaml` whether widgets are found and filled in.

    Without --transcript and --model, the search index answers. Exit code 1: a case does not hold.

    Args:
        transcript: JSON lines of what a model called: {"wish", "tool", "arguments", "tokens"}.
        model: Ask this model, as its endpoint names it; its key is WIDGETD_CHAT_KEY.
        chat_url: The model's OpenAI-compatible endpoint, ending in /v1; by default the setting.
        facts: Ask the questions of `facts` instead, which a result's facts alone must answer.
        json: Print a JSON object.
        least: The share of cases that must hold.
    """
    if find_spec("yaml") is None:
        problem = "cases are YAML, and PyYAML is not installed"
        raise ConfigError("W0011", problem, install_advice("test"), exit_code=3)
    from widgetd.author.testing.eval_file import read_cases
    from widgetd.author.testing.suite import format_fault

    settings = read_settings(dir=folder, chat_model=model or None, chat_url=chat_url)
    snapshot = scan_widgets(settings)
    cases = read_cases(folder_of(settings), snapshot)
    if not (cases.faults or (cases.questions if facts else cases.wishes)):
        return complain("there are no cases; write NAME.eval.yaml beside a widget", 5)
    faults: tuple[Finding, ...] = cases.faults
    verdicts: list[Verdict] = []
    try:
        if not faults:
            verdicts = _evaluate(snapshot, cases, settings, transcript, model, facts=facts)
    except WidgetError as error:
        faults = error.findings
    for fault in faults:
        complain(format_fault(fault), 2)
    if faults:
        return 2
    if json:
        rows = [
            {key.removeprefix("is_"): value for key, value in asdict(one).items()}
            for one in verdicts
        ]
        print_json({**_count(verdicts), "cases": rows})
    else:
        for line in _report(verdicts):
            print(line)
    return int(sum(not one.problem for one in verdicts) < least * len(verdicts))


def _evaluate(
    snapshot: Snapshot,
    cases: Cases,
    settings: Settings,
    transcript: Path | None,
    model: str,
    *,
    facts: bool,
) -> list[Verdict]:
    from widgetd.author.testing.eval_file import read_transcript
    from widgetd.author.testing.evaluation import Evaluator

    evaluator = Evaluator(snapshot)
    if model:
        import anyio

        from widgetd.author.testing.model_evaluation import ask_model, configured_model

        ask = partial(ask_model, configured_model(settings), evaluator, cases, snapshot)
        return anyio.run(partial(ask, facts=facts))
    if facts:
        return list(evaluator.ask_facts(cases.questions))
    if transcript is None:
        return list(evaluator.search(cases.wishes))
    calls = read_transcript(transcript, cases.wishes)
    return [evaluator.judge(wish, calls[wish.text]) for wish in cases.wishes]


def _count(verdicts: Sequence[Verdict]) -> dict[str, int]:
    """Count the verdicts; `tokens` is the mean."""
    return {
        "count": len(verdicts),
        "held": sum(not one.problem for one in verdicts),
        "first": sum(one.tools[:1] == (one.tool,) for one in verdicts),
        "found": sum(one.is_found for one in verdicts),
        "filled": sum(bool(one.is_filled) for one in verdicts),
        "repaired": sum(one.is_repaired for one in verdicts),
        "tokens": sum(one.tokens for one in verdicts) // len(verdicts),
    }


def _report(verdicts: Sequence[Verdict]) -> Iterator[str]:
    for one in verdicts:
        if not one.problem:
            continue
        yield f"{one.place}: {one.case}: {one.problem}"
        if one.winner:
            yield f"    {one.tools[0]}: {one.winner}"
            yield f"    {one.tool}: {one.loser or 'nothing in it fits the wish'}"
    counts = _count(verdicts)
    is_called = any(one.is_filled is not None for one in verdicts)
    is_searched = is_called or any(one.tools for one in verdicts)
    parts = ("held", *("first", "found") * is_searched, *("filled", "repaired") * is_called)
    listed = ", ".join(f"{part} {counts[part]}" for part in parts)
    mean = count_of(counts["tokens"], "token")
    yield f"{count_of(counts['count'], 'case')}: {listed}; {mean} each"
