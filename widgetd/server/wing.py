"""Wings: optional parts of a daemon. They add tools, pages and tasks to its server.

`daemon/wings.py` is the table of all. Without any of them a daemon serves its folder.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:  # commands that serve nothing read the tables of wings
    import anyio

    from widgetd.base.errors import Finding
    from widgetd.base.files.hints import Hints
    from widgetd.core.widget.widget import Widget
    from widgetd.server.access.auth import Access
    from widgetd.server.catalog.loader import Loader, Precheck
    from widgetd.server.catalog.state import StateFolder
    from widgetd.server.mcp.builtin.table import BuiltinResource, BuiltinTool
    from widgetd.server.mcp.server import Server
    from widgetd.server.observe.observer import Upload
    from widgetd.server.observe.status import Health
    from widgetd.server.web.guard import Guard
    from widgetd.server.web.metrics import Metrics
    from widgetd.server.web.page import PageRoute

Options = TypeVar("Options")
Kind = TypeVar("Kind", bound="Services")

Task = Callable[[], Coroutine[Any, Any, None]]


class Services:
    """The services of a wing in a daemon. The defaults add nothing."""

    def toolsets(self) -> Mapping[str, Any]:
        return {}

    def routes(self, _guard: Guard) -> Sequence[PageRoute]:
        return ()

    def tasks(self) -> Sequence[Task]:
        return ()

    async def start_late(self) -> None:
        """Load slow parts while clients are already served."""

    def reread(self) -> None:
        """Read files of the operator again, on SIGHUP."""

    def close(self) -> None:
        """Release files, once all tasks have ended."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WingHost:
    """The parts of a daemon that its wings use.

    Attributes:
        folder: The widgets folder.
        upload_folder: The folder for uploads. Another folder while bundled widgets are served.
        url: The address of MCP for clients. Empty over stdio.
        local_url: The address of MCP on this machine.
        precheck: Draws contents of users in a process with limits.
        rules: Returns `check_widget` as the settings configure it. Takes `strict`.
        setting_texts: The description of each setting.
        sections: Sections of the status. Wings may add to them.
        upload_observers: Receive each upload.
        stop: Ends the daemon when it is set.
        services: Those of the wings opened before.
    """

    server: Server
    folder: Path
    upload_folder: Path
    url: str
    local_url: str
    access: Access | None
    loader: Loader
    precheck: Precheck
    state: StateFolder | None
    hints: Hints
    health: Health
    metrics: Metrics
    rules: Callable[..., Callable[[Widget], tuple[Finding, ...]]]
    setting_texts: Mapping[str, str]
    sections: dict[str, Callable[[], Any]]
    upload_observers: Sequence[Callable[[Upload], None]]
    stop: anyio.Event
    services: list[Services] = field(default_factory=list)

    def find(self, kind: type[Kind]) -> Kind | None:
        return next((services for services in self.services if isinstance(services, kind)), None)


class Wing(Generic[Options]):
    """An optional part of the daemon. The defaults add nothing to it.

    Attributes:
        options: A dataclass. Its fields are settings.
        tools: The tools of its toolsets. Their names are reserved even if the wing is off.
        reserved_prefix: The beginning of further reserved names. Empty for none.
    """

    options: type[Options]
    tools: Sequence[BuiltinTool] = ()
    resources: Sequence[BuiltinResource] = ()
    reserved_prefix: str = ""

    def tools_for(self, _options: Options) -> Sequence[BuiltinTool]:
        """Return the tools under these settings. Raise `ConfigError` for bad settings."""
        return self.tools

    def check(self, options: Options) -> None:
        """Raise `ConfigError` for bad settings as `open` would, and open nothing."""

    def open(self, options: Options, host: WingHost) -> Services | None:
        """Build the services, or None if the settings switch the wing off.

        Refuse everything here, before anything is live.

        Raises:
            ConfigError: A setting cannot be used, or an optional dependency is missing.
        """
        raise NotImplementedError
