"""Values of owners expire, and expired ones make room first."""

from __future__ import annotations

from widgetd.server.store.owned import OwnedEntries


def test_value_is_found_until_its_time_is_over() -> None:
    now = [0.0]
    entries = OwnedEntries[str](most=8, most_bytes=8, ttl_s=10, clock=lambda: now[0])
    entries.put("a", "long", owner="ada", size_bytes=1)
    entries.put("b", "short", owner="ada", size_bytes=1, ttl_s=5)

    now[0] = 5.0
    assert (entries.get("a"), entries.get("b")) == ("long", None)
    now[0] = 10.0
    assert entries.get("a") is None
    assert len(entries) == entries.size_bytes == 0


def test_touched_value_is_dropped_later_and_expires_as_before() -> None:
    now = [0.0]
    entries = OwnedEntries[str](most=2, most_bytes=8, ttl_s=10, clock=lambda: now[0])
    entries.put("a", "a", owner="ada", size_bytes=1)
    entries.put("b", "b", owner="ada", size_bytes=1)
    now[0] = 9.0
    entries.touch("a", size_bytes=3)
    assert entries.size_bytes == 4

    entries.put("c", "c", owner="ada", size_bytes=1)
    assert (entries.get("a"), entries.get("b"), entries.get("c")) == ("a", None, "c")
    now[0] = 10.0
    assert (entries.get("a"), entries.get("c")) == (None, "c")


def test_expired_value_of_one_owner_makes_room_before_another_owner_loses_one() -> None:
    now = [0.0]
    entries = OwnedEntries[str](most=3, most_bytes=8, ttl_s=10, clock=lambda: now[0])
    entries.put("bo's", "b", owner="bo", size_bytes=1)
    now[0] = 1.0
    for key in ("a", "b"):
        entries.put(key, key, owner="ada", size_bytes=1)

    now[0] = 10.0
    entries.put("c", "c", owner="ada", size_bytes=1)
    assert [entries.get(key) for key in ("bo's", "a", "b", "c")] == [None, "a", "b", "c"]


def test_value_of_an_owner_is_private_and_leaves_no_entry_once_expired() -> None:
    now = [0.0]
    entries = OwnedEntries[str](most=8, most_bytes=8, ttl_s=10, clock=lambda: now[0])
    entries.put("a", "a", owner="ada", size_bytes=1)
    assert (entries.get("a", "bo"), entries.get("a", "ada")) == (None, "a")

    now[0] = 10.0
    entries.expire()
    assert len(entries) == entries.size_bytes == 0
