"""The values a template works with: JSON's, the absent one, and what the template makes.

An argument's lists and objects are plain `list` and `dict`: trees, never changed,
and no larger than what was sent. What a template makes is `Made`, `MadeDict` or
`MadeTuple`: it may hold one value many times over, so it knows what it weighs.

The weight of a value is the number of characters that its text has at least,
what it holds twice counted twice. A builtin pays for the weight of what it reads
before it begins; what weighs more than all steps could pay for cannot be made,
and nothing can come to hold itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from widgetd.template.budget import VALUES_PER_STEP, Failure

if TYPE_CHECKING:
    from widgetd.template.budget import Budget

Value = Any

MAX_NESTING: Final = 200

# Every integer that JSON's readers agree on fits; so does any product on its way to being refused.
MAX_INTEGER: Final = 2**64

# The least text that a value has, and the comma after it.
LEAF: Final = 2


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


class Weighed:
    """What the template made of other values.

    Attributes:
        weight: What it weighs, or 0 as long as nobody asked: then it is a part of a
            literal that was weighed, or holds elements that were picked from one value.
        height: How deep it nests, once it is weighed.
        alone: Whether no other value holds it, whose weight would change with its own.
    """

    weight = 0
    height = 0
    alone = False


class Made(list[Value], Weighed):
    """A list the template made."""


class MadeDict(dict[Value, Value], Weighed):
    """An object the template made."""


class MadeTuple(tuple[Value, ...], Weighed):  # noqa: SLOT001 - Python allows a tuple none
    """A tuple the template made."""


class Group(MadeTuple):
    """One group of `groupby`: its key and its list, by position or as `.grouper` and `.list`."""


_MADE: Final = frozenset({Made, MadeDict, MadeTuple, Group})
HOLDERS: Final = _MADE | {list, dict, tuple}


class RuntimeObject:
    """What a template holds that is no JSON: a macro, a loop, a joiner, a cycler, a namespace."""

    __slots__ = ()

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:  # noqa: ARG002 - most cannot
        """The value of calling this with evaluated arguments."""
        raise Failure("this cannot be called")

    def member(self, name: Value) -> Value:  # noqa: ARG002 - most have none
        """The value of the attribute `name`."""
        return ABSENT


class Namespace(RuntimeObject):
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


def is_number(value: Value) -> bool:
    """Whether `value` can be computed with; true and false can, as in Python."""
    return isinstance(value, int | float)


def checked(value: Value) -> Value:
    """`value`, if it is small enough a number to compute with at once, or no number."""
    if type(value) is int and not -MAX_INTEGER < value < MAX_INTEGER:
        raise Failure("a number is too large to compute with")
    if type(value) is float and value - value != 0:  # infinite, or not a number
        raise Failure("a number is too large to compute with")
    return value


def whole(value: Value, name: str) -> int:
    """`value` as an integer that may serve as a size; `name` says of what, if it is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise Failure(f"'{name}' must be a whole number")
    return value


def member(value: Value, key: Value) -> Value:
    """What `value` holds under `key`, or the absent value; never anything of Python's."""
    if isinstance(value, dict):
        return value.get(key, ABSENT) if isinstance(key, str | int | float | None) else ABSENT
    if isinstance(value, RuntimeObject):
        return value.member(key)
    if not isinstance(value, list | tuple | str):
        return ABSENT
    if type(key) is float and key.is_integer():
        key = int(key)
    if isinstance(key, int):
        return value[key] if -len(value) <= key < len(value) else ABSENT
    if key == "length":
        return len(value)
    if isinstance(value, Group) and isinstance(key, str) and key in {"grouper", "list"}:
        return value[key == "list"]
    return ABSENT


def elements(budget: Budget, value: Value) -> list[Value] | tuple[Value, ...]:
    """What a loop over `value` runs through, paid for; a list the caller must not change."""
    if type(value) is list:
        budget.step(len(value))
        return value
    count(budget, value)
    return listed(value)


def count(budget: Budget, value: Value) -> None:
    """Pay one step for each element of `value`, which something is about to run through."""
    if isinstance(value, list | tuple | dict | str):
        budget.step(len(value))


