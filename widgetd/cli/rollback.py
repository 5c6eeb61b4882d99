"""`widgetd rollback`: list the served generations of a folder, and go back to any."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from widgetd.base.errors import ConfigError
from widgetd.base.system import SYSTEM
from widgetd.cli.limits import LIMITS
from widgetd.cli.shell import read_settings
from widgetd.server.command import Folder, count_of, print_json
from widgetd.settings import folder_of

if TYPE_CHECKING:
    from widgetd.server.catalog.state import StateFolder
    from widgetd.server.catalog.versions import Version

StateDir = Annotated[
    Path | None, Parameter(name="--state-dir", help="The state folder; by default the setting.")
]


def rollback(
    dir: Folder = None,
    *,
    to: str = "",
    list: Annotated[bool, Parameter(negative="")] = False,
    state_dir: StateDir = None,
    json: Annotated[bool, Parameter(negative="")] = False,
) -> None:
    """Serve an earlier generation of DIR, until the next change in the folder.

    A running daemon follows within seconds, else the next start does.

    Args:
        to: The generation, or its first letters. Default: the one before that is served.
        list: Only list the generations that were served, the newest first.
        json: List them as a JSON array.
    """
    state, versions = _open(dir, state_dir)
    if list or json:
        _print_generations(state, versions, as_json=json)
    else:
        _request(state, versions, to)


def _print_generations(state: StateFolder, versions: Sequence[Version], *, as_json: bool) -> None:
    from widgetd.server.catalog.rollback import read_request

    request = read_request(state)
    target = request.generation if request else versions[-1].generation
    rows = [
        {
            "generation": version.generation,
            "since": datetime.fromtimestamp(version.since_s, UTC).isoformat(timespec="seconds"),
            "widgets": version.widgets,
            "changes": list(version.tools),
            "served": version.generation == target,
        }
        for version in reversed(versions)
    ]
    if as_json:
        print_json(rows)
        return
    for row, version in zip(rows, reversed(versions), strict=True):
        mark = "*" if row["served"] else " "
        size, tools = count_of(version.widgets, "widget"), " ".join(version.tools)
        print(f"{mark} {version.generation}  {row['since']}  {size}  {tools}")


def _request(state: StateFolder, versions: Sequence[Version], prefix: str) -> None:
    from widgetd.server.catalog.rollback import read_request, write_request
    from widgetd.server.catalog.versions import Versions

    before = read_request(state)
    target = _find(versions, prefix, before.generation if before else None)
    store = Versions(state)
    if lost := store.list_lost(store.files(target)):
        problem = f"the content of {lost[0]} as it was in {target} is lost"
        raise ConfigError("W0033", problem, "`widgetd rollback --list` names other generations")
    if not write_request(state, target):
        problem = "the request cannot be written to the state folder"
        raise ConfigError("W0006", problem, "run this as widgetd's user, or as root", exit_code=3)
    until_s = SYSTEM.clock.steady_s() + LIMITS.rollback_s
    while SYSTEM.clock.steady_s() < until_s:
        request = read_request(state)
        if request is not None and request.folder:
            print(f"{target} is served, until the next change in the folder")
            return
        if request is None and target == versions[-1].generation:
            print(f"{target} is served, as the folder has it")
            return
        if request is None:
            problem = f"{target} is not served"
            cure = "read in the log why (rollback.refused, or a save)"
            raise ConfigError("W0034", problem, cure, exit_code=1)
        SYSTEM.clock.sleep(LIMITS.rollback_poll_s)
    print(f"{target} is served from the next start on: no running daemon took it up")


def _open(dir: Path | None, state_dir: Path | None) -> tuple[StateFolder, Sequence[Version]]:
    from widgetd.server.catalog.state import StateFolder
    from widgetd.server.catalog.versions import Versions

    settings = read_settings(dir=dir, state_dir=state_dir)
    if settings.state_dir is None:
        raise ConfigError("W0002", "no state folder is named", "name one with --state-dir")
    folder = folder_of(settings)
    state = StateFolder.of(settings.state_dir, folder)
    versions = Versions(state).latest()
    if not versions:
        problem = f"the state folder has no generations of {folder}"
        raise ConfigError("W0032", problem, "name the folders that `serve` has")
    return state, versions


def _find(versions: Sequence[Version], prefix: str, served: str | None) -> str:
    names = [version.generation for version in versions]
    if prefix:
        matches = dict.fromkeys(name for name in names if name.startswith(prefix))
        problem = f"{len(matches) or 'no'} generations begin with {prefix}"
    else:
        newest = served or names[-1]
        end = len(names) - 1 - names[::-1].index(newest) if newest in names else 0
        matches = dict.fromkeys([name for name in names[:end] if name != newest][-1:])
        problem = "there is no generation before the one that is served"
    if len(matches) != 1:
        raise ConfigError("W0032", problem, "`widgetd rollback --list` names them")
    return next(iter(matches))
