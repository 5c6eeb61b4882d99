"""Read-only mappings that follow one another and differ in little.

Thousands of files, and one that was saved: a mapping that follows another knows
what is other in it, so that nobody has to look through both, and shares the rest
with it, so that nobody has to copy it. Entries are told apart by identity, for
whatever was not made anew is the same object.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import ItemsView, Iterator, KeysView, Mapping, ValuesView
from itertools import compress
from operator import is_not
from typing import Any, TypeVar
from weakref import ref

T = TypeVar("T")

FEW = 512
"""A mapping of no more is written anew at once, so that it holds nothing of the one before."""

MOST_APART = 64
"""So many entries may differ from what is shared before all are written anew; for so long, what
they took the place of is held as well."""


def patched(mapping: Mapping[str, T], changes: Mapping[str, T | None]) -> Mapping[str, T]:
    """`mapping` with `changes` made to it, in the order of keys; None stands for a removal.

    Where that changes nothing, it is `mapping` itself.
    """
    others = {key: entry for key, entry in changes.items() if mapping.get(key) is not entry}
    return _Follower(mapping, others) if others else mapping


def differing(before: Mapping[str, T], after: Mapping[str, T]) -> list[str]:
    """The keys of `after` that are not in `before`, or stand for another object there."""
    if (changed := _changed(before, after)) is not None:
        return [key for key in changed if key in after and after[key] is not before.get(key)]
    return list(compress(after, map(is_not, after.values(), map(before.get, after))))


def missing(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """The keys of `before` that are not in `after`, in the order of keys."""
    if (changed := _changed(before, after)) is not None:
        return [key for key in changed if key in before and key not in after]
    if before.keys() <= after.keys():
        return []
    return sorted(key for key in before if key not in after)


def key_set(mapping: Mapping[str, object]) -> object:
    """Stands for the keys of `mapping`; the same object only where the keys are the same."""
    return mapping.key_set if isinstance(mapping, _Follower) else object()


def beginning(mapping: Mapping[str, object], prefix: str) -> list[str]:
    """The keys of `mapping` that begin with `prefix`, in their order."""
    if not isinstance(mapping, _Follower):
        return [key for key in mapping if key.startswith(prefix)]
    keys, size = mapping.key_set.ordered(mapping.shared), len(prefix)
    start = bisect_left(keys, prefix)
    return keys[start : bisect_right(keys, prefix, lo=start, key=lambda key: key[:size])]


class _KeySet:
    """The keys that several mappings have, as a list once somebody needs it."""

    __slots__ = ("_ordered",)

    def __init__(self) -> None:
        self._ordered: list[str] | None = None

    def ordered(self, shared: Mapping[str, object]) -> list[str]:
        """The keys in their order; `shared` is one of those mappings."""
        if self._ordered is None:
            self._ordered = list(shared)
        return self._ordered


class _Follower(Mapping[str, T]):
    """A mapping that knows which one it followed, as long as that is there, and in which keys.

    Attributes:
        shared: Has the same keys, sorted; never changed, and common to many followers.
        apart: What stands for some of those keys instead.
        followed: The mapping that this one was made from.
        changed: The keys in which it may differ from that one.
        key_set: Stands for its keys.
    """

    __slots__ = ("__weakref__", "apart", "changed", "followed", "key_set", "shared")

    def __init__(self, mapping: Mapping[str, T], changes: Mapping[str, T | None]) -> None:
        self.shared: Mapping[str, T]
        self.apart: Mapping[str, T]
        before = mapping if isinstance(mapping, _Follower) else None
        kept = {key: entry for key, entry in changes.items() if entry is not None}
        same_keys = changes.keys() == kept.keys() <= mapping.keys()
        apart = {**before.apart, **kept} if before else kept
        if before and same_keys and len(before) > FEW and len(apart) <= MOST_APART:
            self.shared, self.apart = before.shared, apart
        else:
            whole = {**before.shared, **before.apart} if before else dict(mapping)
            is_sorted = changes.keys() <= whole.keys()
            for key, entry in changes.items():
                if entry is None:
                    whole.pop(key, None)
                else:
                    whole[key] = entry
            self.shared, self.apart = whole if is_sorted else dict(sorted(whole.items())), {}
        self.followed = ref(before) if before else None
        self.changed = sorted(changes) if before else []
        self.key_set: _KeySet = before.key_set if before and same_keys else _KeySet()

    def __getitem__(self, key: str) -> T:
        return self.apart[key] if key in self.apart else self.shared[key]

    def __contains__(self, key: object) -> bool:
        return key in self.shared

    def __iter__(self) -> Iterator[str]:
        return iter(self.shared)

    def __len__(self) -> int:
        return len(self.shared)

    def get(self, key: str, default: Any = None) -> Any:
        return self.apart[key] if key in self.apart else self.shared.get(key, default)

    def keys(self) -> KeysView[str]:
        return self.shared.keys()

    def values(self) -> ValuesView[T]:
        return ValuesView(self) if self.apart else self.shared.values()

    def items(self) -> ItemsView[str, T]:
        return ItemsView(self) if self.apart else self.shared.items()

    def __eq__(self, other: object) -> bool:
        return self is other or super().__eq__(other)

    __hash__ = None  # type: ignore[assignment]  # as it is with other mappings

    def __repr__(self) -> str:
        return repr(dict(self))


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> list[str] | None:
    """The keys in which `after` may differ from `before`; None if they do not follow each other."""
    if before is after:
        return []
    if isinstance(after, _Follower) and after.followed and after.followed() is before:
        return after.changed
    return None