def listed(value: Value) -> list[Value] | tuple[Value, ...]:
    """The elements of `value`, which were paid for; a list the caller must not change."""
    if type(value) is list:
        return value
    if is_nothing(value):
        return ()
    if not isinstance(value, list | tuple | dict | str):
        raise Failure(f"cannot loop over {kind(value)}")
    return list(value)


def length(value: Value) -> int:
    """How many elements, entries or characters `value` has."""
    if value is None:
        return 0
    if isinstance(value, list | tuple | dict | str | Absent):
        return len(value)
    raise Failure(f"{kind(value)} has no length")


def weigh(budget: Budget, *values: Value) -> None:
    """Pay for all that `values` reach, before something reads it."""
    heavy = 0
    for value in values:
        heavy += len(value) if type(value) is str else weight(budget, value)
    budget.scan(heavy)


def weight(budget: Budget, value: Value) -> int:
    """How many characters the text of `value` has at least, and a comma after it."""
    if type(value) is str:
        return len(value) + LEAF
    if isinstance(value, list | dict | tuple):
        return measured(budget, value)[0]
    # An argument's integer may have thousands of digits, each worth more than three bits.
    return LEAF + value.bit_length() // 4 if type(value) is int else LEAF


def measured(
    budget: Budget, value: list[Value] | dict[Value, Value] | tuple[Value, ...]
) -> tuple[int, int]:
    """The weight of a list or object, and how deep it nests; kept with it, or in the budget.

    Raises:
        Failure: where it weighs more than all steps could pay for, or nests more
            deeply than any JSON reader would follow, so that no walk depends on
            how much of Python's stack is left.
    """
    if isinstance(value, Weighed):
        if budget.loose:
            return _walked(budget, value)
        if not value.weight:
            value.weight, value.height = _walked(budget, value)
        return value.weight, value.height
    if type(value) is tuple:  # of ours, and gone before the render is over
        return _walked(budget, value)
    known = budget.weights.get(id(value))
    if known is None:
        known = budget.weights[id(value)] = (value, *_walked(budget, value))
    return known[1:]


