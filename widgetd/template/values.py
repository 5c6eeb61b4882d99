"""The values a template works with: JSON's, the absent one, and what the template makes.

An argument's lists and objects are plain `list` and `dict`: trees, never changed.
What a template makes is `Made` or `MadeDict` (or a tuple): it may be appended
to, and may hold one value many times over, so whoever walks it pays per step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from widgetd.template.budget import Failure

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Value = Any

MAX_NESTING: Final = 200


class Absent:
    """The value of what is not there: an optional argument left out, or anything inside it."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return False

    def __eq__(self, other: object) -> bool:
        return other is None or isinstance(other, Absent)

    def __hash__(self) -> int:
        return hash(None)

    def __iter__(self) -> Iterator[Value]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "absent"


ABSENT: Final = Absent()


class Made(list[Value]):
    """A list the template made."""

    __slots__ = ()


class MadeDict(dict[Value, Value]):
    """An object the template made."""

    __slots__ = ()


class Group(tuple[Value, Value]):
    """One group of `groupby`: its key and its list, by position or as `.grouper` and `.list`."""

    __slots__ = ()


class Routine:
    """What a template holds that is no JSON: a macro, a loop, a joiner, a cycler, a namespace."""

    __slots__ = ()

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:  # noqa: ARG002 - most cannot
        """The value of calling this with evaluated arguments."""
        raise Failure("this cannot be called")

    def member(self, name: Value) -> Value:  # noqa: ARG002 - most have none
        """The value of the attribute `name`."""
        return ABSENT


class Namespace(Routine):
    """What `namespace()` makes: named values that `set ns.name = …` may change anywhere."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Value]) -> None:
        self.values = values

    def member(self, name: Value) -> Value:
        """The value set under `name`."""
        return self.values.get(name, ABSENT)


def is_nothing(value: Value) -> bool:
    """Whether `value` is null or absent."""
    return value is None or value is ABSENT


def kind(value: Value) -> str:
    """What `value` is, in the words of JSON, with its article."""
    if is_nothing(value):
        return "nothing"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    if isinstance(value, list | tuple):
        return "a list"
    return "an object" if isinstance(value, dict) else "a function"


def member(value: Value, key: Value) -> Value:
    """What `value` holds under `key`, or the absent value; never anything of Python's."""
    if isinstance(value, dict):
        return _entry(value, key)
    if isinstance(value, list | tuple | str):
        return _element(value, key)
    return value.member(key) if isinstance(value, Routine) else ABSENT


def _entry(value: dict[Value, Value], key: Value) -> Value:
    try:
        return value.get(key, ABSENT)
    except TypeError:  # a list or an object is no key
        return ABSENT


def _element(value: list[Value] | tuple[Value, ...] | str, key: Value) -> Value:
    if type(key) is float and key.is_integer():
        key = int(key)
    if isinstance(key, int):
        return value[key] if -len(value) <= key < len(value) else ABSENT
    if key == "length":
        return len(value)
    if isinstance(value, Group) and key in {"grouper", "list"}:
        return value[key == "list"]
    return ABSENT


def elements(budget: Budget, value: Value) -> list[Value] | tuple[Value, ...]:
    """What a loop over `value` runs through, paid for; a list the caller must not change."""
    if type(value) is list:
        budget.step(len(value))
        return value
    if is_nothing(value):
        return ()
    if not isinstance(value, list | tuple | dict | str):
        raise Failure(f"cannot loop over {kind(value)}")
    budget.step(len(value))
    return list(value)


def length(value: Value) -> int:
    """How many elements, entries or characters `value` has."""
    if value is None:
        return 0
    if isinstance(value, list | tuple | dict | str | Absent):
        return len(value)
    raise Failure(f"{kind(value)} has no length")


def weigh(budget: Budget, *values: Value) -> None:
    """Pay one step for each node inside `values`, before something walks them unpaid.

    What nests deeper than any JSON reader would follow is refused, so that no
    walk depends on how much of Python's stack is left.
    """
    level = list(values)
    characters = count = depth = 0
    while level:
        inside: list[Value] = []
        for value in level:
            if isinstance(value, str):
                characters += len(value)
            elif isinstance(value, dict):
                inside += value.values()
            elif isinstance(value, list | tuple):
                inside += value
        count += len(level)
        depth += 1
        if count + len(inside) > budget.steps:
            raise budget.out_of_steps()
        if depth > MAX_NESTING:
            raise Failure("lists and objects nest too deeply")
        level = inside
    budget.step(count)
    budget.scan(characters)


def part(budget: Budget, value: Value, start: Value, stop: Value, step: Value) -> Value:
    """The slice of a list or text, paid for before it is made."""
    if is_nothing(value):
        return ABSENT
    if not isinstance(value, list | tuple | str):
        raise Failure(f"cannot take a slice of {kind(value)}")
    cut = slice(_bound(start), _bound(stop), _bound(step))
    if cut.step == 0:
        raise Failure("a slice cannot have steps of zero")
    count = len(range(*cut.indices(len(value))))
    if isinstance(value, str):
        budget.text(count)
        return value[cut]
    budget.step(count)
    return Made(value[cut])


def _bound(value: Value) -> int | None:
    if is_nothing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    raise Failure(f"a slice cannot start, stop or step at {kind(value)}")
