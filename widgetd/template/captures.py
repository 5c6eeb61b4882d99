"""Take what a body writes as a text of its own, and write what became of it."""

from __future__ import annotations

from widgetd.template.budget import Failure
from widgetd.template.parser import nodes
from widgetd.template.scope import BUDGET, Evaluate, Execute, Frame, Scope
from widgetd.template.text import inside, text


def stripped(body: Execute) -> Execute:
    """The text of a set-block that the next output writes without its leading comma.

    The exporter separates children this way; written at once, the text is
    neither copied nor paid for again at each level.
    """

    def run(frame: Frame, out: list[str]) -> None:
        start = len(out)
        body(frame, out)
        for at in range(start, len(out)):
            if out[at]:
                out[at] = out[at].removeprefix(",")
                break

    return run


def captured(body: Execute) -> Evaluate:
    """The closure of the text that `body` writes."""

    def capture(frame: Frame) -> str:
        out: list[str] = []
        body(frame, out)
        return "".join(out)

    return capture


def writing(node: nodes.Stmt, value: Evaluate, scope: Scope) -> Execute:
    """The closure that writes what a block captured, as the place asks for it."""
    shape, line = inside if id(node) in scope.layout.flow.in_strings else text, node.lineno

    def write(frame: Frame, out: list[str]) -> None:
        try:
            shown = shape(frame[BUDGET], value(frame))
            frame[BUDGET].text(len(shown))
        except Failure as failure:
            raise failure.at(line) from None
        out.append(shown)

    return write
