"""Find the cycles of a directed graph. Knows nothing of what its nodes stand for."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


def components(
    nodes: Iterable[Node], edges: Callable[[Node], Iterable[Node]]
) -> list[tuple[Node, ...]]:
    """The strongly connected components, each after every other that it leads to.

    Iterative, because a chain of references may be longer than Python's stack is deep.

    Source: R. Tarjan, "Depth-first search and linear graph algorithms", 1972.
    """
    found: list[tuple[Node, ...]] = []
    order: dict[Node, int] = {}
    low: dict[Node, int] = {}
    open_nodes: list[Node] = []
    settled: set[Node] = set()
    for start in nodes:
        if start in order:
            continue
        order[start] = low[start] = len(order)
        open_nodes.append(start)
        walk = [(start, iter(edges(start)))]
        while walk:
            node, onward = walk[-1]
            step = next((n for n in onward if n not in settled), None)
            if step is None:
                walk.pop()
                if walk:
                    above = walk[-1][0]
                    low[above] = min(low[above], low[node])
                if low[node] == order[node]:
                    found.append(_close(node, open_nodes))
                    settled.update(found[-1])
            elif step in order:
                low[node] = min(low[node], order[step])
            else:
                order[step] = low[step] = len(order)
                open_nodes.append(step)
                walk.append((step, iter(edges(step))))
    return found


def _close(node: Node, open_nodes: list[Node]) -> tuple[Node, ...]:
    """Take the component that `node` was the first of off the stack of open nodes."""
    component = [open_nodes.pop()]
    while component[-1] != node:
        component.append(open_nodes.pop())
    return tuple(component)
