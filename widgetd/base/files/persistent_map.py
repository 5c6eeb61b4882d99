"""Read-only mappings that share all but a few entries with their predecessors.

Of thousands of files, one was saved: the new mapping knows which keys differ from the mapping
before it, so no caller compares both, and shares the rest, so nothing is copied. Entries are
compared by identity, because an unchanged entry is the same object.
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
"""A mapping of at most this size is copied as a whole, so that it retains nothing of its
predecessor.
"""

MOST_APART = 64
"""Number of entries that may differ from the shared mapping before everything is copied.

Until then, the shared mapping retains the entries that they replaced.
"""


def patch(mapping: Mapping[str, T], changes: Mapping[str, T | None]) -> Mapping[str, T]:
    """Return `mapping` with `changes` applied, in the order of keys; None removes a key.

    Returns `mapping` itself if nothing changes.
    """
    others = {key: entry for key, entry in changes.items() if mapping.get(key) is not entry}
    return _Follower(mapping, others) if others else mapping


def list_differing(before: Mapping[str, T], after: Mapping[str, T]) -> list[str]:
    """Return the keys of `after` that `before` lacks or has with another object."""
    if (changed := _changed_keys(before, after)) is not None:
        return [key for key in changed if key in after and after[key] is not before.get(key)]
    return list(compress(after, map(is_not, after.values(), map(before.get, after))))


def list_missing(before: Mapping[str, object], after: Mapping[str, object]) -> list[str]:
    """Return the keys of `before` that `after` lacks, in order."""
    if (changed := _changed_keys(before, after)) is not None:
        return [key for key in changed if key in before and key not in after]
    if before.keys() <= after.keys():
        return []
    return sorted(key for key in before if key not in after)


def key_set(mapping: Mapping[str, object]) -> object:
    """Return an object that identifies the keys of `mapping`: the same one only for equal keys."""
    return mapping.key_set if isinstance(mapping, _Follower) else object()


def list_below(mapping: Mapping[str, object], prefix: str) -> list[str]:
    """Return the keys of `mapping` that start with `prefix`, in order."""
    if not isinstance(mapping, _Follower):
        return [key for key in mapping if key.startswith(prefix)]
    keys, size = mapping.key_set.list_keys(mapping.shared), len(prefix)
    start = bisect_left(keys, prefix)
    return keys[start : bisect_right(keys, prefix, lo=start, key=lambda key: key[:size])]


class _KeySet:
    """The keys that several mappings have in common, listed on first use."""

    __slots__ = ("_ordered",)

    def __init__(self) -> None:
        self._ordered: list[str] | None = None

    def list_keys(self, shared: Mapping[str, object]) -> list[str]:
        """Return the keys in order; `shared` is one of those mappings."""
        if self._ordered is None:
            self._ordered = list(shared)
        return self._ordered


class _Follower(Mapping[str, T]):
    """A mapping that knows its predecessor, while that exists, and the keys that may differ.

    Attributes:
        shared: Has the same keys, sorted; never changes and serves many followers.
        apart: Entries that replace those of `shared`.
        followed: The predecessor.
        changed: Keys that may differ from the predecessor.
        key_set: Identifies the keys.
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


def _changed_keys(before: Mapping[str, object], after: Mapping[str, object]) -> list[str] | None:
    if before is after:
        return []
    if isinstance(after, _Follower) and after.followed and after.followed() is before:
        return after.changed
    return None
