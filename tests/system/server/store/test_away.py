"""A server that goes away and returns: each replica continues alone, logs it once, and recovers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import anyio
import pytest
from anyio.abc import TaskGroup

from tests.support.logs import Events, captured_logs
from tests.support.patience import PATIENCE_S
from tests.system.server.store.replicas import Clock, stored_render
from tests.system.server.store.server import Server
from widgetd.base.errors import ConfigError
from widgetd.server.store.contract import Awaited, Bounds, StoredRender
from widgetd.server.store.factory import Store, open_store
from widgetd.server.store.limits import LIMITS

NEVER_S = 600.0


def start_reader(tasks: TaskGroup, store: Store) -> list[Awaited]:
    """Start a read of the actions in `tasks` and return the list that its result will be in."""
    answers: list[Awaited] = []

    async def wait() -> None:
        answers.append(await store.actions.read("r1", timeout_s=NEVER_S))

    tasks.start_soon(wait)
    return answers


@pytest.fixture
def events() -> Iterator[Events]:
    """Return the store's log events."""
    with captured_logs() as events:
        yield events


async def tap(store: Store, number: int) -> int:
    return await store.actions.append("r1", "tap", number, idempotency_key=str(number))


async def follow(store: Store, after: int) -> tuple[list[int], int]:
    """Read all actions by following `next`."""
    seqs: list[int] = []
    while True:
        read = await store.actions.read("r1", after=after, timeout_s=0.0)
        seqs += [action.payload for action in read.actions]
        after = read.next
        if not read.actions:
            return seqs, after


