"""Run cases on stages, in an event loop and a browser for as long as pytest runs.

A case of a test file has a context of its own. The default cases of widgets only look, and
share a context, because opening it takes longer than using it.

pytest is synchronous, so the loop lives in a thread beside it. A case is a call into it.
"""

from __future__ import annotations

from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from widgetd.author.browser.baselines import Baselines
from widgetd.author.browser.chromium import Chromium
from widgetd.author.browser.emulated_stage import EmulatedStage, HostProfile
from widgetd.author.browser.keywords import Keyword, find_keyword
from widgetd.author.browser.keywords.expect import UnexpectedError
from widgetd.author.browser.limits import LIMITS
from widgetd.author.browser.stage import Stage
from widgetd.author.browser.steps import ask, is_gone, perform
from widgetd.author.testing.suite import Case, FileLocation, Step
from widgetd.author.testing.widgets import server_over
from widgetd.base.errors import CallError
from widgetd.core.widget.page_program import program_or_empty
from widgetd.core.widget.states import THEMES, list_states, show_state
from widgetd.server.access.principal import Caller
from widgetd.server.mcp.host_client import HostClient, connect_host
from widgetd.server.mcp.server import Server
from widgetd.server.render.action_callers import DryRun
from widgetd.server.search.search import Search
from widgetd.settings import Settings

_DEFAULT_EXPECTATIONS = ("expect_quiet", "expect_accessible")
_OF_PICTURES = frozenset({"Expect Picture", "Expect Aria"})
"""Steps about the widget alone, which are not repeated in each host."""


@dataclass
class FailedStepError(Exception):
    """The failure of a step of a case.

    Attributes:
        screen: Roles and names on the page at that moment.
        evidence: Files about it.
    """

    step: Step
    error: CallError
    screen: str = ""
    evidence: tuple[Path, ...] = ()


