"""The slots of a template's names: each name lives at a place of a flat list.

The slot of a name is resolved once, when the program is built, from the block around it. A frame is
such a list, with the budget in its first slot.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from widgetd.core.template.ir import Program

Frame = list[Any]
Evaluate = Callable[[Frame], Any]
Execute = Callable[[Frame, list[str]], None]

BUDGET = 0


class Layout:
    """The slots of a program.

    Attributes:
        size: The length of a frame.
        arguments: The slot of each name among the arguments.
    """

    def __init__(self) -> None:
        self.size = 1
        self.arguments: dict[str, int] = {}
        self.names: dict[int, str] = {}

    def slot(self) -> int:
        self.size += 1
        return self.size - 1

    def argument(self, name: str) -> int:
        if name not in self.arguments:
            self.arguments[name] = self.slot()
        return self.arguments[name]

    def program(self, root: Any, *, may_need_commas: bool = False) -> Program:
        return Program(
            size=self.size,
            arguments=tuple(self.arguments.items()),
            root=root,
            may_need_commas=may_need_commas,
            names=self.names,
        )


class Scope:
    """The names bound by a block, inside those of the blocks around it.

    Attributes:
        names: The slot of each name.
        loop: The slot of `loop`, if the block is a loop's and something reads it.
        loops: Whether the block is a loop's.
        is_macro: Whether it is a macro's, in which the `loop` around it is not visible.
    """

    def __init__(self, layout: Layout, parent: Scope | None = None, *, loops: bool = False) -> None:
        self.layout = layout
        self.parent = parent
        self.names: dict[str, int] = {}
        self.loop: int | None = None
        self.loops = loops
        self.is_macro = False

    def bind(self, name: str) -> int:
        if name not in self.names:
            layout = self.layout
            slot = layout.slot() if self.parent else layout.argument(name)
            self.names[name] = slot
            layout.names[slot] = name
        return self.names[name]

    def binds(self, name: str) -> bool:
        return name in self.names or (self.parent is not None and self.parent.binds(name))

    def resolve(self, name: str) -> int:
        if name in self.names:
            return self.names[name]
        return self.parent.resolve(name) if self.parent else self.layout.argument(name)

    def innermost_loop(self) -> int | None:
        """Return the slot of the innermost `loop`, and keep it, or None outside of loops."""
        if self.loops:
            if self.loop is None:
                self.loop = self.layout.slot()
            return self.loop
        return None if self.parent is None or self.is_macro else self.parent.innermost_loop()

    def shadow(self, names: Iterable[str]) -> tuple[int, ...]:
        """Bind `names` here and return the slots to copy: to, from, to, from...

        A name set in a block starts with the value it has around the block, unless the block
        itself gives it one: a loop's target, a parameter.
        """
        around = self.parent or self
        new = [name for name in names if name not in self.names]
        return tuple(slot for name in new for slot in (self.bind(name), around.resolve(name)))