async def test_server_outage_and_return_are_each_reported_once(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as store:
        assert store.mode() == "shared"
        server.kill()
        async with anyio.create_task_group() as tasks:
            for number in range(50):
                tasks.start_soon(store.renders.put, stored_render(f"r{number}"))
        assert store.mode() == "degraded"
        with anyio.fail_after(PATIENCE_S):
            server.start()
            await events.wait_for("store.recovered")
        assert store.mode() == "shared"

    degraded, recovered = events.all
    assert degraded.pop("problem")
    assert degraded == {"event": "store.degraded", "level": "warning", "server": server.url}
    assert recovered == {"event": "store.recovered", "level": "info", "server": server.url}


async def test_loss_of_a_server_is_noticed_without_any_call(server: Server, events: Events) -> None:
    async with open_store(server.url):
        server.kill()
        with anyio.fail_after(PATIENCE_S):
            await events.wait_for("store.degraded")


async def test_store_opens_without_its_server_and_finds_it_later(
    server: Server, events: Events
) -> None:
    server.kill()
    async with open_store(server.url) as store:
        assert store.mode() == "degraded"
        await store.renders.put(stored_render("r1"))
        assert await store.renders.get("r1") == stored_render("r1")
        with anyio.fail_after(PATIENCE_S):
            server.start()
            await events.wait_for("store.recovered")

    assert events.names() == ["store.degraded", "store.recovered"]


async def test_no_call_waits_for_a_server_known_to_be_away(server: Server, events: Events) -> None:
    async with open_store(server.url, bounds=Bounds(rate_per_s=1.0, at_once=1)) as store:
        server.freeze()
        await store.renders.put(stored_render("r1"))
        assert events.names() == ["store.degraded"]

        # Any one of these would take as long if it asked the server.
        with anyio.fail_after(LIMITS.command_s):
            await store.renders.put(stored_render("r2"))
            assert await store.renders.get("never") is None
            await tap(store, 1)
            assert (await store.actions.read("r1")).status == "actions"
            await store.idempotency.remember("k", {})
            assert (await store.limits.take("ann")).is_allowed
            async with store.limits.slot("ann") as verdict:
                assert verdict.is_allowed
        server.thaw()


async def test_local_copies_are_readable_during_an_outage(server: Server, events: Events) -> None:
    async with open_store(server.url) as here, open_store(server.url) as there:
        await here.renders.put(stored_render("r1"))
        await here.idempotency.remember("k", {"seat": "12A"})
        assert await there.renders.get("r1") is not None
        server.kill()

        assert await here.renders.get("r1") == stored_render("r1")
        assert await there.renders.get("r1") == stored_render("r1")
        assert await here.idempotency.recall("k") == {"seat": "12A"}
        assert await there.idempotency.recall("k") is None

    assert set(events.names()) == {"store.degraded"}


async def test_replacement_in_an_outage_is_the_newest_for_all_after_it(server: Server) -> None:
    def says(text: str) -> Callable[[StoredRender], StoredRender]:
        return lambda standing: replace(standing, text=text)

    async with open_store(server.url) as here, open_store(server.url) as there:
        await here.renders.put(stored_render("r1", text="first"))
        assert await there.renders.get("r1") is not None
        server.kill()
        await here.renders.put(stored_render("r2"))
        await here.renders.replace("r1", says("second"))
        third = await here.renders.replace("r1", says("third"))
        server.start()
        # Without a reader at the replica that has the version.
        followed = await there.renders.wait_for_newer("r1", after=1, timeout_s=PATIENCE_S)
        await there.renders.put(stored_render("r1", text="first"))  # as it knew it

        assert await there.renders.get("r2") is not None
        assert third is not None
        assert third.version == 3
        assert followed == await here.renders.get("r1") == await there.renders.get("r1") == third


async def test_limits_go_on_in_each_replica_alone(server: Server, events: Events) -> None:
    bounds = Bounds(rate_per_s=1.0, burst=2.0, at_once=1)
    async with open_store(server.url, bounds=bounds, clock=Clock()) as store:
        server.kill()

        verdicts = [(await store.limits.take("ann")).is_allowed for _ in range(3)]
        async with store.limits.slot("ann") as first, store.limits.slot("ann") as second:
            places = [first.is_allowed, second.is_allowed]

    assert verdicts == [True, True, False]
    assert places == [True, False]
    assert events.names() == ["store.degraded"]


async def test_call_outlives_the_server_that_counts_it(server: Server, events: Events) -> None:
    async with open_store(server.url, bounds=Bounds(at_once=1)) as store:
        async with store.limits.slot("ann") as verdict:
            server.kill()

        assert verdict.is_allowed
        async with store.limits.slot("ann") as verdict:
            assert verdict.is_allowed

    assert events.names() == ["store.degraded"]


async def test_reader_waiting_at_the_start_of_an_outage_gets_later_actions(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as store:
        await store.renders.put(stored_render("r1"))

        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                answers = start_reader(tasks, store)
                await anyio.wait_all_tasks_blocked()
                server.kill()
                await events.wait_for("store.degraded")
                await tap(store, 1)

    assert [action.payload for action in answers[0].actions] == [1]


async def test_reader_waiting_at_the_end_of_an_outage_gets_later_actions(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as here, open_store(server.url) as there:
        await here.renders.put(stored_render("r1"))

        with anyio.fail_after(PATIENCE_S):
            server.kill()
            await events.wait_for("store.degraded")
            async with anyio.create_task_group() as tasks:
                answers = start_reader(tasks, here)
                server.start()
                while (here.mode(), there.mode()) != ("shared", "shared"):
                    events.all.clear()
                    await events.wait_for("store.recovered")
                await tap(there, 1)

    assert [action.payload for action in answers[0].actions] == [1]


async def test_waiting_reader_gets_actions_that_another_replica_queued_meanwhile(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as here:
        await here.renders.put(stored_render("r1"))

        with anyio.fail_after(PATIENCE_S):
            server.kill()
            await events.wait_for("store.degraded")
            async with anyio.create_task_group() as tasks:
                answers = start_reader(tasks, here)
                server.start()
                async with open_store(server.url) as there:
                    await tap(there, 1)

    assert [action.payload for action in answers[0].actions] == [1]


async def test_actions_of_before_while_and_after_are_read_in_order(
    server: Server, events: Events
) -> None:
    clock = Clock()
    async with open_store(server.url, clock=clock) as store:
        await store.renders.put(stored_render("r1"))
        for number in (1, 2):
            await tap(store, number)
        read = await store.actions.read("r1")
        cursor = read.next
        clock.now += 1.0
        await tap(store, 3)
        server.freeze()
        clock.now += 1.0
        await tap(store, 4)
        await tap(store, 5)
        assert events.names() == ["store.degraded"]
        server.thaw()
        with anyio.fail_after(PATIENCE_S):
            await events.wait_for("store.recovered")
        clock.now += 1.0
        await tap(store, 6)

        seqs, cursor = await follow(store, cursor)
        await tap(store, 7)
        rest, _ = await follow(store, cursor)

    assert seqs == [3, 4, 5, 6]
    assert rest == [7]


async def test_actions_queued_during_an_outage_are_read_in_every_replica(
    server: Server, events: Events
) -> None:
    seqs: list[int] = []
    cursor = 0
    async with open_store(server.url) as here, open_store(server.url) as there:
        await here.renders.put(stored_render("r1"))
        server.freeze()
        for number in (1, 2, 3):
            await tap(here, number)
        assert events.names() == ["store.degraded"]
        server.thaw()
        with anyio.fail_after(PATIENCE_S):
            while len(seqs) < 3:
                read = await there.actions.read("r1", after=cursor, timeout_s=NEVER_S)
                seqs += [action.payload for action in read.actions]
                cursor = read.next
        again, _ = await follow(here, cursor)

    assert seqs == [1, 2, 3]
    assert again == []


async def test_values_rejected_by_a_full_server_are_stored_locally(
    server: Server, events: Events
) -> None:
    async with open_store(server.url, bounds=Bounds(actions=2), clock=Clock()) as store:
        await store.renders.put(stored_render("r1"))
        await tap(store, 1)
        await tap(store, 2)
        server.freeze()
        await store.renders.put(stored_render("r2"))
        await tap(store, 3)
        assert events.names() == ["store.degraded"]
        server.thaw()
        with anyio.fail_after(PATIENCE_S):
            await events.wait_for("store.recovered")

        seqs, _ = await follow(store, 0)

    assert seqs == [1, 2, 3]


async def test_answer_lost_during_an_outage_is_given_again(server: Server, events: Events) -> None:
    async with open_store(server.url) as store:
        await store.renders.put(stored_render("r1"))
        server.kill()
        await tap(store, 1)
        await store.actions.read("r1")
        with anyio.fail_after(PATIENCE_S):
            server.start()
            await events.wait_for("store.recovered")

        seqs, cursor = await follow(store, 0)
        again, _ = await follow(store, cursor)

    assert seqs == [1]
    assert again == []


async def test_server_that_returns_empty_loses_no_later_action(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as store:
        await store.renders.put(stored_render("r1"))
        for number in range(1, 4):
            await tap(store, number)
        _, cursor = await follow(store, 0)
        server.kill()
        with anyio.fail_after(PATIENCE_S):
            server.start()
            await events.wait_for("store.recovered")

        expired = await store.actions.read("r1", after=cursor, timeout_s=0.0)
        await tap(store, 4)
        seqs, _ = await follow(store, expired.next)

    assert expired.status == "timeout"
    assert seqs == [4]


async def test_render_of_another_replica_is_not_called_expired_while_the_server_is_away(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as store:
        server.kill()
        with anyio.fail_after(PATIENCE_S):
            await events.wait_for("store.degraded")

        read = await store.actions.read("r-of-another", timeout_s=0.0)

    assert read.status == "timeout"


async def test_read_only_server_counts_as_away(server: Server, events: Events) -> None:
    with server.client() as client:
        client.config_set("maxmemory", 1)
    async with open_store(server.url) as store:
        await store.renders.put(stored_render("r1"))

        assert store.mode() == "degraded"
        assert await store.renders.get("r1") == stored_render("r1")

    assert events.names() == ["store.degraded"]


async def test_draining_reaches_waiting_readers_while_the_server_is_away(
    server: Server, events: Events
) -> None:
    async with open_store(server.url) as store:
        await store.renders.put(stored_render("r1"))
        server.kill()

        with anyio.fail_after(PATIENCE_S):
            async with anyio.create_task_group() as tasks:
                answers = start_reader(tasks, store)
                await events.wait_for("store.degraded")
                store.actions.drain()

    assert answers == [Awaited(status="draining", next=0)]


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1", "localhost:6379", "redis://host:port", "redis://host?db=x"]
)
async def test_url_without_a_server_is_refused(url: str) -> None:
    with pytest.raises(ConfigError) as caught:
        async with open_store(url):
            pass

    assert (caught.value.code, caught.value.exit_code) == ("W0002", 2)
    assert str(caught.value) == (
        "the store's URL cannot be used; "
        "one like redis://localhost:6379/0 or unix:///run/valkey.sock can"
    )


@pytest.mark.parametrize("scheme", ["redis", "valkey"])
async def test_password_is_never_logged(scheme: str, events: Events) -> None:
    async with open_store(f"{scheme}://ann:s3cret@127.0.0.1:1/0"):
        pass

    assert events.all[0]["server"] == f"{scheme}://127.0.0.1:1/0"
    assert "s3cret" not in repr(events.all)
