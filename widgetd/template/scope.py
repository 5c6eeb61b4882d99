"""Where a template's names live while it renders: each in its own slot of one flat list.

Which name means which slot is settled once, when the template is compiled, by
the block the name stands in. A frame is that list; its first slot holds the
budget. It refuses to know what is done with the slots.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from widgetd.template.parser import nodes

if TYPE_CHECKING:
    from widgetd.template.json_context import JsonContext

Frame = list[Any]
Evaluate = Callable[[Frame], Any]
Execute = Callable[[Frame, list[str]], None]

BUDGET = 0


class Layout:
    """The slots of one template, and what was found out about its outputs beforehand.

    Attributes:
        context: What surrounds each output, and which set-blocks only strip a comma.
        size: How long a frame is.
        arguments: The slot of each name that comes from the arguments.
        nodes: How many expressions and statements were compiled so far.
        traced: Whether each piece of output has to know where it comes from.
    """

    def __init__(self, context: JsonContext, *, traced: bool = False) -> None:
        self.context = context
        self.traced = traced
        self.size = 1
        self.nodes = 0
        self.arguments: dict[str, int] = {}

    def slot(self) -> int:
        """A slot that nothing else uses."""
        self.size += 1
        return self.size - 1

    def argument(self, name: str) -> int:
        """The slot of the argument `name`."""
        if name not in self.arguments:
            self.arguments[name] = self.slot()
        return self.arguments[name]


class Scope:
    """The names that one block binds, inside those of the blocks around it.

    Attributes:
        names: The slot of each name.
        loop: The slot of `loop`, where the block is a loop's and something reads it.
        loops: Whether the block is a loop's.
        is_macro: Whether it is a macro's, which no loop around it reaches into.
    """

    def __init__(self, layout: Layout, parent: Scope | None = None, *, loops: bool = False) -> None:
        self.layout = layout
        self.parent = parent
        self.names: dict[str, int] = {}
        self.loop: int | None = None
        self.loops = loops
        self.is_macro = False

    def bind(self, name: str) -> int:
        """The slot of `name` as this block binds it."""
        if name not in self.names:
            layout = self.layout
            self.names[name] = layout.slot() if self.parent else layout.argument(name)
        return self.names[name]

    def binds(self, name: str) -> bool:
        """Whether this block or one around it binds `name`."""
        return name in self.names or (self.parent is not None and self.parent.binds(name))

    def resolve(self, name: str) -> int:
        """The slot to read `name` from; the arguments' where nothing binds it."""
        if name in self.names:
            return self.names[name]
        return self.parent.resolve(name) if self.parent else self.layout.argument(name)

    def innermost_loop(self) -> int | None:
        """The slot of the innermost loop's `loop`, which then has to be kept; None outside."""
        if self.loops:
            if self.loop is None:
                self.loop = self.layout.slot()
            return self.loop
        return None if self.parent is None or self.is_macro else self.parent.innermost_loop()

    def shadowed(self, names: Iterable[str]) -> list[tuple[int, int]]:
        """Bind `names` here; where each starts from, as `(slot here, slot around)`.

        A name set in a block starts with the value it has around the block.
        """
        around = self.parent or self
        return [(self.bind(name), around.resolve(name)) for name in names]


def assigned(body: list[nodes.Node]) -> set[str]:
    """The names that statements of a block bind in that block itself."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, nodes.Assign | nodes.AssignBlock):
            found.update(targets(node.target))
        elif isinstance(node, nodes.Macro):
            found.add(node.name)
        elif isinstance(node, nodes.If):
            found |= assigned([*node.body, *node.elif_, *node.else_])
    return found


def targets(node: nodes.Node) -> list[str]:
    """The names that an assignment to `node` binds."""
    if isinstance(node, nodes.Name):
        return [node.name]
    if isinstance(node, nodes.Tuple):
        return [name for item in node.items for name in targets(item)]
    return []
