"""Each example, run as its docstring says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, redirect_stdout
from functools import partial
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from runpy import run_module

import anyio
import anyio.to_thread
import pytest

from examples.served import BUNDLED
from tests.support.forked_daemons import forked_daemon

ROOT = Path(__file__).resolve().parents[3]
ADAPTERS = ROOT / ".venv-adapters" / "bin" / "python"
PATIENCE_S = 90
"""Far more than an example takes on a busy machine."""

NAMED_CLASSES = "Direct usage of named widget classes is deprecated"
"""chatkit warns of its own classes while it defines them."""

FLIGHT = "NF 221, Fri 15 May, Lisbon to Bergen: boarding, lands 17:15."
WIDGET = "Card of Row, Col, Button"
CONVERSATION = [
    "human     Where is NF 221?",
    "ai        calls flight_tracker",
    f"tool      Northfjord Air {FLIGHT}",
    f"artifact  {WIDGET}",
    "ai        NF 221 is boarding at gate 22.",
]


PROXIES = {
    "HTTP_PROXY": "http://127.0.0.1:9",
    "HTTPS_PROXY": "http://127.0.0.1:9",
    "NO_PROXY": "127.0.0.1",
}


@asynccontextmanager
async def serve_widgets(folder: Path = BUNDLED) -> AsyncIterator[str]:
    """Serve as `examples.served` does, in a fork."""
    async with forked_daemon(folder, "--log-level", "warning", "--links", "auto") as served:
        yield served.url


@pytest.fixture
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let examples in this process use forks: a daemon takes two seconds to start."""
    monkeypatch.setattr("examples.served.serve_widgets", serve_widgets)
    for name, value in PROXIES.items():
        monkeypatch.setenv(name, value)


async def run_example(example: str, *ignored: str) -> list[str]:
    """Run an example as `python -m` does, but in this process; return the lines that it prints.

    Every warning is an error, as in all tests, except those in `ignored` and those that a package
    insists on showing.
    """
    printed = StringIO()
    with (
        warnings.catch_warnings(record=True),
        redirect_stdout(printed),
        anyio.fail_after(PATIENCE_S),
    ):
        for message in ignored:
            warnings.filterwarnings("ignore", message)
        run = partial(run_module, f"examples.{example}", run_name="__main__")
        await anyio.to_thread.run_sync(run, abandon_on_cancel=True)
    return printed.getvalue().splitlines()


async def run_command(*command: str) -> list[str]:
    """Run a program in the project's folder and return the lines that it prints."""
    environment = {**os.environ, **PROXIES, "PYTHONIOENCODING": "utf-8"}
    with anyio.fail_after(PATIENCE_S):
        done = await anyio.run_process(
            command, cwd=ROOT, env=environment, stderr=subprocess.STDOUT, check=False
        )
    output = done.stdout.decode()
    assert done.returncode == 0, output
    return output.splitlines()


def test_every_example_is_described_in_the_readme_and_every_target_exists() -> None:
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    files = {path.name for path in (ROOT / "examples").iterdir() if path.is_file()}
    described = set(re.findall(r"\]\(([\w.]+)\)", text))

    assert described >= files - {"README.md"}
    assert all((ROOT / "examples" / name).exists() for name in described)
    for target in re.findall(r"make ([\w-]+)", text):
        assert f"\n{target}: " in makefile


async def test_mcp_client_calls_the_same_widget_in_both_eras() -> None:
    lines = await run_command(sys.executable, "-W", "error", "-m", "examples.mcp_client")

    # An id that ends with a mark is followed by `#see`, for programs that leave marks off links.
    at = r"  address   Show the user: http://127\.0\.0\.1:\d+/see/r_[\w-]{15}(?:[^\W_]|[_-]#see)"
    address = re.compile(at)
    shown = [line for line in lines if address.fullmatch(line)]
    lines = [line for line in lines if line not in shown]
    legacy, modern = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert len(shown) == 2
    assert (legacy[0], modern[0]) == ("MCP 2025-11-25:", "MCP 2026-07-28:")
    assert legacy[1:] == modern[1:]
    assert legacy[2:] == [
        "  found     flight_tracker: Flight tracker",
        "  example   number, date, status, progress, airline, departure, arrival",
        f"  content   Northfjord Air {FLIGHT}",
        f"  widget    {WIDGET}",
        '  refused   [W2002] progress: expected an integer from 0 to 100, got "half way"',
    ]


@pytest.mark.usefixtures("forked")
async def test_fastmcp_client_is_notified_of_a_dropped_file_and_calls_it() -> None:
    lines = await run_example("fastmcp_client")

    assert "flight_tracker" in lines[0]
    assert lines[1:4] == [
        "dropped   Weather Current.widget",
        "told      ToolsListChanged",
        "added     weather_current",
    ]
    assert lines[4].startswith("widget    Card of ")


@pytest.mark.usefixtures("forked")
async def test_chatkit_server_streams_the_widget_into_the_thread() -> None:
    lines = await run_example("chatkit_server", NAMED_CLASSES)

    assert f"thread.item.done widget: {WIDGET}" in lines
    assert lines[-1] == "thread.item.done assistant_message: NF 221 is boarding at gate 22."


@pytest.mark.skipif(find_spec("langchain") is None, reason="langchain is not installed")
@pytest.mark.usefixtures("forked")
async def test_langgraph_agent_finds_the_tree_in_the_artifact() -> None:
    lines = await run_example("langgraph_agent", NAMED_CLASSES)

    assert lines[-5:] == CONVERSATION


@pytest.mark.skipif(
    not ADAPTERS.exists(), reason="needs the environment that `make environments` makes"
)
async def test_langchain_adapters_find_the_tree_in_the_artifact() -> None:
    module = "examples.langchain_adapters"
    lines = await run_command(
        sys.executable, "-W", "error", "-m", "examples.served", str(ADAPTERS), "-m", module
    )

    assert lines[-5:] == CONVERSATION


@pytest.mark.usefixtures("forked")
async def test_agent_gets_the_action_of_a_form_and_acknowledges_it() -> None:
    lines = await run_example("await_action")

    assert lines[0].startswith("shown     payment_form, with the button Pay £15, at http://127.")
    assert sorted(lines[1:]) == [
        'heard     payment.start {"payment": {"method": "card"}, "paymentId": "pay_1"}',
        "let go    0 left, timeout",
        "pressed   payment.start: accepted",
    ]
