"""Commands for whoever declares upstreams: are they well, and what do they answer."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import App, Parameter

from widgetd.cli.options import Arguments, arguments_from, print_json
from widgetd.errors import CallError, ConfigError
from widgetd.settings import settle

if TYPE_CHECKING:
    from widgetd.upstreams.answers import UpstreamAnswer
    from widgetd.upstreams.declarations import Declaration

File = Annotated[
    Path | None, Parameter(name="--file", help="The upstreams file; by default the setting.")
]

upstreams = App(name="upstreams", help="Say how the other servers are that fill widgets.")


@upstreams.default
def list_upstreams(
    *,
    file: File = None,
    test: Annotated[str, Parameter(help="Only this one.")] = "",
    json: Annotated[bool, Parameter(help="Print a JSON array.")] = False,
) -> int:
    """Connect to each upstream once, and say how it is; 1 where one fails."""
    import anyio

    from widgetd.upstreams.diagnosis import diagnose, hint

    declarations = _declared(file)
    if test:
        declarations = {test: _named(declarations, test)}
    items = []
    for name, declaration in declarations.items():
        one = anyio.run(diagnose, declaration)
        reason = "" if one.state == "disabled" else one.reason
        items.append(
            {
                "name": name,
                "kind": declaration.kind.name,
                "state": "failed" if reason else one.state,
                "reason": reason,
                "tools": sorted(one.tools),
                "hint": hint(declaration, reason) if reason else "",
            }
        )
    if json:
        print_json(items)
    else:
        width = max((len(str(item["name"])) for item in items), default=0)
        for item in items:
            tools = len(item["tools"])
            found = f"{tools} tool" if tools == 1 else f"{tools} tools"
            said = f"{item['reason']}: {item['hint']}" if item["reason"] else found
            print(f"{item['name']:{width}}  {item['kind']:9}  {item['state']:8}  {said}")
    return int(any(item["reason"] for item in items))


@upstreams.command
def call(
    name: str, tool: str, *, file: File = None, arguments: Arguments = "{}", select: str = ""
) -> int:
    """Call a tool of an upstream, and print what it answers.

    Args:
        name: The upstream.
        tool: Of the upstream.
        file: The upstreams file.
        arguments: JSON, @FILE with JSON, or - for standard input.
        select: JMESPath: print only what it finds.
    """
    import anyio

    from widgetd.widget.query import compile_query

    declaration, given = _named(_declared(file), name), arguments_from(arguments)
    query = compile_query(select) if select else None

    async def asked() -> UpstreamAnswer:
        from widgetd.upstreams.connection import Upstream, while_running

        upstream = Upstream(declaration, is_logged=False)
        async with while_running(upstream.run):
            return await upstream.call(tool, given)

    answer = anyio.run(asked)
    if query is not None:
        print_json(query.find(answer.value(name)))
    else:
        sys.stdout.buffer.write(answer.content + b"\n")
    return 0


def _declared(file: Path | None) -> dict[str, Declaration]:
    from widgetd.upstreams.declarations import read_file

    path = file or settle({}, os.environ).settings.upstreams
    if path is None:
        problem = "no upstreams file is named"
        raise ConfigError("W0002", problem, "write --file FILE, or set WIDGETD_UPSTREAMS")
    return dict(read_file(path).declarations)


def _named(declarations: dict[str, Declaration], name: str) -> Declaration:
    if name not in declarations:
        names = ", ".join(declarations)
        raise CallError("W5001", f"there is no upstream '{name[:64]}'; there are {names or 'none'}")
    return declarations[name]
