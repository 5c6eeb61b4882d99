"""Run cases on stages: one loop and one browser for as long as pytest runs.

A case that acts has a context of its own; those that only look at a widget share one.

pytest is synchronous, and the loop lives in a thread beside it; a case is one call into it.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import anyio
from anyio.from_thread import BlockingPortal, start_blocking_portal

from widgetd.access.principal import Caller
from widgetd.browser.baselines import Baselines
from widgetd.browser.chromium import FLAGS, Chromium
from widgetd.browser.keywords import keyword
from widgetd.browser.limits import LIMITS
from widgetd.browser.stage import Stage
from widgetd.browser.steps import ask, is_gone, perform
from widgetd.errors import CallError
from widgetd.mcp.server import Server
from widgetd.testing.suite import Case, Place, Step
from widgetd.testing.widgets import server_over

THEMES = ("light", "dark")

_DEFAULTS = ("expect_quiet", "expect_accessible")


@dataclass
class FailedStepError(Exception):
    """A step of a case could not be done, or something was not as expected.

    Attributes:
        screen: What was on the page.
        evidence: Files that show it.
    """

    step: Step
    error: CallError
    screen: str = ""
    evidence: tuple[Path, ...] = ()


class Runner:
    """Runs cases, one after the other."""

    def __init__(self, flags: tuple[str, ...] = FLAGS) -> None:
        self._held = ExitStack()
        self._here = Path.cwd()
        self._portal: BlockingPortal | None = None
        self._chromium = Chromium(flags)
        self._servers: dict[Path, Server] = {}
        self._shared: dict[Server, Stage] = {}

    @property
    def portal(self) -> BlockingPortal:
        """The way into the loop."""
        if self._portal is None:
            self._portal = self._held.enter_context(start_blocking_portal())
        return self._portal

    def close(self) -> None:
        """End the browser and the loop."""
        if self._portal is not None:
            self._portal.call(self._chromium.close)
        self._held.close()

    def server(self, folder: Path) -> Server:
        """The widgets of `folder`, read once."""
        if folder not in self._servers:
            self._servers[folder] = server_over(folder)
        return self._servers[folder]

    def run(
        self, server: Server, case: Case, *, baselines: Baselines, evidence: Path | None
    ) -> None:
        """Run one case, and put what shows a failure into the folder `evidence`.

        Without one it is a case that only looks, and leaves no trace: it shares its page with
        others of its kind, for as long as none fails.

        Raises:
            FailedStepError: A step failed.
            ConfigError: Playwright or a Chromium is missing (W0011).
        """
        self.portal.call(self._run, server, case, baselines, evidence)

    async def _run(
        self, server: Server, case: Case, baselines: Baselines, evidence: Path | None
    ) -> None:
        stage = await (self._looking(server) if evidence is None else self.open(server))
        stage.subject, stage.baselines = case.widget, baselines
        stage.traced = evidence is not None
        try:
            if stage.traced:
                await stage.context.tracing.start(snapshots=True, sources=True)
            for step in case.steps:
                await self._step(stage, step, evidence)
            if not stage.traced:
                self._shared[server] = stage
        finally:
            if self._shared.get(server) is not stage:
                await stage.close()

    async def _looking(self, server: Server) -> Stage:
        """A stage for a case that does nothing; a context takes longer to be made than to use."""
        stage = self._shared.pop(server, None)
        if stage is None or is_gone(stage):
            return await self.open(server)
        stage.console.clear()
        return stage

    async def open(self, server: Server) -> Stage:
        """An empty stage."""
        caller = Caller(snapshot=server.registry.current, registry=server.registry)
        return await Stage.open(await self._chromium.browser(), server, caller)

    async def _step(self, stage: Stage, step: Step, evidence: Path | None) -> None:
        file, line = str(self._here / step.place.file), step.place.line
        try:
            await perform(
                stage, step.keyword, step.arguments, timeout_s=LIMITS.step_s, file=file, line=line
            )
        except CallError as error:
            failed = FailedStepError(step=step, error=error)
            with suppress(Exception):  # evidence that cannot be had hides no failure
                if not is_gone(stage):
                    await ask(stage, "Evidence", self._keep(stage, failed, evidence))
            raise failed from None

    async def _keep(self, stage: Stage, failed: FailedStepError, folder: Path | None) -> None:
        failed.screen = await stage.screen()
        if folder is None:
            return
        picture, trace = anyio.Path(folder / "seen.png"), folder / "trace.zip"
        await picture.parent.mkdir(parents=True, exist_ok=True)
        await picture.write_bytes(stage.seen or await stage.page_picture())
        failed.evidence = (Path(picture),)
        if not stage.secret:
            await stage.context.tracing.stop(path=trace)
            failed.evidence += (trace,)


def default_case(file: str, tool: str, theme: str) -> Case:
    """What is tested of every widget: it is drawn, quiet, accessible, no wider than its room."""
    place = Place(file, 1, 1)
    show: Mapping[str, Any] = {"widget": tool, "theme": theme}
    steps = [Step(keyword=keyword("show_widget"), arguments=show, place=place)]
    steps += [Step(keyword=keyword(name), arguments={}, place=place) for name in _DEFAULTS]
    return Case(name=theme, picture="", tags=(), widget=tool, steps=tuple(steps), place=place)