def _walked(budget: Budget, root: Value) -> tuple[int, int]:
    """The weight and height of `root`, each value below it looked at once, however often held."""
    reach = budget.steps * VALUES_PER_STEP
    believed = frozenset() if budget.loose else _MADE
    known: dict[int, tuple[int, int]] = {}
    pending, seen = [root], 0
    while pending:
        value = pending[-1]
        if id(value) in known:
            pending.pop()
            continue
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        heavy, height, complete = 1, 1, True
        for each in inside:
            kind_of = type(each)
            if kind_of is str:
                heavy += len(each) + LEAF
            elif kind_of not in HOLDERS and not isinstance(each, list | dict | tuple):
                heavy += weight(budget, each) if kind_of is int else LEAF
            elif (kind_of in believed and each.weight) or id(each) in known:
                more, tall = known.get(id(each)) or (each.weight, each.height)
                heavy += more
                height = max(height, tall + 1)
            else:
                pending.append(each)
                complete = False
        seen += len(inside)
        if seen > reach or heavy > budget.heaviest:
            raise budget.out_of_steps()
        if height > MAX_NESTING:
            raise too_deep()
        if complete:
            known[id(value)] = heavy, height
            pending.pop()
    budget.step(seen // VALUES_PER_STEP)
    return known[id(root)]


def picked(budget: Budget, values: Iterable[Value]) -> Made:
    """A list of `values`, each paid for, which all are of one value, and each once."""
    return _holding(budget, Made(values))


def made(budget: Budget, values: Iterable[Value]) -> Made:
    """A list of any `values`, each paid for."""
    return _holding(budget, Made(values), weighs=True)


def made_dict(budget: Budget, entries: Any) -> MadeDict:
    """An object of `entries`, each paid for."""
    return _holding(budget, MadeDict(entries), weighs=True)


def made_tuple(budget: Budget, values: Iterable[Value]) -> MadeTuple:
    """A tuple of `values`, each paid for."""
    return _holding(budget, MadeTuple(values), weighs=True)


def unweighed(values: Iterable[Value]) -> Made:
    """A list of parts just made of one value's elements, each there once; weighed when asked."""
    new = Made(values)
    new.alone = True
    return new


_Holder = TypeVar("_Holder", bound=Made | MadeDict | MadeTuple)


def _holding(budget: Budget, holder: _Holder, *, weighs: bool = False) -> _Holder:
    """`holder`, weighed at once if that is wanted, or it holds what the template made."""
    values: Collection[Value] = holder.values() if isinstance(holder, MadeDict) else holder
    if not _MADE.isdisjoint(map(type, values)):
        for value in values:
            hold(value)
        weighs = True
    if weighs:
        measured(budget, holder)
    holder.alone = True
    return holder


def weighed(budget: Budget, holder: _Holder, heavy: int, height: int) -> _Holder:
    """`holder`, just made, which is known to weigh `heavy` and to nest `height` deep."""
    if heavy > budget.heaviest:
        raise budget.out_of_steps()
    if height > MAX_NESTING:
        raise too_deep()
    holder.weight, holder.height, holder.alone = heavy, height, True
    return holder


def placed(budget: Budget, value: Value) -> tuple[int, int]:
    """The weight and height of a list or object that is about to be held by another."""
    hold(value)
    return measured(budget, value)


def hold(value: Value) -> None:
    """Note that another value holds this one."""
    if type(value) in _MADE:
        value.alone = False


def too_deep() -> Failure:
    """The failure of making or reading what nests too deeply."""
    return Failure("lists and objects nest too deeply")


def dict_key(budget: Budget, key: Value) -> Value:
    """`key`, if an object may have it, paid for.

    A large integer may not: a caller can find thousands that meet in one place of a table.
    """
    if isinstance(key, str):
        budget.scan(len(key))
    elif isinstance(key, int | float):
        return checked(key)
    elif key is not None:
        raise Failure(f"{kind(key)} cannot be the key of an object")
    return key


def grow(budget: Budget, holder: Made | MadeDict, added: Collection[Value]) -> None:
    """Make `holder` weigh what it does with `added`, which is about to go into it.

    Raises:
        Failure: where it would come to hold itself, or to weigh too much.
    """
    for value in added:
        if type(value) in _MADE:
            if value is holder or (not holder.alone and _reaches(budget, value, holder)):
                raise Failure("a list or an object cannot hold itself")
            value.alone = False
    if not holder.alone:
        budget.loose = True
    if budget.loose:
        return
    heavy, height = measured(budget, holder)
    for value in added:
        if type(value) in HOLDERS:
            more, tall = measured(budget, value)
            heavy, height = heavy + more, max(height, tall + 1)
        else:
            heavy += weight(budget, value)
    weighed(budget, holder, heavy, height)


def shrink(budget: Budget, holder: Made | MadeDict, removed: Value) -> None:
    """Make `holder` weigh what it does without `removed`."""
    if holder.weight and not budget.loose:
        holder.weight -= weight(budget, removed)


def _reaches(budget: Budget, value: Value, sought: Made | MadeDict) -> bool:
    """Whether `value` holds `sought`, however deep; each value it holds is looked at once."""
    level, seen = [value], {id(value)}
    while level:
        inside: list[Value] = []
        for each in level:
            budget.step(len(each) // VALUES_PER_STEP)
            for held in each.values() if isinstance(each, dict) else each:
                if held is sought:
                    return True
                if type(held) in _MADE and id(held) not in seen:
                    seen.add(id(held))
                    inside.append(held)
        level = inside
    return False


def part(budget: Budget, value: Value, start: Value, stop: Value, step: Value) -> Value:
    """The slice of a list or text, paid for before it is made."""
    if is_nothing(value):
        return ABSENT
    if not isinstance(value, list | tuple | str):
        raise Failure(f"cannot take a slice of {kind(value)}")
    cut = slice(_bound(start), _bound(stop), _bound(step))
    if cut.step == 0:
        raise Failure("a slice cannot have steps of zero")
    size = len(range(*cut.indices(len(value))))
    if isinstance(value, str):
        budget.text(size)
        return value[cut]
    budget.step(size)
    return picked(budget, value[cut])


def _bound(value: Value) -> int | None:
    if is_nothing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    raise Failure(f"a slice cannot start, stop or step at {kind(value)}")
