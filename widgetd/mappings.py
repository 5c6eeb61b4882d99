"""Read-only mappings that follow one another and differ in little.

Thousands of files, and one that was saved: a mapping that follows another knows
what is other in it, so that nobody has to look through both. Entries are told
apart by identity, for whatever was not made anew is the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from operator import is_not
from typing import NoReturn, TypeVar
from weakref import ref

T = TypeVar("T")


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


class _Follower(dict[str, T]):
    """A mapping that knows which one it followed, as long as that is there, and in which keys."""

    __slots__ = ("__weakref__", "changed", "followed")

    def __init__(self, mapping: Mapping[str, T], changes: Mapping[str, T | None]) -> None:
        super().__init__(mapping)
        for key, entry in changes.items():
            if entry is None:
                super().pop(key, None)
            else:
                super().__setitem__(key, entry)
        if not changes.keys() <= mapping.keys():
            ordered = sorted(self.items())
            super().clear()
            super().update(ordered)
        self.followed = ref(mapping) if isinstance(mapping, _Follower) else None
        self.changed = sorted(changes) if self.followed else []

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("this mapping is read-only")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse


def _changed(before: Mapping[str, object], after: Mapping[str, object]) -> list[str] | None:
    """The keys in which `after` may differ from `before`; None if they do not follow each other."""
    if before is after:
        return []
    if isinstance(after, _Follower) and after.followed and after.followed() is before:
        return after.changed
    return None
