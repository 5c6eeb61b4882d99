"""Values of templates: JSON's, the absent value, and the template's own.

An argument's lists and objects are plain `list` and `dict`: trees that never change and are no
larger than the request. A template makes `TemplateList`, `TemplateDict` and `TemplateTuple`,
which may hold a value many times and so carry their weight.

The weight of a value is the minimal number of characters of its text, where a value held twice
counts twice. A builtin pays for the weight of a value before it reads it. A value
heavier than the price of all steps cannot be made, and no value can hold itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TypeVar

from widgetd.core.template.budget import VALUES_PER_STEP, RenderError

if TYPE_CHECKING:
    from widgetd.core.template.budget import Budget

Value = Any

MAX_NESTING: Final = 200

# Every integer common to JSON's readers fits. So does any product on its way to being refused.
MAX_INTEGER: Final = 2**64

# The least text of a value, and the comma after it.
LEAF: Final = 2


class Absent:
    """The value of a missing optional argument, and of anything inside it."""

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


class Sized:
    """A list or object made by the template.

    Attributes:
        weight: Its weight, 0 until it is needed, for a part of a literal weighed as a
            whole, or a list of elements of another value.
        height: Its nesting depth, once it is weighed.
        is_root: Whether no other value holds it, whose weight would change with its own.
    """

    weight = 0
    height = 0
    is_root = False


class TemplateList(list[Value], Sized):
    """A list made by the template."""


class TemplateDict(dict[Value, Value], Sized):
    """An object made by the template."""


class TemplateTuple(tuple[Value, ...], Sized):  # noqa: SLOT001 - Python allows a tuple none
    """A tuple made by the template."""


class Group(TemplateTuple):
    """A group of `groupby`: its key and its list, by position or as `.grouper` and `.list`."""


_MADE: Final = frozenset({TemplateList, TemplateDict, TemplateTuple, Group})
HOLDERS: Final = _MADE | {list, dict, tuple}


class RuntimeObject:
    """A value outside JSON: a macro, a loop, a joiner, a cycler, a namespace."""

    __slots__ = ()

    def call(self, budget: Budget, args: list[Value], kwargs: dict[str, Value]) -> Value:  # noqa: ARG002 - most cannot
        raise RenderError("this cannot be called")

    def member(self, name: Value) -> Value:  # noqa: ARG002 - most have none
        return ABSENT


class Namespace(RuntimeObject):
    """The value of `namespace()`: named values, changed anywhere by `set ns.name = …`."""

    __slots__ = ("values",)

    def __init__(self, values: dict[str, Value]) -> None:
        self.values = values

    def member(self, name: Value) -> Value:
        return self.values.get(name, ABSENT)


def is_nothing(value: Value) -> bool:
    return value is None or value is ABSENT


def kind(value: Value) -> str:
    """Return the type of `value` in the words of JSON, with its article."""
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
    """Return whether `value` is a number for arithmetic. Booleans are, as in Python."""
    return isinstance(value, int | float)


def require_computable(value: Value) -> Value:
    """Return `value` unless it is a number too large to compute with."""
    if type(value) is int and not -MAX_INTEGER < value < MAX_INTEGER:
        raise RenderError("a number is too large to compute with")
    if type(value) is float and value - value != 0:  # infinite, or not a number
        raise RenderError("a number is too large to compute with")
    return value


def whole(value: Value, name: str) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, int):
        raise RenderError(f"'{name}' must be a whole number")
    return value


def member(value: Value, key: Value) -> Value:
    """Return the value under `key`, absent if there is none, never an attribute of Python."""
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
    """Return the elements of a loop, charged. The caller must not change them."""
    if type(value) is list:
        budget.step(len(value))
        return value
    count(budget, value)
    return to_list(value)


def count(budget: Budget, value: Value) -> None:
    if isinstance(value, list | tuple | dict | str):
        budget.step(len(value))


def to_list(value: Value) -> list[Value] | tuple[Value, ...]:
    """Return the elements of `value`, already charged. The caller must not change them."""
    if type(value) is list:
        return value
    if is_nothing(value):
        return ()
    if not isinstance(value, list | tuple | dict | str):
        raise RenderError(f"cannot loop over {kind(value)}")
    return list(value)


def length(value: Value) -> int:
    if value is None:
        return 0
    if isinstance(value, list | tuple | dict | str | Absent):
        return len(value)
    raise RenderError(f"{kind(value)} has no length")


def weigh(budget: Budget, *values: Value) -> None:
    """Charge for everything within `values`, before something reads it."""
    heavy = 0
    for value in values:
        heavy += len(value) if type(value) is str else weight(budget, value)
    budget.scan(heavy)


def weight(budget: Budget, value: Value) -> int:
    """Return the minimal number of characters of the text of `value`, with a comma."""
    if type(value) is str:
        return len(value) + LEAF
    if isinstance(value, list | dict | tuple):
        return measure(budget, value)[0]
    # An argument's integer may have thousands of digits, each worth more than three bits.
    return LEAF + value.bit_length() // 4 if type(value) is int else LEAF


def measure(
    budget: Budget, value: list[Value] | dict[Value, Value] | tuple[Value, ...]
) -> tuple[int, int]:
    """Return the weight of a list or object and its nesting depth, cached with it.

    Raises:
        RenderError: It is heavier than the price of all steps, or nests more deeply than any JSON
            reader would follow, so no walk depends on the rest of Python's stack.
    """
    if isinstance(value, Sized):
        if budget.sizes_stale:
            return _measure_all(budget, value)
        if not value.weight:
            value.weight, value.height = _measure_all(budget, value)
        return value.weight, value.height
    if type(value) is tuple:  # of ours, and gone before the render is over
        return _measure_all(budget, value)
    weighed = budget.weights.get(id(value))
    if weighed is None:
        weighed = budget.weights[id(value)] = (value, *_measure_all(budget, value))
    return weighed[1:]


def _measure_all(budget: Budget, root: Value) -> tuple[int, int]:
    reach = budget.steps * VALUES_PER_STEP
    believed = frozenset() if budget.sizes_stale else _MADE
    weighed: dict[int, tuple[int, int]] = {}
    pending, seen = [root], 0
    while pending:
        value = pending[-1]
        if id(value) in weighed:
            pending.pop()
            continue
        inside = [*value, *value.values()] if isinstance(value, dict) else value
        heavy, height, complete = 1, 1, True
        for item in inside:
            kind_of = type(item)
            if kind_of is str:
                heavy += len(item) + LEAF
            elif kind_of not in HOLDERS and not isinstance(item, list | dict | tuple):
                heavy += weight(budget, item) if kind_of is int else LEAF
            elif (kind_of in believed and item.weight) or id(item) in weighed:
                more, tall = weighed.get(id(item)) or (item.weight, item.height)
                heavy += more
                height = max(height, tall + 1)
            else:
                pending.append(item)
                complete = False
        seen += len(inside)
        if seen > reach or heavy > budget.heaviest:
            raise budget.out_of_steps()
        if height > MAX_NESTING:
            raise too_deep()
        if complete:
            weighed[id(value)] = heavy, height
            pending.pop()
    budget.step(seen // VALUES_PER_STEP)
    return weighed[id(root)]


def sublist(budget: Budget, values: Iterable[Value]) -> TemplateList:
    return _holding(budget, TemplateList(values))


def new_list(budget: Budget, values: Iterable[Value]) -> TemplateList:
    return _holding(budget, TemplateList(values), weighs=True)


def new_dict(budget: Budget, entries: Any) -> TemplateDict:
    return _holding(budget, TemplateDict(entries), weighs=True)


def new_tuple(budget: Budget, values: Iterable[Value]) -> TemplateTuple:
    return _holding(budget, TemplateTuple(values), weighs=True)


def new_unsized(values: Iterable[Value]) -> TemplateList:
    """Return a list of some elements of another value, weighed when its weight is needed."""
    new = TemplateList(values)
    new.is_root = True
    return new


_Holder = TypeVar("_Holder", bound=TemplateList | TemplateDict | TemplateTuple)


def _holding(budget: Budget, holder: _Holder, *, weighs: bool = False) -> _Holder:
    values: Collection[Value] = holder.values() if isinstance(holder, TemplateDict) else holder
    if not _MADE.isdisjoint(map(type, values)):
        for value in values:
            hold(value)
        weighs = True
    if weighs:
        measure(budget, holder)
    holder.is_root = True
    return holder


def with_size(budget: Budget, holder: _Holder, heavy: int, height: int) -> _Holder:
    if heavy > budget.heaviest:
        raise budget.out_of_steps()
    if height > MAX_NESTING:
        raise too_deep()
    holder.weight, holder.height, holder.is_root = heavy, height, True
    return holder


def measure_inside(budget: Budget, value: Value) -> tuple[int, int]:
    """Return the weight and height of a list or object before another holds it."""
    hold(value)
    return measure(budget, value)


def hold(value: Value) -> None:
    if type(value) in _MADE:
        value.is_root = False


def too_deep() -> RenderError:
    return RenderError("lists and objects nest too deeply")


def dict_key(budget: Budget, key: Value) -> Value:
    """Return `key` if an object may have it, charged.

    A large integer may not: a caller can find thousands with the same hash.
    """
    if isinstance(key, str):
        budget.scan(len(key))
    elif isinstance(key, int | float):
        return require_computable(key)
    elif key is not None:
        raise RenderError(f"{kind(key)} cannot be the key of an object")
    return key


def grow(budget: Budget, holder: TemplateList | TemplateDict, added: Collection[Value]) -> None:
    """Add the weight of a value, soon to be `added` to `holder`.

    Raises:
        RenderError: It would hold itself, or be too heavy.
    """
    for value in added:
        if type(value) in _MADE:
            if value is holder or (not holder.is_root and _reaches(budget, value, holder)):
                raise RenderError("a list or an object cannot hold itself")
            value.is_root = False
    if not holder.is_root:
        budget.sizes_stale = True
    if budget.sizes_stale:
        return
    heavy, height = measure(budget, holder)
    for value in added:
        if type(value) in HOLDERS:
            more, tall = measure(budget, value)
            heavy, height = heavy + more, max(height, tall + 1)
        else:
            heavy += weight(budget, value)
    with_size(budget, holder, heavy, height)


def shrink(budget: Budget, holder: TemplateList | TemplateDict, removed: Value) -> None:
    """Subtract from the weight of `holder` what was removed."""
    if holder.weight and not budget.sizes_stale:
        holder.weight -= weight(budget, removed)


def _reaches(budget: Budget, value: Value, sought: TemplateList | TemplateDict) -> bool:
    level, seen = [value], {id(value)}
    while level:
        inside: list[Value] = []
        for container in level:
            budget.step(len(container) // VALUES_PER_STEP)
            for held in container.values() if isinstance(container, dict) else container:
                if held is sought:
                    return True
                if type(held) in _MADE and id(held) not in seen:
                    seen.add(id(held))
                    inside.append(held)
        level = inside
    return False


def part(budget: Budget, value: Value, start: Value, stop: Value, step: Value) -> Value:
    """Return the slice of a list or text, charged before it is made."""
    if is_nothing(value):
        return ABSENT
    if not isinstance(value, list | tuple | str):
        raise RenderError(f"cannot take a slice of {kind(value)}")
    cut = slice(_slice_bound(start), _slice_bound(stop), _slice_bound(step))
    if cut.step == 0:
        raise RenderError("a slice cannot have steps of zero")
    size = len(range(*cut.indices(len(value))))
    if isinstance(value, str):
        budget.text(size)
        return value[cut]
    budget.step(size)
    return sublist(budget, value[cut])


def _slice_bound(value: Value) -> int | None:
    if is_nothing(value):
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int):
        return value
    raise RenderError(f"a slice cannot start, stop or step at {kind(value)}")
