"""The budget of a render, and its failures.

Work is counted, not time, so the same call ends the same way on every machine. An operation whose
memory or time depends on its operands pays before it begins.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from widgetd.base.limits import Limits

# A comparison or search of text runs through about this many characters in the
# time of a step. A walk over values in Python passes through about this many values.
CHARACTERS_PER_STEP = 64
VALUES_PER_STEP = 8

# A loop's turn or a macro's call evaluates about this many nodes of its body in that time.
NODES_PER_STEP = 32

# Below this, Python's search compares at every place. Above, it is linear.
_SHORT_TEXT, _LONG_PART = 30_000, 1_250

# Python's own stack holds 1,000 frames. A macro may be called from deep inside.
MAX_DEPTH = 400

# Python's errors for unsuitable operands of a filter or method.
UNFIT = (TypeError, ValueError, ArithmeticError, LookupError)


class RenderError(Exception):
    """A failed render, shown to callers as a `CallError`.

    Attributes:
        problem: The mistake, as a clause without a full stop.
        place: The offset in the template, or None as long as it is unknown.
        code: `W2004` for a mistake in the template, `W2005` for a spent budget.
    """

    def __init__(self, problem: str, *, code: str = "W2004") -> None:
        super().__init__(problem)
        self.problem = problem
        self.code = code
        self.place: int | None = None

    def at(self, place: int) -> RenderError:
        """Return this failure with `place`, unless it already has a nearer place."""
        if self.place is None:
            self.place = place
        return self


class Budget:
    """The budget of a render.

    Attributes:
        steps: Loop turns, calls and elements of lists.
        chars: Characters of text made, whether or not they reach the output.
        depth: Nesting of macro calls, in nodes of the template's syntax tree.
        heaviest: The maximum weight of a value: the price of all steps.
        weights: The weight of each list and object of the arguments, by its identity. The value
            is kept beside it, so no other value gets the same identity.
        sizes_stale: Whether a value inside another changed, which makes every cached weight
            invalid.
    """

    __slots__ = ("chars", "depth", "heaviest", "limits", "sizes_stale", "steps", "weights")

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = limits.steps
        self.chars = limits.output_bytes
        self.depth = 0
        self.heaviest = limits.steps * CHARACTERS_PER_STEP
        self.weights: dict[int, tuple[object, int, int]] = {}
        self.sizes_stale = False

    def step(self, count: int = 1) -> None:
        """Charge for `count` loop turns, calls or elements."""
        self.steps -= count
        if self.steps < 0:
            raise self.out_of_steps()

    def text(self, length: int) -> None:
        self.chars -= length
        if self.chars < 0:
            raise self.out_of_text()

    def scan(self, length: int) -> None:
        self.step(1 + length // CHARACTERS_PER_STEP)

    def search(self, length: int, part: int) -> None:
        """Charge for a search through `length` characters for a text of `part` characters."""
        work = length * min(part, _LONG_PART) if length < _SHORT_TEXT else 0
        self.step(1 + length // CHARACTERS_PER_STEP + work // 2**14)

    def enter(self, height: int) -> None:
        """Enter a macro or a recursive loop whose body is `height` nodes high."""
        self.step()
        self.depth += height
        if self.depth > MAX_DEPTH:
            raise RenderError("macros call each other too deeply", code="W2005")

    def leave(self, height: int) -> None:
        self.depth -= height

    def out_of_steps(self) -> RenderError:
        return RenderError(f"rendering takes more than {self.limits.steps:,} steps", code="W2005")

    def out_of_text(self) -> RenderError:
        size = f"{self.limits.output_bytes:,}"
        return RenderError(f"rendering makes more than {size} characters of text", code="W2005")