class Runner:
    """Runs cases, each after the other."""

    def __init__(self) -> None:
        self._resources = ExitStack()
        self._working_folder = Path.cwd()
        self._portal: BlockingPortal | None = None
        self._chromium = Chromium()
        self.search = Search()
        self._servers: dict[tuple[Path, str], Server] = {}
        self._clients: dict[tuple[Server, HostProfile], HostClient] = {}
        self._shared_stages: dict[tuple[Server, HostProfile | None], Stage] = {}

    @property
    def portal(self) -> BlockingPortal:
        if self._portal is None:
            self._portal = self._resources.enter_context(start_blocking_portal())
        return self._portal

    def close(self) -> None:
        if self._portal is not None:
            self._portal.call(self._chromium.close)
        self._resources.close()

    def server(self, folder: Path, host: HostProfile | None = None) -> Server:
        settings = Settings() if host is None else Settings(app_tools=host.app_tools)
        key = folder, settings.app_tools
        if key not in self._servers:
            self._servers[key] = server_over(folder, settings)
        return self._servers[key]

    def client(self, server: Server, host: HostProfile) -> HostClient:
        if (server, host) not in self._clients:
            connecting = connect_host(server, host.client, declares_apps=host.declares_apps)
            self._clients[server, host] = self._resources.enter_context(
                self.portal.wrap_async_context_manager(connecting)
            )
        return self._clients[server, host]

    def run(
        self,
        server: Server,
        case: Case,
        *,
        baselines: Baselines,
        evidence: Path | None,
        host: HostProfile | None = None,
    ) -> None:
        """Run a case.

        Args:
            server: Serves the widgets.
            case: To run.
            baselines: Its baselines.
            evidence: Folder for the files about a failure. None: the case only looks at its widget.
                So it records nothing and shares its page with others of its kind until a failure.
            host: The host to emulate.

        Raises:
            FailedStepError: A step failed.
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        if host is not None:
            self.client(server, host)
        self.portal.call(self._run, server, case, baselines, evidence, host)

    async def _run(
        self,
        server: Server,
        case: Case,
        baselines: Baselines,
        evidence: Path | None,
        host: HostProfile | None,
    ) -> None:
        is_shared, key = evidence is None, (server, host)
        stage = await (self._shared_stage(server, host) if is_shared else self.open(server, host))
        stage.subject, stage.baselines, stage.traced = case.widget, baselines, not is_shared
        stage.dry_run = DryRun(case.upstreams)
        try:
            if stage.traced:
                await stage.context.tracing.start(snapshots=True, sources=True)
            for step in case.steps:
                if host is None or step.keyword.name not in _OF_PICTURES:
                    await self._step(stage, step, evidence)
            if is_shared:
                self._shared_stages[key] = stage
        finally:
            if self._shared_stages.get(key) is not stage:
                await stage.close()

    async def _shared_stage(self, server: Server, host: HostProfile | None) -> Stage:
        stage = self._shared_stages.pop((server, host), None)
        if stage is None or is_gone(stage):
            return await self.open(server, host)
        stage.console.clear()
        return stage

    async def open(self, server: Server, host: HostProfile | None = None) -> Stage:
        """Open an empty stage, or a stage of `host`.

        A host's connection is opened by `client` before.
        """
        caller = Caller(snapshot=server.registry.current, registry=server.registry)
        browser = await self._chromium.browser()
        if host is None:
            return await Stage.open(browser, server, caller)
        client = self._clients[server, host]
        return await EmulatedStage.open(browser, server, caller, profile=host, client=client)

    async def _step(self, stage: Stage, step: Step, evidence: Path | None) -> None:
        file, line = str(self._working_folder / step.location.file), step.location.line
        try:
            await perform(
                stage, step.keyword, step.arguments, timeout_s=LIMITS.step_s, file=file, line=line
            )
        except CallError as error:
            failure = FailedStepError(step=step, error=error)
            with suppress(Exception):  # missing evidence must not hide the failure
                if not is_gone(stage):
                    await ask(stage, "Evidence", _collect_evidence(stage, failure, evidence))
            raise failure from None


async def _collect_evidence(stage: Stage, failure: FailedStepError, folder: Path | None) -> None:
    failure.screen = await stage.screen()
    if folder is None:
        return
    await anyio.Path(folder).mkdir(parents=True, exist_ok=True)
    pictures = stage.unexpected_pictures or {"seen.png": await stage.page_picture()}
    for name, content in pictures.items():
        await anyio.Path(folder / name).write_bytes(content)
        failure.evidence += (folder / name,)
    trace = folder / "trace.zip"
    if not stage.secret:
        await stage.context.tracing.stop(path=trace)
        failure.evidence += (trace,)


def default_case(file: str, tool: str, name: str, *, is_host: bool) -> Case:
    """Return the test of any widget: it is drawn, quiet, accessible, no wider than its room.

    In the light theme, its page also draws each state by itself as the server does. In an emulated
    host, it is drawn, quiet and survives what the host does. A form is submitted exactly once.
    The name is of a theme or a host.
    """
    location = FileLocation(file, 1, 1)
    values = {"widget": tool, "theme": THEMES[0] if is_host else name}
    keywords = [_LIFE] if is_host else list(map(find_keyword, _DEFAULT_EXPECTATIONS))
    if name == THEMES[0]:
        keywords.append(_TREES)  # last, because it leaves another state in the frame
    steps = [Step(keyword=keyword, arguments={}, location=location) for keyword in keywords]
    steps.insert(0, Step(keyword=find_keyword("show_widget"), arguments=values, location=location))
    return Case(name=name, baseline="", tags=(), widget=tool, steps=tuple(steps), location=location)


async def _compare_trees(stage: Stage) -> None:
    widget = stage.require_display().widget
    if widget is None or not program_or_empty(widget):
        return
    states, calls = [], []
    for state in list_states(widget):
        content = show_state(widget, state.key)
        if content.render is None:  # else no call draws it
            with suppress(CallError):
                calls.append(widget.call(content.arguments))
                states.append(state.key)
    differing = [states[at] for at in await stage.find_differing(calls)]
    if differing:
        raise UnexpectedError("the page's own trees", expected="the server's", got=differing)


_TREES = Keyword(slug="expect_same_trees", kind="expect", function=_compare_trees)
"""Compare the trees of page and server in every state; no author would write this as a step."""


async def _live(stage: Stage) -> None:
    if isinstance(stage, EmulatedStage):
        await stage.live()


_LIFE = Keyword(slug="live_as_host", kind="expect", function=_live)
