"""Make arguments that fit a schema: for the example in an error, and to try a widget out.

What is returned fits, by the validator's own word; `None` says that nothing
fitting was found. The same schema, state and seed give the same arguments.
"""

from __future__ import annotations

from typing import Literal, Protocol

from widgetd.schema.applicators import Evaluator
from widgetd.schema.document import Document, Subschema
from widgetd.schema.explain import Explainer
from widgetd.schema.json_values import Json
from widgetd.schema.sampling.choosing import Spot, Style
from widgetd.schema.sampling.heights import Heights
from widgetd.schema.sampling.making import CannotMakeError, Maker

State = Literal["required", "full", "empty", "one", "two", "many", "long", "nulls", "nasty"]

ATTEMPTS = 3
# What judging may cost, see `explain.BUDGET`: an error's example is wanted soon.
JUDGEMENTS = 300_000
JUDGEMENTS_FOR_SMALLEST = 30_000


class Admitting(Protocol):
    """A compiled schema, as far as samples need it."""

    @property
    def document(self) -> Document:
        """The schema."""
        ...

    def admits(self, arguments: Json) -> bool:
        """Whether `arguments` fit."""
        ...

    def explainer(self, budget: int) -> Explainer:
        """A judge of the schema's parts."""
        ...


def smallest(schema: Admitting) -> dict[str, Json] | None:
    """Arguments with nothing but what is required, in plausible words."""
    return _made(schema, "smallest", 0)


def sample(schema: Admitting, *, state: State, seed: int = 0) -> dict[str, Json] | None:
    """Arguments in a certain state.

    Args:
        schema: What they must fit.
        state: `required` has no optional properties; all others have them. `empty`,
            `one`, `two` and `many` say how long arrays are; `long` and `nasty` how
            strings are; `nulls` has null wherever it may stand.
        seed: Another seed takes other words and other alternatives.
    """
    return _made(schema, state, seed)


def _made(schema: Admitting, style: Style, seed: int) -> dict[str, Json] | None:
    root = schema.document.root
    heights = Heights(schema.document)
    judge = schema.explainer(JUDGEMENTS_FOR_SMALLEST if style == "smallest" else JUDGEMENTS)
    judges: list[tuple[int, Evaluator]] = [(0, _Trusting(judge))]
    judges += [(attempt, judge) for attempt in range(ATTEMPTS)]
    for turn, judging in judges:
        maker = Maker(judging, heights, style)
        try:
            made = maker.make({"type": "object", "allOf": [root]}, Spot(turn=seed + turn))
        except CannotMakeError:
            if maker.spent:
                break
            continue
        if schema.admits(made):
            arguments: dict[str, Json] = made
            return arguments
    return None


class _Trusting:
    """Takes each part for fitting at once: most do, and the whole is judged in the end."""

    def __init__(self, judge: Evaluator) -> None:
        self.exhausted = False
        self.matches = judge.matches
        self.targets = judge.targets

    def fits(self, schema: Subschema, value: Json) -> bool:  # noqa: ARG002 - asked as any judge is
        """Always."""
        return True
