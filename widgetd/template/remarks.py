"""What can be said of a template without arguments: lost values, unbound indexes, wrong commas."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from widgetd.errors import Finding
from widgetd.template.parser import nodes

if TYPE_CHECKING:
    from widgetd.template.json_context import Flow
    from widgetd.template.places import Read


def remarks(tree: nodes.Template, flow: Flow, reads: tuple[Read, ...]) -> tuple[Finding, ...]:
    """Every warning about the template, in the order of its lines."""
    found = [*_commas(flow), *_indexes(reads), *_lost(tree.body, alone=False)]
    return tuple(sorted(found, key=lambda finding: (finding.line or 0, finding.code)))


def _commas(flow: Flow) -> Iterator[Finding]:
    for comma in flow.commas:
        problem = "a comma is missing before this value" if comma.missing else "a comma too many"
        advice = (
            'widgetd sets it right; write {{ "," if not loop.last }} to be understood by others'
        )
        yield Finding(code="W1309", line=comma.line, problem=problem, advice=advice)


def _indexes(reads: tuple[Read, ...]) -> Iterator[Finding]:
    for name, line in dict.fromkeys((read.path, read.line) for read in reads if read.index):
        yield Finding(
            code="W1308",
            line=line,
            problem=f"'{name}' is read in a loop that does not bind it",
            advice=f"it counts the turns from 0 unless it is an argument; "
            f"write {{% set {name} = loop.index0 %}}",
        )


def _lost(body: list[nodes.Node], *, alone: bool) -> Iterator[Finding]:
    """Each `(none)` that stands where the JSX had something.

    One that is all a branch holds is the `null` of `c ? x : null`.
    """
    only = alone and len(body) == 1
    for node in body:
        if isinstance(node, nodes.Output):
            yield from _lost_in(node, spared=only and len(node.nodes) == 1)
        elif isinstance(node, nodes.If):
            for branch in (node, *node.elif_):
                yield from _lost(branch.body, alone=True)
            yield from _lost(node.else_, alone=True)
        else:
            yield from _lost(getattr(node, "body", []), alone=False)


def _lost_in(output: nodes.Output, *, spared: bool) -> Iterator[Finding]:
    for each in output.nodes:
        value = each.node if isinstance(each, nodes.Filter) and each.name == "tojson" else each
        joined = [value, *value.find_all(nodes.Concat)] if value is not None else []
        whole = not spared and _is_none(value)
        if whole or any(_is_none(part) for node in joined for part in _parts(node)):
            yield Finding(
                code="W1307",
                line=each.lineno,
                problem="the exporter could not translate this value and wrote (none)",
                advice="write the value that the JSX shows, or simplify the JSX and export again",
            )


def _parts(node: nodes.Node) -> list[nodes.Expr]:
    return node.nodes if isinstance(node, nodes.Concat) else []


def _is_none(node: nodes.Node | None) -> bool:
    return isinstance(node, nodes.Const) and node.value is None
