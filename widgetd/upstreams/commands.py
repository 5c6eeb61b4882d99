"""Commands for operators of upstreams: check their health, and call their tools."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import App, Parameter

from widgetd.base.errors import CallError, ConfigError
from widgetd.server.command import (
    Arguments,
    CommandLine,
    Shell,
    count_of,
    parse_arguments,
    print_json,
)

if TYPE_CHECKING:
    from widgetd.upstreams.answers import UpstreamAnswer
    from widgetd.upstreams.declarations import Declaration

File = Annotated[
    Path | None, Parameter(name="--file", help="The upstreams file; by default the setting.")
]

upstreams = App(name="upstreams", help="Report the state of the servers that fill widgets.")


@upstreams.default
def list_upstreams(
    *,
    file: File = None,
    test: Annotated[str, Parameter(help="Only this report.")] = "",
    json: Annotated[bool, Parameter(help="Print a JSON array, with each tool's schema.")] = False,
    shell: Shell,
) -> int:
    """Connect to each upstream once and report its state. Exit code 1 if one fails."""
    import anyio

    from widgetd.upstreams.diagnosis import diagnose, hint

    declarations = _read_declarations(shell, file)
    if test:
        declarations = {test: _find_declaration(declarations, test)}
    items: list[dict[str, Any]] = []
    for name, declaration in declarations.items():
        report = anyio.run(diagnose, declaration)
        reason = "" if report.state == "disabled" else report.reason
        items.append(
            {
                "name": name,
                "kind": declaration.kind.name,
                "state": "failed" if reason else report.state,
                "reason": reason,
                "tools": sorted(report.tools),
                "toolDetails": [report.tools[tool].to_json() for tool in sorted(report.tools)],
                "unmarked": report.unmarked,
                "hint": hint(declaration, reason) if reason else report.advice,
            }
        )
    if json:
        print_json(items)
    else:
        width = max((len(str(item["name"])) for item in items), default=0)
        for item in items:
            hint_or_tools = item["hint"] or count_of(len(item["tools"]), "tool")
            outcome = f"{item['reason']}: {hint_or_tools}" if item["reason"] else hint_or_tools
            print(f"{item['name']:{width}}  {item['kind']:9}  {item['state']:8}  {outcome}")
    return int(any(item["reason"] for item in items))


@upstreams.command
def call(
    name: str,
    tool: str,
    *,
    file: File = None,
    arguments: Arguments = "{}",
    select: str = "",
    shell: Shell,
) -> None:
    """Call a tool of an upstream and print its answer.

    Args:
        name: The upstream.
        tool: The tool of the upstream.
        select: JMESPath: print only what it selects.
    """
    import anyio

    from widgetd.core.widget.query import compile_query

    declaration = _find_declaration(_read_declarations(shell, file), name)
    call_arguments = parse_arguments(arguments)
    query = compile_query(select) if select else None

    async def call_tool() -> UpstreamAnswer:
        from widgetd.base.tasks import while_running
        from widgetd.upstreams.connection import Upstream

        upstream = Upstream(declaration, is_logged=False)
        async with while_running(upstream.run):
            try:
                return await upstream.call(tool, call_arguments)
            except CallError as error:
                raise error.for_operators() from None

    answer = anyio.run(call_tool)
    if query is not None:
        print_json(query.find(answer.value(name)))
    else:
        sys.stdout.buffer.write(answer.content + b"\n")


def _read_declarations(shell: CommandLine, file: Path | None) -> dict[str, Declaration]:
    from widgetd.upstreams.declarations import read_file

    path = file or shell.read_settings().upstreams
    if path is None:
        problem = "no upstreams file is named"
        raise ConfigError("W0002", problem, "write --file FILE, or set WIDGETD_UPSTREAMS")
    return dict(read_file(path).declarations)


def _find_declaration(declarations: dict[str, Declaration], name: str) -> Declaration:
    if name not in declarations:
        names = ", ".join(declarations)
        raise CallError("W5001", f"there is no upstream '{name[:64]}'; there are {names or 'none'}")
    return declarations[name]
